import { expect } from 'vitest';
import { applyPatch, type Operation, type Patched } from '../../src/kfr/patch.js';
import { type Kfr, NO_KFR } from '../../src/kfr/rules.js';

export const NOW = '2026-03-01T10:00:00.000Z';
export const LIMITS = { characters: 280, tokens: 800 };
export const EMPTY: Kfr = { ...NO_KFR, session: 's' };

export const patch = (kfr: Kfr, ...operations: unknown[]): Patched =>
  applyPatch(kfr, operations as Operation[], LIMITS, NOW);

/** A KFR after operations that must all be taken. */
export function made(...operations: Operation[]): Kfr {
  const { kfr, refusals } = patch(EMPTY, ...operations);
  expect(refusals).toEqual([]);
  return kfr;
}

export const add = (kind: string, text: string, more: object = {}): Operation => ({
  op: 'add',
  kind,
  text,
  ...more,
});
