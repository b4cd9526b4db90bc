import { expect } from 'vitest';
import { putParts } from '../../src/agent/edit-text.js';
import type { Part } from '../../src/agent/parts.js';
import { json } from './wirings.js';

export const PARTS = [json('claude', ['Start', 'Stop'], { server: true })];

export const refusal = (text: string, parts: readonly Part[] = PARTS): [string, number | null] => {
  try {
    putParts(text, parts);
  } catch (error) {
    const { message, offset, name } = error as Error & { offset: number | null };
    expect(name).toBe('Error');
    return [message, offset === null ? null : text.slice(0, offset).split('\n').length];
  }
  throw new Error(`It was to be refused: ${text}`);
};
