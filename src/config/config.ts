import { formatArgv, splitCommand, testArgv } from '../core/argv.js';
import { ForgeError, unlessFailed, usage } from '../core/error.js';
import { configFile, shown } from '../core/paths.js';
import { decodeUtf8 } from '../core/schema.js';
import { checkText } from '../core/text.js';
import { setTomlValue } from '../core/toml.js';
import { readFeatures } from '../feature/store.js';
import {
  type Config,
  DEFAULTS,
  decodeConfig,
  parseSetting,
  readSetting,
  SETTINGS,
} from '../project/config.js';
import { type Context, readConfig, refuseAgent, requireSupervisor } from '../project/project.js';
import { approve, CYCLE_COMMANDS, toUrl } from '../trust/approvals.js';
import { approveTests, approveTyped, showTrust } from '../trust/trust.js';

export interface Setting {
  name: string;
  value: unknown;
}

const settingsOf = (config: Omit<Config, 'schema_version'>): Setting[] =>
  SETTINGS.map((name) => ({ name, value: readSetting(config, name) }));

export const listSettings = (context: Context): { settings: Setting[] } => ({
  settings: settingsOf(readConfig(context)),
});

export const defaultSettings = (): Setting[] => settingsOf(DEFAULTS);

export const getSetting = (context: Context, { name }: { name: string }): Setting => ({
  name,
  value: readSetting(readConfig(context), name),
});

/** Changes one line of config.toml and keeps comments. An invalid result changes nothing. */
export function setSetting(
  context: Context,
  { name, value: text }: { name: string; value: string },
): Setting {
  requireSupervisor(context, 'config');
  refuseAgent(context, 'Changing a setting');
  const value = parseSetting(name, text);
  const texts = [value].flat().filter((each) => typeof each === 'string');
  for (const each of texts) if (each !== '') checkText(each, { what: name, lines: false });
  // A command that needs a shell is refused.
  const isCommand = name === 'features.test_command' || name === 'checkpoint.verify';
  if (isCommand) for (const command of texts) if (command !== '') splitCommand(command);
  const trusted = name === 'features.test_command' ? trustedTests(context) : [];
  const { disk, layout } = context;
  const path = configFile(layout);
  const file = shown(layout, path);
  const [table = '', key = ''] = name.split('.');
  disk.withLock(() => {
    readConfig(context);
    const bytes = disk.read(path) as Buffer;
    const after = setTomlValue(decodeUtf8(bytes, file), table, key, value);
    checkResult(name, after, file);
    disk.replace(path, Buffer.from(after, 'utf8'), bytes);
  });
  // Commands that a person typed are approved, and so are tests under a new command that was typed.
  if (name === 'checkpoint.verify') approveTyped(context, texts);
  if (name === 'features.test_command') approveTests(context, trusted);
  if (name === 'events.url' && text !== '') approve(context, [toUrl(text)]);
  if (value === true && table === 'cycle')
    approveTyped(context, [CYCLE_COMMANDS[key as keyof typeof CYCLE_COMMANDS]]);
  return { name, value };
}

/** The file was valid before, so an error is about the new value. */
function checkResult(name: string, after: string, file: string): void {
  try {
    decodeConfig(after, file);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    throw usage('config.value', error.message.replace(/^.*?:\d+: /, ''), { field: name });
  }
}

/** Tests of features that are approved now: with another `test_command` they become other commands. */
function trustedTests(context: Context): string[] {
  const items = showTrust(context).items.filter(({ state }) => state === 'trusted');
  const trusted = new Set(items.flatMap(({ kind, content }) => (kind === 'command' ? [content] : [])));
  const template = readConfig(context).features.test_command;
  const commandOf = (test: string): string => unlessFailed('', () => formatArgv(testArgv(test, template)));
  const tests = readFeatures(context).flatMap(({ tests = [] }) => tests);
  return tests.filter((test) => trusted.has(commandOf(test)));
}
