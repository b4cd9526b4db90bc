import type { Format } from '../domain/document.js';
import { ForgeError } from '../domain/error.js';
import { FEATURES } from '../domain/feature.js';
import { FOCUS } from '../domain/focus.js';
import { KFR } from '../domain/kfr.js';
import { KNOWLEDGE } from '../domain/knowledge.js';
import { ACTIVE_ISSUES } from '../domain/linear.js';
import { RUNNING_SESSION } from '../domain/session.js';
import type { Problem } from '../domain/symptom.js';
import {
  activeIssuesFile,
  featuresFile,
  focusFile,
  kfrFile,
  knowledgeFile,
  type Layout,
  progressFile,
  sessionFile,
} from '../store/layout.js';
import { readArchives } from './archive.js';
import type { Context } from './context.js';
import { withRescue } from './rescue.js';

const FILES: readonly [file: (layout: Layout) => string, format: Format<unknown> | null][] = [
  [featuresFile, FEATURES as Format<unknown>],
  [knowledgeFile, KNOWLEDGE as Format<unknown>],
  [activeIssuesFile, ACTIVE_ISSUES as Format<unknown>],
  [focusFile, FOCUS as Format<unknown>],
  [kfrFile, KFR as Format<unknown>],
  [sessionFile, RUNNING_SESSION as Format<unknown>],
  [progressFile, null],
];

/** Files of state that cannot be read, with what brings them back. Those in conflict are told as conflicts. */
export async function findDamaged(context: Context): Promise<Problem[]> {
  const { disk, layout } = context;
  const looks = FILES.map(([file, format]) => () => {
    if (format) disk.readDocument(format, file(layout), null);
    else disk.read(file(layout));
  });
  const found: Problem[] = [];
  for (const look of [...looks, () => void readArchives(context)]) {
    const problem = await attempt(context, look);
    if (problem) found.push(problem);
  }
  return found;
}

async function attempt(context: Context, look: () => void): Promise<Problem | null> {
  try {
    look();
    return null;
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
    if (error.code === 'file.conflict') return null;
    const { message, hint } = (await withRescue(context, error)) as ForgeError;
    return { message, hint };
  }
}
