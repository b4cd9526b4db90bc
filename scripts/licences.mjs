// The licences of what is bundled: they ask for their text to go where the code goes.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The packages whose files esbuild put into a bundle (its metafile), as folders below `root`. */
function bundledPackages(metafiles) {
  const inputs = metafiles.flatMap(({ inputs }) => Object.keys(inputs));
  const folders = inputs.map((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  return [...new Set(folders.filter((folder) => folder !== undefined))].sort();
}

function licenceText(folder) {
  const names = readdirSync(folder).filter((name) => /^licen[cs]e/i.test(name));
  return names.map((name) => readFileSync(join(folder, name), 'utf8').trim()).join('\n\n');
}

/** One text with every bundled package's name, version and licence; throws when one comes without its text. */
export function collectLicences(root, metafiles) {
  const parts = bundledPackages(metafiles).map((path) => {
    const folder = join(root, path);
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const text = licenceText(folder);
    if (text === '') throw new Error(`${name} has no file with its licence.`);
    return `${name} ${version} (${license ?? 'see below'})\n\n${text}`;
  });
  const rule = `\n\n${'-'.repeat(80)}\n\n`;
  return `${['What is bundled into these files, and under which licences.', ...parts].join(rule)}\n`;
}
