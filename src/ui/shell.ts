import { createHash } from 'node:crypto';
import { pageFile } from '../core/templates.js';

/** For the served page: nothing inline, nothing from elsewhere (B-97). */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%233d5a98'/%3E%3Cpath d='M5 4h7v2H7v2h4v2H7v3H5z' fill='white'/%3E%3C/svg%3E";

const page = (title: string, head: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="${ICON}">
${head}
<title>${escapeHtml(title)}</title>
</head>
<body>
${body}
</body>
</html>
`;

const ROOT = '<div id="page"><noscript>This page needs JavaScript.</noscript></div>';
const FILES = '<link rel="stylesheet" href="/page.css">\n<script src="/page.js" defer></script>';

export const servedPage = (): string => page('forge', FILES, ROOT);

/**
 * Leads on to the page after its cookie is set. A redirect would still count as one from the site that had the link, and
 * the browser would keep the cookie back.
 */
export const enteringPage = (): string =>
  page(
    'forge',
    '<meta http-equiv="refresh" content="0; url=/">',
    '<main><a href="/">Open the page</a></main>',
  );

export const plainPage = (title: string, text: string): string =>
  page(title, '', `<main><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p></main>`);

/** JSON that cannot end its script element. */
const embed = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const digest = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Its policy allows exactly this script and this style, and no connection. `data`: answers of the API by their addresses. */
export function exportedPage(title: string, data: unknown): string {
  const [script, style] = [pageFile('page.js'), pageFile('page.css')];
  const policy = `default-src 'none'; script-src ${digest(script)}; style-src ${digest(style)}; img-src data:; base-uri 'none'; form-action 'none'`;
  const head = `<meta http-equiv="Content-Security-Policy" content="${policy}">\n<style>${style}</style>`;
  const json = `<script type="application/json" id="data">${embed(data)}</script>`;
  return page(title, head, `${ROOT}\n${json}\n<script>${script}</script>`);
}
