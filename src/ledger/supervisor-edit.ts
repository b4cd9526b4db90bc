import { ForgeError, usage } from '../core/error.js';
import { configFile, shown } from '../core/paths.js';
import { decodeUtf8 } from '../core/schema.js';
import { addTomlItem, removeTomlItem } from '../core/toml.js';
import { decodeConfig } from '../project/config.js';
import { type Context, readConfig, timestamp } from '../project/project.js';
import { type PinnedKey, pinKeys } from './rules/supervisor.js';
import { knownKeys, pin, supervisorKeys } from './supervisor-keys.js';

/**
 * Puts it into `[supervisor] keys`, or takes it out; comments and everything else stay. What `say` writes down comes
 * first, as with every decision: one that was cut off is known, and done by saying it again.
 */
export function editKeys<T>(context: Context, public_key: string, wanted: boolean, say: () => T): T {
  const { disk, layout } = context;
  const path = configFile(layout);
  return disk.withLock(() => {
    const bytes = disk.read(path);
    const after =
      readConfig(context).supervisor.keys.includes(public_key) === wanted
        ? null
        : edited(bytes as Buffer, shown(layout, path), public_key, wanted);
    const said = say();
    if (bytes && after) disk.replace(path, after, bytes);
    return said;
  });
}

function edited(bytes: Buffer, file: string, public_key: string, wanted: boolean): Buffer {
  const edit = wanted ? addTomlItem : removeTomlItem;
  const after = edit(decodeUtf8(bytes, file), 'supervisor', 'keys', public_key);
  if (isNamed(after, file, public_key) !== wanted)
    throw usage('config.form', `${file}: the list of keys in [supervisor] could not be changed.`, {
      hint: `by hand, below [supervisor], ${wanted ? 'add to' : 'take out of'} keys = […]: "${public_key}"`,
    });
  return Buffer.from(after, 'utf8');
}

function isNamed(text: string, file: string, public_key: string): boolean | null {
  try {
    return decodeConfig(text, file).config.supervisor.keys.includes(public_key);
  } catch (error) {
    if (error instanceof ForgeError) return null;
    throw error;
  }
}

/** Those that were taken as they are until now are pinned too: another one beside them is foreign from here on. */
export function pinKey(context: Context, public_key: string, how: PinnedKey['how'], reason?: string): void {
  const at = timestamp(context);
  const others = [...knownKeys(supervisorKeys(context))].filter((key) => key !== public_key);
  pin(context, (pins) => {
    const first = pins.keys.length === 0 ? pinKeys(pins, others, 'first', at) : pins;
    return pinKeys(first, [public_key], how, at, reason);
  });
}
