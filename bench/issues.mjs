// Figures of skills and of issues: a match among 500 skills, and a sync of 1,000 issues beside the requests alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { wallTimes } from './measure.mjs';
import { forge, makeSmall } from './repositories.mjs';

const SKILLS = 500;
const PAGES = 20;

export const ISSUE_FIGURES = [
  { name: 'skill match, 500 skills', where: 'none', unit: 'ms', limit: 110, measure: measureMatch },
  { name: 'linear sync, 1,000 issues', where: 'none', unit: 'ms', measure: measureSync },
];

function makePlace(scratch, env, name) {
  const folder = join(scratch, name);
  mkdirSync(folder);
  return makeSmall(folder, env);
}

function measureMatch(_figure, { env }, scratch) {
  const place = makePlace(scratch, env, 'skills');
  for (let i = 0; i < SKILLS; i++) {
    const folder = join(place.cwd, '.forge', 'skills', `skill-${i}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, 'skill.toml'),
      `schema_version = 1\n\n[skill]\nname = "skill-${i}"\ndescription = "What to do about subject ${i}."\nversion = "1.0.0"\n\n[triggers]\nkeywords = ["subject${i}", "area${i % 20}"]\nfile_patterns = ["src/area-${i}/**"]\n\n[resources]\ninstructions = "instructions.md"\n`,
    );
    writeFileSync(join(folder, 'instructions.md'), `# Subject ${i}\n\nDo it.\n`);
  }
  const [time] = wallTimes([forge('skill', 'match', 'area7 of subject7')], place);
  return time;
}

/** The limit is twice what the same requests take in a Node that does nothing else. */
async function measureSync(_figure, { env }, scratch) {
  const small = makePlace(scratch, env, 'issues');
  const server = spawn(process.execPath, [fileURLToPath(new URL('linear-server.mjs', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = await once(server.stdout, 'data');
    const url = line.toString().trim();
    const place = { ...small, env: { ...env, LINEAR_API_KEY: 'lin_api_bench', LINEAR_API_URL: url } };
    const bare = `(async () => { for (let i = 0; i < ${PAGES}; i++) await (await fetch(${JSON.stringify(url)},
      { method: 'POST', body: JSON.stringify({ variables: { after: String(i * 50) } }) })).json(); })()`;
    const [time, requests] = wallTimes([forge('linear', 'sync'), [process.execPath, '-e', bare]], place);
    return { ...time, limit: 2 * requests.median };
  } finally {
    server.kill();
  }
}
