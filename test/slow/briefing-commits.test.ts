import { describe, expect, it } from 'vitest';
import { forgeJson } from '../support/forge.js';
import { makeRepository, type Project } from '../support/project.js';

async function ready(): Promise<Project> {
  const project = makeRepository();
  await forgeJson(project, ['init', '--yes']);
  for (const subject of ['one', 'two', 'three']) project.git('commit', '-q', '--allow-empty', '-m', subject);
  return project;
}

interface Briefing {
  sections: { key: string; items: string[] }[];
}

/** What the briefing says of commits, without their times; a session start remembers them, the other only reads. */
async function subjects(project: Project): Promise<string[]> {
  const { briefing } = await forgeJson<{ briefing: Briefing }>(project, ['session', 'start']);
  const itemsOf = ({ sections }: Briefing): string[] =>
    sections.find(({ key }) => key === 'commits')?.items ?? [];
  const items = itemsOf(briefing);
  expect(itemsOf(await forgeJson<Briefing>(project, ['briefing']))).toEqual(items);
  return items.map((item) => /(one|two|three|four|other)/.exec(item)?.[1] ?? item);
}

describe('the last commits of the briefing', () => {
  it('SES-03 are those of HEAD, even after it moved', async () => {
    const project = await ready();
    const first = await subjects(project);
    expect(first.slice(0, 3)).toEqual(['three', 'two', 'one']);
    expect(await subjects(project)).toEqual(first);
    project.git('commit', '-q', '--allow-empty', '--amend', '-m', 'other');
    expect((await subjects(project)).slice(0, 3)).toEqual(['other', 'two', 'one']);
    project.git('reset', '-q', '--hard', 'HEAD~1');
    expect((await subjects(project)).slice(0, 2)).toEqual(['two', 'one']);
    project.git('pack-refs', '--all');
    project.git('commit', '-q', '--allow-empty', '-m', 'four');
    expect((await subjects(project)).slice(0, 2)).toEqual(['four', 'two']);
    project.git('pack-refs', '--all');
    expect((await subjects(project)).slice(0, 2)).toEqual(['four', 'two']);
    project.git('checkout', '-q', '--detach', 'HEAD~1');
    expect((await subjects(project)).slice(0, 2)).toEqual(['two', 'one']);
    project.git('checkout', '-q', '--orphan', 'fresh');
    expect(await subjects(project)).toEqual([]);
  });

  it('SES-03 are what git reports when history changes under the same commit', async () => {
    const project = await ready();
    await subjects(project);
    project.git('replace', '--graft', 'HEAD');
    expect(await subjects(project)).toEqual(['three']);
    project.git('pack-refs', '--all');
    expect(await subjects(project)).toEqual(['three']);
  });
});
