import type { Group } from '../spec.js';
import { keeping } from './memory-keep.js';
import { looking } from './memory-look.js';
import { recording } from './memory-record.js';
import { sealing } from './memory-seal.js';
import { settling } from './memory-settle.js';

export const group: Group = { commands: [...recording, ...looking, ...keeping, ...sealing, ...settling] };
