import type { ComponentChildren } from 'preact';
import { type Answers, linkTo } from './data.js';
import { recordEntry } from './ledger.js';
import { Ask, Badge, Card, Command, Empty, Facts, List, many, Time, type Tone, Trouble } from './parts.js';

type Feature = Answers['features/:id']['feature'];

/** The columns of the board, in the order of what needs work. */
const STATES: [status: Feature['status'], label: string, tone: Tone][] = [
  ['failing', 'Failing', 'red'],
  ['in_progress', 'In progress', 'yellow'],
  ['not_implemented', 'Not started', 'neutral'],
  ['blocked', 'Blocked', 'neutral'],
  ['passing', 'Proved', 'green'],
];

const blockers = ({ blocked_by }: Feature): string[] => [blocked_by ?? []].flat();

/** Why the status can be believed, or what it waits for. */
function evidenceOf(feature: Feature, waits = blockers(feature)): ComponentChildren {
  const { status, override, verified_at, verified_commit, verified_dirty, unproven, tests = [] } = feature;
  const about = verified_dirty ? 'with uncommitted changes after' : 'at';
  if (override) return `by hand: ${override.reason}`;
  if (unproven && verified_at) return 'its test passes, and was never seen to fail';
  if (status === 'passing' && verified_at)
    return (
      <span>
        passes since <Time at={verified_at} /> {verified_commit && `${about} ${verified_commit.slice(0, 8)}`}
      </span>
    );
  if (waits.length > 0) return `after ${waits.join(', ')}`;
  return tests.length === 0 ? 'no test yet' : many(tests.length, 'test');
}

export const FeaturesView = () => (
  <Ask route="features">
    {({ features, warnings }) => {
      const proved = new Set(features.filter(({ status }) => status === 'passing').map(({ id }) => id));
      return (
        <>
          <Trouble lines={warnings} />
          {features.length === 0 && (
            <Empty command='forge feature add "Login works" --test "npm test -- login"'>
              A feature is a promise with a test. Only a test that forge ran makes it pass.
            </Empty>
          )}
          <div class="board">
            {STATES.map(([status, label, tone]) => {
              const own = features.filter((feature) => feature.status === status);
              if (own.length === 0) return null;
              return (
                <section key={status} class="column" aria-label={label}>
                  <h2>
                    <Badge tone={tone}>{label}</Badge> <small class="dim">{own.length}</small>
                  </h2>
                  <List
                    items={own}
                    entry={(feature) => ({
                      name: `${feature.id} ${feature.name}`,
                      href: linkTo('features', feature.id),
                      note: evidenceOf(
                        feature,
                        blockers(feature).filter((id) => !proved.has(id)),
                      ),
                    })}
                  />
                </section>
              );
            })}
          </div>
        </>
      );
    }}
  </Ask>
);

function Run({ at, commit, dirty, command, exit_code, not_run }: NonNullable<Feature['last_run']>) {
  const how = not_run ?? (exit_code === null ? 'stopped' : exit_code === 0 ? '' : `exit code ${exit_code}`);
  const where = commit && `${dirty ? 'with uncommitted changes after' : 'at'} ${commit.slice(0, 8)}`;
  return (
    <span>
      <Time at={at} /> {where}: {how === '' ? 'passed' : `${command}: ${how}`}
    </span>
  );
}

export const FeatureView = ({ id }: { id: string }) => (
  <Ask route="features/:id" given={{ id }}>
    {({ feature, history, checkpoints }) => {
      const { status, tests = [], verified_by = [], last_run, last_pass, confirmed_at } = feature;
      const [, label, tone] = STATES.find(([name]) => name === status) ?? [status, status, 'neutral'];
      return (
        <>
          <Card title={`${feature.id}: ${feature.name}`} aside={<Badge tone={tone}>{label}</Badge>}>
            <Facts
              rows={[
                ['evidence', evidenceOf(feature)],
                ['ran', verified_by],
                ['confirmed by a person', confirmed_at && <Time at={confirmed_at} />],
                ['last run', last_run && <Run {...last_run} />],
                ['last pass', last_pass && <Run {...last_pass} />],
                ['tests', tests],
                ['blocked by', blockers(feature).join(', ')],
                ['priority', feature.priority],
                ['issue', feature.linear_issue],
                ['checkpoints', checkpoints.map(({ tag }) => tag).join(', ')],
              ]}
            />
            {status !== 'passing' && <Command line={`forge done ${feature.id}`} />}
          </Card>
          <Card title="History">
            <List items={history} none="No cycle of this feature is recorded." entry={recordEntry} />
          </Card>
        </>
      );
    }}
  </Ask>
);
