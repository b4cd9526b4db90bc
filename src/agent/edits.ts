import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { memoryFolder, shown } from '../core/paths.js';
import { oneLine } from '../core/text.js';
import type { Context } from '../project/project.js';

/** The command that writes a file below `.forge/memory/`, by the beginning of its path. */
const COMMANDS = [
  [/^short-term\/progress/, 'forge log "TEXT"'],
  [/^short-term\/focus/, 'forge focus set --task "TEXT"'],
  [/^long-term\/features/, 'forge feature add ID "NAME", forge feature edit ID, forge done ID'],
  [/^long-term\/(knowledge|learned)/, 'forge learn "TEXT" --as success'],
  [/^long-term\/architecture/, 'forge architecture edit FILE'],
  [/^(ledger|long-term\/notes|\w+\.jsonl)/, 'forge note add "TEXT"'],
  [/^sessions/, 'forge end'],
] as const;

/** Files that agents may write. */
const FREE = /^(short-term\/scratch|artifacts)(\/|$)/;

/**
 * Why an edit tool may not write these files; null when it may. forge checks and records what it writes to memory; an edit
 * would be neither checked nor recorded.
 */
export function gateEdit(
  { layout }: Context,
  { cwd, paths }: { cwd: string | null; paths: readonly string[] },
): string | null {
  const memory = memoryFolder(layout);
  for (const path of paths) {
    const whole = resolve(cwd ?? layout.root, path);
    const inside = [whole, withoutLinks(whole)].map((file) => relative(memory, file).split(sep).join('/'));
    const name = inside.find((file) => file !== '' && !file.startsWith('../') && !FREE.test(file));
    if (name === undefined) continue;
    const command = COMMANDS.find(([start]) => start.test(name))?.[1] ?? 'forge --help';
    return `forge writes ${oneLine(shown(layout, join(memory, name)), 200)}, not an edit tool; nothing was changed. Use: ${command}`;
  }
  return null;
}

/** The path with links in its folder resolved, or unchanged if the folder is missing. */
function withoutLinks(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
