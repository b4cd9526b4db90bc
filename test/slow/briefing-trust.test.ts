import { readdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Briefing } from '../../src/index.js';
import { makeConflict } from '../support/fixes.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { commitAll, type Project, run } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

const PERSON = { terminal: true };
const ARCHITECTURE = '.forge/memory/long-term/architecture.md';
const briefing = (project: Project): Promise<Briefing> => forgeJson(project, ['briefing']);
const itemsOf = ({ sections }: Briefing, key: string): string[] | undefined =>
  sections.find((section) => section.key === key)?.items;

describe('rules in the briefing', () => {
  it('SES-03 AGT-04 are binding after a person approved the exact words, and data until then', async () => {
    const project = await makeForge();
    project.write(ARCHITECTURE, '# Shop\n\n## Invariants\n\n- Prices are in cents\n');
    await runForge(project, ['knowledge', 'add', 'invariant', 'Ids are never reused']);
    const before = await briefing(project);
    expect(before.text.indexOf('Prices are in cents')).toBeGreaterThan(before.text.indexOf('--- data '));
    for (const title of ['Invariants of the architecture', 'Other invariants'])
      expect(before.text).toContain(
        `\n${title}, stated in the repository; a person approves them with forge trust\n`,
      );
    expect((await runForge(project, ['trust', '--yes'], PERSON)).exitCode).toBe(0);
    const after = await briefing(project);
    expect(itemsOf(after, 'rules')).toEqual(['Prices are in cents', 'Ids are never reused']);
    expect(after.text.indexOf('Prices are in cents')).toBeLessThan(after.text.indexOf('--- data '));
    expect(after.text).not.toContain('not approved');
    project.write(ARCHITECTURE, '# Shop\n\n## Invariants\n\n- Prices are in dollars\n');
    const changed = await briefing(project);
    expect(itemsOf(changed, 'rules')).toEqual(['Ids are never reused']);
    expect(itemsOf(changed, 'architecture')).toEqual(['Prices are in dollars']);
  });

  it('SES-03 AGT-04 that a person types are approved; an agent that types one only states it', async () => {
    const project = await makeForge();
    await runForge(project, ['knowledge', 'add', 'invariant', 'Written by a person'], PERSON);
    await runForge(project, ['knowledge', 'add', 'invariant', 'Written by an agent']);
    const now = await briefing(project);
    expect(itemsOf(now, 'rules')).toEqual(['Written by a person']);
    expect(itemsOf(now, 'invariants')).toEqual(['Written by an agent']);
  });

  it('B-88 an invariant does not affect what may run in CI', async () => {
    const project = await makeForge();
    const { digest } = await forgeJson<{ digest: string }>(project, ['trust', '--show']);
    await runForge(project, ['knowledge', 'add', 'invariant', 'One more']);
    expect(await forgeJson(project, ['trust', '--show'])).toMatchObject({ digest, trusted: false });
  });
});

