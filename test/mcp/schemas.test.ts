import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { describe, expect, it } from 'vitest';
import { makePlainProject } from '../support/project.js';
import { greeted } from '../support/servers.js';

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

/** Every bullet of AGN-024 §6 and §7, and the words without which it is not said. */
const BULLETS: Record<string, RegExp[]> = {
  '§7 schema description': [
    /Update the session's Working Memory and Known Facts Registry \(KFR\) using patch-based operations/,
  ],
  '§7 when to use it': [
    /when authoritative working state changes/,
    /kept explicit for correctness in the next few turns/,
  ],
  '§7 what it is not': [/short-term working memory only/, /no durable memory notes or checkpoints/],
  'purpose: small, authoritative, correct for the next few turns': [/authoritative/, /next few turns/],
  'call: only when working state changes': [/Call only when working state changes/],
  'call: a goal or plan is established or revised': [/goal or plan is established or revised/],
  'call: an Active Contract becomes relevant': [/Active Contract becomes relevant/],
  'call: a constraint or invariant is identified': [/constraint or invariant is identified/],
  'call: an open question is raised or resolved': [/open question is raised or resolved/],
  'call: content is no longer operationally required': [/no longer operationally required/],
  'call: the user signals importance': [
    /user signals importance/,
    /"this is important"/,
    /"this is critical"/,
    /"this is a key insight"/,
    /or similar/,
  ],
  'call: not if nothing changed': [/Do not call if nothing changed/],
  'contract: what it is': [/binding rule, schema, interface, identifier or process rule/, /followed exactly/],
  'contract: a tool call would fail': [/fail a tool call/],
  'contract: a schema or format': [/break a required schema or format/],
  'contract: a locked decision': [/locked decision or invariant/],
  'contract: a consumer': [/incompatibility with a consuming system, process or policy/],
  'contract: none without near-term incorrectness': [/no near-term incorrectness, it is none/],
  'belongs: only for the next few turns': [/Belongs only if required for correctness in the next few turns/],
  'belongs: the five kinds': [/Goal, Plan, ActiveContract, Constraint \(invariants too\), OpenQuestion/],
  'never: rationale': [/rationale or reasoning history/],
  'never: rejected alternatives': [/rejected alternatives/],
  'never: examples or narrative': [/examples or narrative/],
  'never: history': [/historical context no longer active/],
  'discipline: patches only': [/using patch-based operations/],
  'discipline: the plan entirely': [/Replace the plan entirely when it materially changes/],
  'discipline: no duplicates': [/Do not duplicate entries/],
  'discipline: short': [/short, precise, operational/],
  'eviction: current state only': [/Keep the KFR to current state/],
  'eviction: remove what is not required': [/remove what is no longer required/],
  'notes: may be in both': [/may be in the KFR and in Memory Notes/],
  'notes: the KFR copy governs': [/the KFR copy governs/],
  'notes: the note is for recall': [/the note is for recall/],
  'conflict: only the injected KFR': [/Only the injected KFR is authoritative/],
  'conflict: ignore what is not in it': [/ignore prior content not in it/],
  'conflict: if unsure, omit': [/If unsure whether an item qualifies, omit it/],
};

describe('session_working_memory_update', () => {
  it('KFR-03 has a description with every bullet of AGN-024 §6 and §7', async () => {
    const [tool] = await list();
    expect(tool?.name).toBe('session_working_memory_update');
    const missing = Object.entries(BULLETS).filter(([, words]) =>
      words.some((word) => !word.test(tool?.description ?? '')),
    );
    expect(missing.map(([bullet]) => bullet)).toEqual([]);
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

describe('the tools', () => {
  it('AGT-02 take less than 1,500 tokens of a prompt together', async () => {
    const text = JSON.stringify(await list());
    expect(new Tiktoken(o200k).encode(text).length).toBeLessThan(1500);
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
