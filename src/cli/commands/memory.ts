import type { Group } from '../spec.js';
import { keeping } from './memory-keep.js';
import { looking } from './memory-look.js';
import { overriding } from './memory-override.js';
import { promoting } from './memory-promote.js';
import { recording } from './memory-record.js';
import { redacting } from './memory-redact.js';
import { reporting } from './memory-report.js';
import { sealing } from './memory-seal.js';
import { settling } from './memory-settle.js';

export const group: Group = {
  commands: [
    ...recording,
    ...promoting,
    ...reporting,
    ...looking,
    ...keeping,
    ...sealing,
    ...settling,
    ...redacting,
    ...overriding,
  ],
};