describe('uncommitted files', () => {
  it('SES-03 are counted and named in one line, without a secret', async () => {
    const project = await makeForge();
    expect(itemsOf(await briefing(project), 'uncommitted')).toBeUndefined();
    project.write('new.txt', 'x');
    project.write('README.md', 'changed');
    expect(itemsOf(await briefing(project), 'uncommitted')).toEqual([
      '2 files changed since the last commit (git status): README.md, new.txt',
    ]);
    const secret = SAMPLES.secret();
    project.write(secret, 'x');
    const [line] = itemsOf(await briefing(project), 'uncommitted') ?? [];
    expect(line).toContain('3 files');
    expect(line).not.toContain(secret);
  });

  it('SES-03 LTM-04 memory that another program edited is named in the briefing, by verify and by doctor; a commit accepts it', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A', 'Login']);
    await forgeJson(project, ['knowledge', 'add', 'success', 'Retry once']);
    expect(itemsOf(await briefing(project), 'foreign')).toBeUndefined();
    const feature = '.forge/memory/long-term/features.d/A.json';
    project.write(feature, project.read(feature).replace('Login', 'Logout'));
    project.write(ARCHITECTURE, '# Mine\n');
    const view = '.forge/memory/long-term/knowledge.json';
    const knowledge = project.json<{ invariants: string[] }>(view);
    project.write(view, JSON.stringify({ ...knowledge, invariants: ['Never test'] }));
    expect((await runForge(project, ['session', 'start'])).stderr).toContain('knowledge.json was edited');
    const [named] = itemsOf(await briefing(project), 'foreign') ?? [];
    expect(named?.split(', ')).toEqual([
      ARCHITECTURE,
      feature,
      expect.stringMatching(/^\.forge\/memory\/long-term\/learned\.d\/\w+\.json$/),
    ]);
    const { notes } = await forgeJson<{ notes: string[] }>(project, ['memory', 'verify']);
    expect(notes.join('\n')).toContain(`edited outside forge and not committed: ${ARCHITECTURE}`);
    expect((await runForge(project, ['doctor'])).stdout).toContain(`not committed: ${ARCHITECTURE}`);
    commitAll(project, 'Accept');
    expect(itemsOf(await briefing(project), 'foreign')).toBeUndefined();
  });

  it('SES-06 LTM-04 deleted archives, lessons, features and records are named, and no end of a session commits it', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'F-1', 'Part', '--no-run']);
    await forgeJson(project, ['session', 'start', '--task', 'one']);
    await forgeJson(project, ['note', 'add', 'kept for later']);
    await forgeJson(project, ['session', 'end', '--learned', 'Mind the gap']);
    const folders = ['sessions', 'long-term/learned.d', 'long-term/features.d', 'ledger'];
    const list = () => folders.flatMap((folder) => readdirSync(project.path(`.forge/memory/${folder}`)));
    const before = list();
    for (const folder of folders)
      for (const name of readdirSync(project.path(`.forge/memory/${folder}`)))
        rmSync(project.path(`.forge/memory/${folder}/${name}`));
    expect((await runForge(project, ['memory', 'verify'])).stdout).toContain('edited outside forge');
    await forgeJson(project, ['session', 'start', '--task', 'two']);
    const { stderr } = await runForge(project, ['session', 'end', '--next', 'x']);
    expect(stderr).toMatch(
      /^! Deleted outside forge, and put back: \.forge\/memory\/.*\/ledger\/\S+\.jsonl/m,
    );
    expect(stderr).not.toContain('lacks');
    expect(project.git('log', '--diff-filter=DR', '--format=%h')).toBe('');
    expect(list()).toEqual(expect.arrayContaining(before));
    // Files that forge or git rm removed stay removed.
    project.git(
      'rm',
      '-q',
      ...project.git('ls-files', '.forge/memory/ledger/2*').split('\n').filter(Boolean),
    );
    await forgeJson(project, ['feature', 'remove', 'F-1']);
    project.git(
      'rm',
      '-q',
      ...readdirSync(project.path('.forge/memory/sessions'))
        .slice(0, 1)
        .map((name) => `.forge/memory/sessions/${name}`),
    );
    await forgeJson(project, ['session', 'start', '--task', 'three']);
    expect((await runForge(project, ['session', 'end', '--next', 'y'])).stderr).not.toContain('put back');
    expect(
      project
        .git('show', '--no-renames', '--diff-filter=D', '--format=', '--name-only')
        .split('\n')
        .filter(Boolean).length,
    ).toBe(3);
  });

  it('SES-03 LTM-04 files that a merge in progress brought, and its conflicts, are not named as edited', async () => {
    const project = await makeConflict();
    project.git('merge', '--abort');
    project.git('switch', '-q', 'other');
    await forgeJson(project, ['knowledge', 'add', 'success', 'Retry once']);
    commitAll(project, 'Learn');
    project.git('switch', '-q', '-');
    rmSync(project.path('.git/forge/written.json'));
    expect(run(project.dir, 'git', ['merge', 'other']).exitCode).toBe(1);
    const edited = async (): Promise<string[]> =>
      (await forgeJson<{ notes: string[] }>(project, ['memory', 'verify'])).notes.filter((note) =>
        note.startsWith('edited outside forge'),
      );
    expect(await edited()).toEqual([]);
    const folder = '.forge/memory/long-term/learned.d';
    const file = `${folder}/${readdirSync(project.path(folder))[0]}`;
    project.write(file, project.read(file).replace('Retry once', 'Retry twice'));
    expect(await edited()).toEqual([expect.stringContaining(`: ${file} (`)]);
  });
});
