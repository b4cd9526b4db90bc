import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { describe, expect, it } from 'vitest';
import { makeStarted, PROGRESS } from '../support/forge-project.js';
import { makePlainProject } from '../support/project.js';
import { connect, greeted } from '../support/servers.js';

interface Tool {
  name: string;
  description: string;
  inputSchema: { type: string; properties: Record<string, unknown>; required?: string[] };
}

let tools: Promise<Tool[]> | undefined;

/** What a server lists: one is asked for all tests. */
const list = (): Promise<Tool[]> => {
  tools ??= greeted(makePlainProject())
    .then((server) => server.ask(1, 'tools/list'))
    .then(({ result }) => (result as unknown as { tools: Tool[] }).tools);
  return tools;
};

/** Every bullet of AGN-024 §6 and §7, in the words without which it is not said. */
const BULLETS = [
  "Update the session's Working Memory and Known Facts Registry (KFR) using patch-based operations",
  ...['when authoritative working state changes', 'kept explicit for correctness in the next few turns'],
  ...['short-term working memory only', 'no durable memory notes or checkpoints'],
  // When to call it.
  ...['Call only when working state changes', 'goal or plan is established or revised'],
  ...['an Active Contract becomes relevant', 'a constraint or invariant is identified'],
  ...['an open question is raised or resolved', 'no longer operationally required'],
  ...['user signals importance', '"this is important"', '"this is critical"', '"this is a key insight"'],
  ...['or similar', 'Do not call if nothing changed'],
  // What an Active Contract is.
  ...['binding rule, schema, interface, identifier or process rule', 'followed exactly', 'fail a tool call'],
  ...['break a required schema or format', 'locked decision or invariant'],
  ...['incompatibility with a consuming system, process or policy', 'no near-term incorrectness, it is none'],
  // What belongs in it, and what never does.
  'Belongs only if required for correctness in the next few turns',
  'Goal, Plan, ActiveContract, Constraint (invariants too), OpenQuestion',
  ...['rationale or reasoning history', 'rejected alternatives', 'examples or narrative'],
  'historical context no longer active',
  // Discipline, and Memory Notes.
  ...['Replace the plan entirely when it materially changes', 'Do not duplicate entries'],
  ...['short, precise, operational', 'Keep the KFR to current state', 'remove what is no longer required'],
  ...['may be in the KFR and in Memory Notes', 'the KFR copy governs', 'the note is for recall'],
  ...['Only the injected KFR is authoritative', 'ignore prior content not in it'],
  'If unsure whether an item qualifies, omit it',
];

describe('session_working_memory_update', () => {
  it('KFR-03 has a description with every bullet of AGN-024 §6 and §7', async () => {
    const [tool] = await list();
    expect(tool?.name).toBe('session_working_memory_update');
    expect(BULLETS.filter((words) => !tool?.description.includes(words))).toEqual([]);
  });

  it('KFR-03 accepts a list of six operations on five kinds', async () => {
    const [tool] = await list();
    expect(tool?.inputSchema).toMatchObject({ type: 'object', required: ['operations'] });
    const { items } = (tool as Tool).inputSchema.properties.operations as {
      items: { properties: { op: { enum: string[] }; kind: { enum: string[] } }; required: string[] };
    };
    expect([...items.properties.op.enum].sort()).toEqual(
      'add dismiss park remove replace resolve'.split(' '),
    );
    expect([...items.properties.kind.enum].sort()).toEqual(
      'ActiveContract Constraint Goal OpenQuestion Plan'.split(' '),
    );
    expect(items.required).toEqual(['op']);
  });
});

describe('progress_add', () => {
  it('AGT-02 logs nothing when the next step is refused, so that the second call logs it once', async () => {
    const project = await makeStarted();
    const { call } = await connect(project);
    const text = 'wired the form';
    expect((await call('progress_add', { text, next: '' })).content[0]?.text).toMatch(
      /^text\.empty: The NEXT/,
    );
    await call('progress_add', { text, next: 'the cookie' });
    expect(project.read(PROGRESS).split(text).length).toBe(2);
  });
});

describe('the tools', () => {
  it('AGT-02 take less than 1,500 tokens of a prompt together', async () => {
    const text = JSON.stringify(await list());
    expect(new Tiktoken(o200k).encode(text).length).toBeLessThan(1500);
  });

  it('LTM-06 say what a cycle needs to count as evidence', async () => {
    const record = (await list()).find(({ name }) => name === 'memory_record');
    expect(record?.description).toContain('environment_valid');
  });

  it('AGT-02 have descriptions, object schemas and a stable order', async () => {
    const tools = await list();
    for (const { description, inputSchema } of tools) {
      expect(description).not.toBe('');
      expect(inputSchema.type).toBe('object');
      expect(inputSchema).not.toHaveProperty('$schema');
    }
    expect(await list()).toEqual(tools);
  });
});
