import { expect } from 'vitest';
import type { Part } from '../../src/agent/edit-fixture.js';
import type { FileRecord } from '../../src/agent/manifest.js';
import { type FilePlan, planFile } from '../../src/agent/wiring-plan.js';
import { item, member } from './wirings.js';

export const install = (
  text: string | null,
  parts: readonly Part[],
  record: FileRecord | null = null,
): FilePlan => planFile({ text, record, wanted: parts, put: parts, drop: [], folders: [] });

export const uninstall = (
  text: string | null,
  parts: readonly Part[],
  record: FileRecord | null = null,
): FilePlan => planFile({ text, record, wanted: [], put: [], drop: parts, folders: [] });

export const PARTS = [item('claude', 'Start'), item('claude', 'Stop'), member('claude')];

export const refusal = (text: string, parts: readonly Part[] = PARTS): [string, number | null] => {
  try {
    install(text, parts);
  } catch (error) {
    const { message, offset, name } = error as Error & { offset: number | null };
    expect(name).toBe('Error');
    return [message, offset === null ? null : text.slice(0, offset).split('\n').length];
  }
  throw new Error(`It was to be refused: ${text}`);
};
