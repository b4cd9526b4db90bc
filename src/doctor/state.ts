import { formatArgv } from '../core/argv.js';
import { ForgeError } from '../core/error.js';
import {
  activeIssuesFile,
  featuresFolder,
  focusFile,
  kfrFile,
  type Layout,
  learnedFolder,
  progressFile,
  sessionFile,
  sessionsFolder,
  shown,
} from '../core/paths.js';
import type { Format } from '../core/schema.js';
import { ACTIVE_ISSUES } from '../feature/issue.js';
import { readFeatures } from '../feature/store.js';
import { KFR } from '../kfr/rules.js';
import { listKnowledge } from '../knowledge/knowledge.js';
import type { Context } from '../project/project.js';
import { readArchives } from '../session/archive.js';
import { FOCUS } from '../session/focus-rules.js';
import { RUNNING_SESSION } from '../session/rules.js';
import type { Problem } from '../status/symptom.js';
import { attempt } from './attempt.js';
import { asideHint, withRescue } from './rescue.js';

const FILES: readonly [file: (layout: Layout) => string, format: Format<unknown> | null][] = [
  [activeIssuesFile, ACTIVE_ISSUES as Format<unknown>],
  [focusFile, FOCUS as Format<unknown>],
  [kfrFile, KFR as Format<unknown>],
  [sessionFile, RUNNING_SESSION as Format<unknown>],
  [progressFile, null],
];

/** Files of state that cannot be read, with what brings them back. Those in conflict are told as conflicts. */
export async function findDamaged(context: Context): Promise<Problem[]> {
  const { disk, layout } = context;
  const found: Problem[] = [];
  const look = async (path: string, work: () => unknown): Promise<void> => {
    const looked = await attempt(() => rescued(context, path, work));
    if (!('problem' in looked)) return;
    const { code } = looked.problem;
    if (code !== 'file.conflict') found.push(looked.problem);
  };
  for (const [file, format] of FILES)
    await look(file(layout), () =>
      format ? disk.readDocument(format, file(layout), null) : disk.read(file(layout)),
    );
  await look(featuresFolder(layout), () => readFeatures(context));
  await look(learnedFolder(layout), () => listKnowledge(context));
  // One that cannot be read stops whoever lists them.
  await look(sessionsFolder(layout), () => readArchives(context));
  return found;
}

/** What a look at a path gives; its error says what brings back what stood there. */
export async function rescued<T>(context: Context, path: string, look: () => T): Promise<T> {
  try {
    return look();
  } catch (error) {
    const known = await withRescue(context, error);
    if (!(known instanceof ForgeError) || known.code !== 'file.kind') throw known;
    const { kind, code, message, details } = known;
    const file = shown(context.layout, details.file ?? path);
    const hint = asideHint(context, file) ?? replaceHint(context, file);
    throw new ForgeError(kind, code, message, { ...details, hint });
  }
}

/** What stands in the place of a file has no content that anybody could repair. */
function replaceHint({ repository }: Context, name: string): string {
  const file = formatArgv([name]);
  return `mv ${file} ${file}.damaged && ${repository ? `git restore -- ${file}` : 'forge init'}`;
}
