import { formatArgv, splitCommand } from '../core/argv.js';
import { ForgeError } from '../core/error.js';
import { featureFile, shown } from '../core/paths.js';
import type { ProcessRun } from '../core/process.js';
import { plural } from '../core/text.js';
import { presentCommands } from '../feature/feature.js';
import { type Feature, isProven } from '../feature/rules.js';
import { readFeatures } from '../feature/store.js';
import { runTests, type VerifyWatch, whyTestFailed } from '../feature/verify.js';
import type { Context } from '../project/project.js';
import { requireTrust } from '../trust/trust.js';
import { fromTop } from './looks.js';
import { type CiFinding, type Looked, looked } from './rules.js';

/**
 * Whether each feature that is said to pass was shown to, by its tests as they stand; with `run` also whether it does so
 * now. What is seen here is written nowhere: a pipeline judges what is there.
 */
export async function lookAtFeatures(context: Context, run: boolean, watch: VerifyWatch): Promise<Looked> {
  const features = readFeatures(context);
  const passing = features.filter(({ status }) => status === 'passing');
  const claims = passing.flatMap((feature) => claimOf(context, feature));
  const detail = `${passing.length} of ${plural(features.length, 'feature')} passing`;
  if (!run) return looked(detail, claims);
  const runs = new TestRuns(context, watch);
  for (const feature of passing) await runs.add(feature);
  const findings = [...claims, ...runs.findings];
  // Only where nothing else is wrong: who may not run it has shown nothing against it.
  const isRefused = claims.length === 0 && runs.findings.length === runs.refused;
  return looked(`${detail}, the tests of ${runs.shown} run`, findings, isRefused ? 'refused' : 'findings');
}

const placeOf = (context: Context, { id }: Feature): Pick<CiFinding, 'file' | 'line'> =>
  fromTop(context, shown(context.layout, featureFile(context.layout, id)));

function claimOf(context: Context, feature: Feature): CiFinding[] {
  if (isProven(feature, presentCommands(context, feature))) return [];
  const message = `${feature.id} is marked passing, but not by a run of its tests as they are`;
  return [{ message, fix: `forge feature verify ${feature.id}`, ...placeOf(context, feature) }];
}

/** Features that name the same tests share one run. */
class TestRuns {
  readonly findings: CiFinding[] = [];
  refused = 0;
  shown = 0;
  private readonly known = new Map<string, ProcessRun | undefined>();

  constructor(
    private readonly context: Context,
    private readonly watch: VerifyWatch,
  ) {}

  async add(feature: Feature): Promise<void> {
    const commands = presentCommands(this.context, feature);
    if (commands?.length === 0) return;
    if (commands === null) {
      const message = `${feature.id}: a test of it is no command`;
      this.findings.push({ message, fix: fixFor(feature), ...placeOf(this.context, feature) });
      return;
    }
    if (!this.mayRun(feature, commands)) return;
    const key = JSON.stringify(commands);
    if (!this.known.has(key))
      this.known.set(
        key,
        (await runTests(this.context, feature, commands.map(splitCommand), this.watch)).at(-1),
      );
    this.shown++;
    const last = this.known.get(key);
    if (last && last.exit_code !== 0)
      this.findings.push({ ...failureOf(feature, last), ...placeOf(this.context, feature) });
  }

  private mayRun(feature: Feature, commands: readonly string[]): boolean {
    try {
      requireTrust(this.context, commands);
      return true;
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind !== 'refused') throw error;
      this.refused++;
      const fix =
        'FORGE_TRUST=<the sha256 that "forge trust --show" prints>, kept where no commit can change it';
      const message = `${feature.id} was not run: ${error.message}`;
      this.findings.push({ message, fix, ...placeOf(this.context, feature) });
      return false;
    }
  }
}

const fixFor = ({ id }: Feature): string => `forge feature show ${id}`;

const failureOf = (feature: Feature, run: ProcessRun): CiFinding => ({
  message: `${feature.id} is marked passing and fails now: ${formatArgv(run.argv)}: ${whyTestFailed(run)}`,
  fix: `forge feature verify ${feature.id}`,
  output: run.output.tail.slice(-4096),
});
