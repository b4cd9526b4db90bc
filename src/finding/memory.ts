import { relative, resolve } from 'node:path';
import { countTokens, oneLine } from '../core/text.js';
import { isPipeline } from '../session/rules.js';
import { factOf } from './facts.js';
import {
  answers,
  inputOf,
  kindOf,
  type Question,
  queryOf,
  readQuestion,
  type ToolInput,
} from './question.js';

/** ADR-0003: something learned from one tool call. */
export interface Finding {
  tool: string;
  query: string;
  /** The result in one line. */
  fact: string;
  /** The number of the call, from 1. */
  step: number;
  success: boolean;
  /** From the project's folder, if one file was read. */
  filePath?: string;
}

/** A tool call with its result. */
export interface Step {
  tool: string;
  input: ToolInput;
  output: string;
  success?: boolean;
  exit?: number | null;
  /** Its working folder. Absent if unknown. */
  cwd?: string;
}

export interface MemorySummary {
  count: number;
  formattedText: string;
}

/** The finding of a step in the project at `root`. */
export function findingOf(step: Step, number: number, root: string): Finding & { question: Question } {
  const { tool, input, output, exit = null, success = exit === null || exit === 0 } = step;
  const asked = readQuestion(tool, input, step.cwd ?? root);
  // A shell may be in any folder, so a search in it is never known. Reads are compared.
  const isElsewhere = step.cwd === undefined && kindOf(tool) === 'shell' && asked.kind !== 'read';
  const question: Question = isElsewhere ? { kind: 'other' } : asked;
  const query = queryOf(input);
  return {
    tool,
    query: oneLine(query, 300),
    fact: oneLine(factOf(tool, asked, output, isPipeline(query) ? null : exit), 600),
    step: number,
    success,
    ...(question.kind === 'read' ? { filePath: relative(root, question.path) } : {}),
    question,
  };
}

/**
 * ADR-0003's execution memory, in one process: findings, and whether something is already known. It reads no
 * files, so it cannot detect that a file changed. `forge finding has` can.
 */
export class ExecutionMemory {
  private findings: (Finding & { question: Question })[] = [];

  /** Paths are relative to `cwd`; by default the folder of the process. */
  constructor(private readonly cwd = '.') {}

  addFinding(finding: Omit<Finding, 'step'> & { step?: number }): void {
    const question = this.ask(finding.tool, finding.query);
    this.findings.push({ step: this.findings.length + 1, ...finding, question });
  }

  /** Adds a tool call and returns its finding. `input` is the tool's input, or only the query. */
  extractFromStep({ input: given, ...step }: Omit<Step, 'input'> & { input: ToolInput | string }): Finding {
    const cwd = resolve(this.cwd);
    const input = typeof given === 'string' ? inputOf(step.tool, given) : given;
    const { question, ...finding } = findingOf({ cwd, ...step, input }, this.findings.length + 1, cwd);
    this.findings.push({ ...finding, question });
    return finding;
  }

  /** True if a successful call has answered this question, in any spelling. */
  hasFindingFor(tool: string, query: string): boolean {
    const asked = this.ask(tool, query);
    return this.findings.some(({ success, question: known, ...other }) => {
      const isSame = other.tool.toLowerCase() === tool.toLowerCase() && other.query === query;
      return success && (isSame || answers(known, asked, true));
    });
  }

  private ask = (tool: string, query: string): Question =>
    readQuestion(tool, inputOf(tool, query), resolve(this.cwd));

  getSummary(): MemorySummary {
    return summarize(this.findings);
  }

  clear(): void {
    this.findings = [];
  }
}

const GROUPS = { read: 'Files Already Read', search: 'Previous Search Results', other: 'Other Findings' };

/** EXM-04: ADR-0003's three groups. The last answer to a question counts. Over budget (tokens) the oldest go. */
export function summarize(
  findings: readonly (Finding & { question: Question })[],
  budget = Number.POSITIVE_INFINITY,
): MemorySummary & { left: number } {
  const last = new Map<string, { group: string; line: string; question: Question }>();
  for (const { tool, query, fact, filePath, question, success } of findings) {
    if (!success && question.kind !== 'other') continue;
    const group = question.kind === 'list' ? GROUPS.other : GROUPS[question.kind];
    const name = filePath ?? (question.kind === 'search' ? query : `${tool} (${query})`);
    const before = last.get(group + name);
    const isPart =
      before && answers(before.question, question, true) && !answers(question, before.question, true);
    const entry = { group, line: `- ${oneLine(name, 200)}: ${oneLine(fact, 400)}`, question };
    last.delete(group + name);
    // A part of a file tells less than the whole.
    last.set(group + name, isPart && question.kind === 'read' ? before : entry);
  }
  const all = [...last.values()];
  const kept: typeof all = [];
  // The headings take a few.
  let used = 20;
  for (const entry of all.reverse()) {
    used += countTokens(entry.line) + 1;
    if (used > budget) break;
    kept.push(entry);
  }
  const parts = Object.values(GROUPS).flatMap((group) => {
    const lines = kept.filter((entry) => entry.group === group).map(({ line }) => line);
    return lines.length === 0 ? [] : [`**${group}:**\n${lines.reverse().join('\n')}`];
  });
  return { count: kept.length, formattedText: parts.join('\n\n'), left: all.length - kept.length };
}
