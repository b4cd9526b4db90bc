import { describe, expect, it } from 'vitest';
import { commandOf, withEverything } from '../support/commands.js';
import { runForge } from '../support/forge.js';
import { differences, snapshot } from '../support/forge-project.js';

describe('global flags', () => {
  it('B-01 every command that writes accepts --dry-run, and then writes nothing', async () => {
    const { project, calls } = await withEverything();
    project.write('.forge/README.md', 'changed\n');
    const before = [snapshot(project.dir), snapshot(process.env.HOME as string)];
    for (const call of calls) {
      const spec = (await commandOf(call))?.spec;
      const { exitCode, stderr } = await runForge(project, [...call, '-n'], { stdin: '- c\n' });
      if (call.join(' ') === 'feature add --no-run B b --test true') continue;
      expect([call, exitCode]).toEqual([call, spec?.writes ? 0 : 2]);
      if (spec?.writes && call[0] !== 'trust')
        expect([call, stderr]).toEqual([call, expect.stringMatching(/nothing was written/)]);
    }
    expect(differences(before[0] as never, snapshot(project.dir))).toEqual([]);
    expect(differences(before[1] as never, snapshot(process.env.HOME as string))).toEqual([]);
  });

  it('B-01 a command without --dry-run writes nothing', async () => {
    const { project, calls } = await withEverything();
    const before = snapshot(project.dir);
    for (const call of calls) if (!(await commandOf(call))?.spec.writes) await runForge(project, call);
    // A query brings the search index up to date.
    const isIndex = (line: string): boolean => /\.forge\/local\/recall\.db|\.git\/forge\/recall\b/.test(line);
    expect(differences(before, snapshot(project.dir)).filter((line) => !isIndex(line))).toEqual([]);
  });
});
