import { ForgeError } from '../domain/error.js';
import { type Context, hasPromotion, noteActivity, refuseHalted } from '../routines/context.js';
import { type Routines, routines } from './parts.js';

/** A refused start, a look at who is there, or another agent's hook must not keep a session alive whose agent is gone. */
const LOOKS: ReadonlySet<string> = new Set(['start', 'status', 'where', 'sessions', 'agent']);
/** Nor must what opens the way past its open questions. */
const OPENINGS: ReadonlySet<string> = new Set(['listKfr', 'clearKfr']);

/** Binds `routine(context, ...args)` of a module loaded on use. */
type Bound<F> = F extends (context: Context, ...args: infer A) => infer R
  ? (...args: A) => Promise<Awaited<R>>
  : never;

/** `settles`: works while memory is halted. `guards`: writes, and loads the guard itself while git is at work. */
export type How = 'writes' | 'settles' | 'reads' | 'guards';

/** The routines as operations on one `.forge/`: what has to hold before one, and what is noted of one that fails. */
export function binder(context: Context) {
  const bind = <K extends keyof Routines, N extends keyof Routines[K]>(
    part: K,
    name: N,
    how: How = 'writes',
  ): Bound<Routines[K][N]> => {
    const call = async (...args: unknown[]): Promise<unknown> => {
      try {
        // LTM-05: while memory is halted nothing is written. What settles it, and the next look, check for themselves.
        if (how === 'writes' || how === 'guards') refuseHalted(context.disk);
        // LTM-13: if the rules cannot be loaded, nothing is written either.
        if (how === 'writes' || how === 'settles') await (await routines.guard()).installGuard(context);
        if (how !== 'settles' && hasPromotion(context)) await finishFirst(how);
        const module = (await routines[part]()) as Routines[K];
        if (!LOOKS.has(part) && !OPENINGS.has(String(name))) noteActivity(context);
        return await (module[name] as (context: Context, ...rest: unknown[]) => unknown)(context, ...args);
      } catch (error) {
        if (error instanceof ForgeError && error.kind === 'secret' && how !== 'reads')
          await (await routines.breach()).recordBreach(context, error);
        if (error instanceof ForgeError && error.code === 'role.denied')
          await (await routines.breach()).recordDenied(context, error, String(name));
        const { withRescue } = await import('../routines/rescue.js');
        throw await withRescue(context, error);
      }
    };
    return call as Bound<Routines[K][N]>;
  };

  /** KFR-10: a promotion that was cut off is completed before anyone looks; where that cannot be, reading goes on. */
  const finishFirst = async (how: How): Promise<void> => {
    try {
      await (await routines.promotion()).finishPromotion(context);
    } catch (error) {
      const waits = hasPromotion(context);
      if (how !== 'reads' && waits) throw error;
      context.warnings.push(
        `A promotion was cut off and ${waits ? 'waits' : 'was given up'}: ${(error as Error).message}`,
      );
    }
  };

  return bind;
}
