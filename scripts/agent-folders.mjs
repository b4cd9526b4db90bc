// The folders in agents/ that an agent takes as a plugin or an extension: path → content of each file, for scripts/docs.mjs.
// What a folder needs beside them (a README.md) is written by hand and left alone.
import { readFileSync } from 'node:fs';
import { CLAUDE, MARKETPLACE } from './agent-claude.mjs';
import { GEMINI } from './agent-gemini.mjs';

const PACKAGE = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** One entry a folder; another agent's is one more. */
const ENTRIES = [CLAUDE, MARKETPLACE, GEMINI];

/** `sources`: what scripts/docs.mjs has loaded of src/. */
export function agentFolders(sources) {
  return ENTRIES.flatMap(({ folder, files }) =>
    Object.entries(files(sources, PACKAGE)).map(([path, content]) => [`${folder}/${path}`, content]),
  );
}
