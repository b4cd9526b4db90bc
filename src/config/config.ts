import { splitCommand } from '../core/argv.js';
import { ForgeError, usage } from '../core/error.js';
import { configFile, shown } from '../core/paths.js';
import { decodeUtf8 } from '../core/schema.js';
import { checkText } from '../core/text.js';
import { setTomlValue } from '../core/toml.js';
import { readFeatures } from '../feature/store.js';
import { decodeConfig, parseSetting, readSetting, SETTINGS } from '../project/config.js';
import { type Context, readConfig, refuseAgent, requireSupervisor } from '../project/project.js';
import { CYCLE_COMMANDS } from '../trust/rules.js';
import { approveTests, approveTyped, showTrust } from '../trust/trust.js';

export interface Setting {
  name: string;
  value: unknown;
}

export function listSettings(context: Context): { settings: Setting[] } {
  const config = readConfig(context);
  return { settings: SETTINGS.map((name) => ({ name, value: readSetting(config, name) })) };
}

export function defaultSettings(): Setting[] {
  const { config } = decodeConfig('', 'defaults');
  return SETTINGS.map((name) => ({ name, value: readSetting(config, name) }));
}

export function getSetting(context: Context, { name }: { name: string }): Setting {
  return { name, value: readSetting(readConfig(context), name) };
}

/** Changes one line of config.toml; comments and everything else stay. The result must be valid, or nothing changes. */
export function setSetting(
  context: Context,
  { name, value: text }: { name: string; value: string },
): Setting {
  requireSupervisor(context, 'config');
  refuseAgent(context, 'Changing a setting');
  const value = parseSetting(name, text);
  for (const text of [value].flat())
    if (typeof text === 'string' && text !== '') checkText(text, { what: name, lines: false });
  if (name === 'features.test_command' && value !== '') splitCommand(String(value));
  // Throws if a command needs a shell.
  if (name === 'checkpoint.verify') for (const command of value as string[]) splitCommand(command);
  const trusted = name === 'features.test_command' ? trustedTests(context) : [];
  const { disk, layout } = context;
  const path = configFile(layout);
  const file = shown(layout, path);
  const [table = '', key = ''] = name.split('.');
  disk.withLock(() => {
    readConfig(context);
    const bytes = disk.read(path) as Buffer;
    const after = setTomlValue(decodeUtf8(bytes, file), table, key, value);
    checkSetting(name, after, file);
    disk.replace(path, Buffer.from(after, 'utf8'), bytes);
  });
  // A command typed by a person is approved.
  if (name === 'checkpoint.verify') approveTyped(context, value as string[]);
  // The new command line was entered here, and so were these tests.
  if (name === 'features.test_command') approveTests(context, trusted);
  if (value === true && table === 'cycle')
    approveTyped(context, [CYCLE_COMMANDS[key as keyof typeof CYCLE_COMMANDS]]);
  return { name, value };
}

/** The file was whole before, so what is wrong now is the value that was given. */
function checkSetting(name: string, after: string, file: string): void {
  try {
    decodeConfig(after, file);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    throw usage('config.value', error.message.replace(/^.*?:\d+: /, ''), { field: name });
  }
}

/** Tests that may run as they are: with another `test_command` they become other commands. */
function trustedTests(context: Context): string[] {
  const trusted = showTrust(context).items.filter(
    ({ state, kind }) => state === 'trusted' && kind === 'command',
  );
  const owners = new Set(trusted.map(({ name }) => name));
  const features = readFeatures(context);
  return features.filter(({ id }) => owners.has(`feature ${id}`)).flatMap(({ tests = [] }) => tests);
}
