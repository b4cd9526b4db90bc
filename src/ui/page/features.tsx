import { useState } from 'preact/hooks';
import { type Answers, linkTo, useAnswer } from './data.js';
import { RowList } from './log.js';
import { Badge, Card, Command, Empty, Facts, many, Shown, Time, type Tone } from './parts.js';

type Feature = Answers['features']['features'][number];

const COLUMNS: [status: Feature['status'], label: string, tone: Tone][] = [
  ['failing', 'Failing', 'red'],
  ['in_progress', 'In progress', 'yellow'],
  ['not_implemented', 'Not started', 'neutral'],
  ['blocked', 'Blocked', 'neutral'],
  ['passing', 'Proved', 'green'],
];

const blockers = ({ blocked_by }: Feature): string[] => [blocked_by ?? []].flat();

/** Why the status can be believed. */
function Evidence({ feature }: { feature: Feature }) {
  const { status, override, verified_at, verified_commit, unproven, tests = [] } = feature;
  if (override) return <>by hand: {override.reason}</>;
  if (unproven && verified_at) return <>its test passes, and was never seen to fail</>;
  if (status === 'passing' && verified_at)
    return (
      <>
        tests passed <Time at={verified_at} />
        {verified_commit && <> at {verified_commit.slice(0, 8)}</>}
      </>
    );
  const waits = blockers(feature);
  if (waits.length > 0) return <>after {waits.join(', ')}</>;
  return <>{tests.length === 0 ? 'no test yet' : many(tests.length, 'test')}</>;
}

/** Cards of a column that are shown at first. */
const FIRST = 50;

function Column({ label, tone, features }: { label: string; tone: Tone; features: readonly Feature[] }) {
  const [all, setAll] = useState(false);
  const shown = all ? features : features.slice(0, FIRST);
  return (
    <section class="column" aria-label={label}>
      <h2>
        <Badge tone={tone}>{label}</Badge> <small class="dim">{features.length}</small>
      </h2>
      <ul class="plain">
        {shown.map((feature) => (
          <li key={feature.id}>
            <a class="tile" href={linkTo('features', feature.id)}>
              <strong>{feature.id}</strong> {feature.name}
              <small class="dim">
                <Evidence feature={feature} />
              </small>
            </a>
          </li>
        ))}
      </ul>
      {features.length > shown.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show {features.length - shown.length} more
        </button>
      )}
    </section>
  );
}

export function FeaturesView({ id }: { id: string | undefined }) {
  const answer = useAnswer('features', '/api/features');
  if (id !== undefined) return <FeatureView id={id} />;
  return (
    <Shown answer={answer}>
      {({ features, next, warnings }) =>
        features.length === 0 ? (
          <Empty command='forge feature add "Login works" --test "npm test -- login"'>
            A feature is a promise with a test. Only a test that forge ran makes it pass.
          </Empty>
        ) : (
          <>
            {warnings.map((text) => (
              <p class="trouble" key={text}>
                {text}
              </p>
            ))}
            {next && (
              <p>
                Next: <a href={linkTo('features', next.id)}>{next.id}</a> {next.title}{' '}
                <small class="dim">({next.reason})</small>
              </p>
            )}
            <div class="board">
              {COLUMNS.map(([status, label, tone]) => {
                const own = features.filter((feature) => feature.status === status);
                return own.length > 0 && <Column key={status} label={label} tone={tone} features={own} />;
              })}
            </div>
          </>
        )
      }
    </Shown>
  );
}

function FeatureView({ id }: { id: string }) {
  const answer = useAnswer('feature', `/api/features/${encodeURIComponent(id)}`);
  return (
    <Shown answer={answer}>
      {({ feature, history, checkpoints }) => {
        const { status, tests = [], verified_by = [], verified_at, verified_commit, override } = feature;
        const [, label = status, tone = 'neutral' as Tone] = COLUMNS.find(([name]) => name === status) ?? [];
        return (
          <>
            <p>
              <a href={linkTo('features')}>‹ all features</a>
            </p>
            <Card title={`${feature.id}: ${feature.name}`} aside={<Badge tone={tone}>{label}</Badge>}>
              <Facts
                rows={[
                  ['evidence', <Evidence key="evidence" feature={feature} />],
                  ['verified', verified_at && <Time at={verified_at} />],
                  ['commit', verified_commit],
                  ['ran', verified_by.length > 0 && <Lines lines={verified_by} />],
                  ['tests', tests.length > 0 && <Lines lines={tests} />],
                  ['by hand', override && `${override.reason} (${override.at})`],
                  ['blocked by', blockers(feature).join(', ')],
                  ['priority', feature.priority],
                  ['issue', feature.linear_issue],
                  ['checkpoints', checkpoints.map(({ tag }) => tag).join(', ')],
                ]}
              />
              {status !== 'passing' && <Command line={`forge done ${feature.id}`} />}
            </Card>
            <Card title="History">
              <RowList rows={history} none="No cycle of this feature is recorded." />
            </Card>
          </>
        );
      }}
    </Shown>
  );
}

const Lines = ({ lines }: { lines: readonly string[] }) => (
  <>
    {lines.map((line) => (
      <code key={line} class="line">
        {line}
      </code>
    ))}
  </>
);
