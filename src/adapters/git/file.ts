import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** A file that git hands to a hook: a message that is about to become a commit. */
export interface GitFile {
  /** Absolute, links followed. */
  path: string;
  bytes: Buffer;
  /** In place: git has it open by this name and no other. */
  replace(text: string): void;
}

export function readGitFile(from: string, name: string): GitFile {
  const path = realpathSync.native(resolve(from, name));
  return { path, bytes: readFileSync(path), replace: (text) => writeFileSync(path, text) };
}
