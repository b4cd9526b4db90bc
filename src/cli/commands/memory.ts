import type { Group } from '../spec.js';
import { keeping } from './memory-keep.js';
import { looking } from './memory-look.js';
import { recording } from './memory-record.js';
import { redacting } from './memory-redact.js';
import { settling } from './memory-settle.js';

export const group: Group = { commands: [...recording, ...looking, ...keeping, ...settling, ...redacting] };
