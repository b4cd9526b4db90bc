import { oneLine } from '../core/text.js';
import { quoted } from '../hooks/shim.js';
import { advisory, blocking, degraded, type Problem, type Symptom } from '../status/symptom.js';

/** What stands in the way of work, and whether git asks forge. */
export interface WorkFacts {
  /** Since when and why it waits for a human. */
  paused: string | null;
  /** A rollback, or its undoing, is not completed. */
  recovering: boolean;
  /** Null where there is no git, or `[commit] enforce` is off; a problem where they cannot be looked at. */
  hooks: HookFacts | Problem | null;
}

export interface HookFacts {
  /** By name; why where forge cannot be there. */
  absent: { name: string; why?: string | undefined }[];
  /** Whether any hook leads to forge. */
  isAny: boolean;
  /** The script that they all run is there. */
  hasScript: boolean;
  /** What that script starts and is not there any more. */
  gone: string[];
  /** Hooks of git's settings that start forge as well. */
  twice: { name: string; scope: string }[];
}

export function diagnoseWork({ paused, recovering, hooks }: WorkFacts): Symptom[] {
  return [
    ...(recovering
      ? blocking(
          'a rollback, or its undoing, is not completed',
          'files that are as one commit has them, or yours',
          'until then the working tree may be half of both',
          'forge recover',
        )
      : []),
    ...(paused === null
      ? []
      : blocking(
          paused,
          'memory that was never damaged, or that somebody has looked at',
          'cycle, loop and promotion are refused',
          'forge memory override acknowledge --reason "…"',
        )),
    ...(hooks ? checkHooks(hooks) : []),
  ];
}

const INSTALL = 'forge hooks install';

const EXPECTED = "git's hooks leading to this forge";
const UNASKED = 'what does not follow the commit protocol is found when it is looked for, and not before';

function checkHooks(hooks: HookFacts | Problem): Symptom[] {
  if ('message' in hooks)
    return advisory(hooks.message, EXPECTED, UNASKED, hooks.hint ?? 'forge hooks status');
  const { absent, isAny, hasScript, gone, twice } = hooks;
  const names = absent.map(({ name }) => name).join(', ');
  const why = absent.find((hook) => hook.why !== undefined)?.why;
  if (!isAny && !hasScript)
    return advisory(
      why === undefined ? "git's hooks are not installed" : `git's hooks are not installed: ${why}`,
      EXPECTED,
      UNASKED,
      why === undefined ? INSTALL : 'forge hooks status',
    );
  if (!hasScript)
    return degraded(
      "what git's hooks run is gone from the git dir",
      EXPECTED,
      'they pass without a check',
      INSTALL,
    );
  return [
    ...(absent.length === 0
      ? []
      : degraded(
          `${names}: not installed`,
          EXPECTED,
          isAny
            ? 'the others are, so a part is not checked'
            : 'they were, and are gone, or git looks elsewhere (core.hooksPath, husky): nothing is checked',
          INSTALL,
        )),
    ...gone.flatMap((path) =>
      degraded(
        `git's hooks start ${path}, which is gone`,
        EXPECTED,
        'they look for another one in PATH, and pass without a check where there is none',
        INSTALL,
      ),
    ),
    ...twice.flatMap(({ name, scope }) =>
      advisory(
        `hook.${oneLine(name, 60)} (a ${scope} setting of git) starts forge as well`,
        EXPECTED,
        'git 2.54 and newer run both, so everything is checked and said twice',
        `git config --${scope} --remove-section ${quoted(`hook.${name}`)}`,
      ),
    ),
  ];
}
