import { describe, expect, it } from 'vitest';
import { changedPaths } from '../support/project.js';
import {
  type Ended,
  expectSessionCommit,
  makeForgeRepository,
  typedJson,
  workAndEnd,
} from '../support/typed.js';

const BRANCHES = [
  ...['$(touch>pwned)', '--help', ';touch$IFS/pwned;', '`touch>pwned`', 'it\'s-"quoted"|&', 'ünïcode/🌱'],
  'b'.repeat(200),
];

describe('unusual names', () => {
  it('B-42 SES-06 works on branches with any name that git accepts', () => {
    const project = makeForgeRepository();
    workAndEnd(project);
    for (const branch of BRANCHES) {
      project.git('update-ref', `refs/heads/${branch}`, 'HEAD');
      project.git('symbolic-ref', 'HEAD', `refs/heads/${branch}`);

      const started = typedJson<{ session: { branch: string } }>(project, ['session', 'start']);
      expect(started.session.branch).toBe(branch);
      const log = project.read('.forge/memory/short-term/progress.txt');
      expect(log).toContain(`Started - branch: ${branch}\n`);
      const learned = ['--learned', `on branch ${project.git('rev-list', '--count', 'HEAD')}`];
      expectSessionCommit(project, typedJson<Ended>(project, ['session', 'end', ...learned]));

      expect(project.git('rev-parse', `refs/heads/${branch}`)).toBe(project.git('rev-parse', 'HEAD'));
    }
    expect(changedPaths(project)).toEqual([]);
  });

  const NAMES = [
    ...['new\nline', 'esc\u001b]0;title\u0007', ' lead', 'tab\there', '"quoted"', 'back\\slash', '-rf'],
    ...['$(touch pwned)', 'ünï', '*', ':(top)x'],
  ];

  it('B-42 SES-06 LAY-07 commits files of .forge/skills with any name, byte for byte, and none of scratch/', () => {
    const project = makeForgeRepository();
    const draft = (name: string) => `.forge/memory/short-term/scratch/${name}`;
    for (const name of NAMES) {
      project.write(`.forge/skills/odd/${name}/${name}.md`, `of ${JSON.stringify(name)}\n`);
      project.write(draft(name), 'draft\n');
    }

    expectSessionCommit(project, workAndEnd(project));

    for (const name of NAMES) {
      const stored = project.git('cat-file', 'blob', `HEAD:.forge/skills/odd/${name}/${name}.md`);
      expect(stored).toBe(`of ${JSON.stringify(name)}`);
      expect(project.has(draft(name))).toBe(true);
    }
    expect(project.git('ls-files', '.forge/memory/short-term')).toBe('');
    expect(changedPaths(project)).toEqual([]);
    expect(project.has('pwned')).toBe(false);
  });
});
