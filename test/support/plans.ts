import { expect } from 'vitest';
import { dropParts, putParts } from '../../src/agent/edit-text.js';
import type { Part } from '../../src/agent/parts.js';
import { json } from './wirings.js';

export const install = (text: string | null, parts: readonly Part[]): string => putParts(text, parts);

export const uninstall = (text: string | null, parts: readonly Part[]): string | null =>
  dropParts(text, parts);

export const PARTS = [json('claude', ['Start', 'Stop'], { server: true })];

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
