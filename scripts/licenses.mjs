// The licenses of the bundled packages. Most require that their text goes with the code.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The packages whose files esbuild put into a bundle (its metafile), as folders below `root`. */
function bundledPackages(metafiles) {
  const inputs = metafiles.flatMap(({ inputs }) => Object.keys(inputs));
  const folders = inputs.map((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  return [...new Set(folders.filter((folder) => folder !== undefined))].sort();
}

function licenseText(folder) {
  const names = readdirSync(folder).filter((name) => /^licen[cs]e/i.test(name));
  return names.map((name) => readFileSync(join(folder, name), 'utf8').trim()).join('\n\n');
}

/** One text with the name, version and license of each bundled package. Throws if a package has no license text. */
export function collectLicenses(root, metafiles) {
  const parts = bundledPackages(metafiles).map((path) => {
    const folder = join(root, path);
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const text = licenseText(folder);
    if (text === '') throw new Error(`${name} has no file with its license.`);
    return `${name} ${version} (${license ?? 'see below'})\n\n${text}`;
  });
  const rule = `\n\n${'-'.repeat(80)}\n\n`;
  return `${['The packages that are bundled into these files, and their licenses.', ...parts].join(rule)}\n`;
}
