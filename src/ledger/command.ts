import type { Group } from '../cli/spec.js';
import { overriding } from '../learning/command-override.js';
import { promoting } from '../learning/command-promote.js';
import { recording } from '../learning/command-record.js';
import { reporting } from '../learning/command-report.js';
import { keeping } from './command-keep.js';
import { looking } from './command-look.js';
import { redacting } from './command-redact.js';
import { sealing } from './command-seal.js';
import { settling } from './command-settle.js';

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
