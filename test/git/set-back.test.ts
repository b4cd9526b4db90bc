import { expect, it } from 'vitest';
import { gitIn } from '../../src/git/client.js';
import { findSetBack } from '../../src/git/set-back.js';
import { makeFolder, projectAt } from '../support/project.js';

const FOLDER = '.forge/memory/notes.d';

it('LTM-05 of more files than a command line can name, those that git set back are found', async () => {
  const project = projectAt(makeFolder());
  project.git('init', '-q');
  const old = `${FOLDER}/old.jsonl`;
  project.write(old, 'one\n');
  project.git('add', '-A');
  project.git('commit', '-qm', 'one');
  const [commit, found] = project.git('rev-parse', 'HEAD', `HEAD:${old}`).trim().split('\n') as [
    string,
    string,
  ];
  project.write(old, 'two\n');
  project.git('commit', '-qam', 'two');
  const gone = Array.from({ length: 30_000 }, (_, i) => `${FOLDER}/${'x'.repeat(80)}${i}.jsonl`);
  const files = [old, ...gone].map((path) => ({ path, oid: '', state: 'edited' as const, found }));
  for (const midway of [false, true])
    expect(await findSetBack(gitIn(project.dir, process.env), files, midway)).toEqual([
      { path: old, commit },
    ]);
});
