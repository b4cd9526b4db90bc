import { useState } from 'preact/hooks';
import { type Answers, linkTo, useAnswer } from './data.js';
import { RowList } from './log.js';
import {
  Badge,
  Card,
  Command,
  Commands,
  Empty,
  Facts,
  many,
  Shown,
  short,
  Time,
  type Tone,
} from './parts.js';

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

const KINDS: [kind: string, heading: string][] = [
  ['Goal', 'Goal'],
  ['Plan', 'Plan'],
  ['ActiveContract', 'Active contracts'],
  ['Constraint', 'Constraints'],
  ['OpenQuestion', 'Open questions'],
];

export function KfrView() {
  const answer = useAnswer('kfr', '/api/kfr');
  return (
    <Shown answer={answer}>
      {({ session, entries, tokens, injected }) => {
        if (entries.length === 0)
          return (
            <Empty command={session ? 'forge kfr patch --goal "TEXT"' : 'forge start'}>
              {session ? 'Working memory is empty: nothing is put into prompts.' : 'No session is running.'}
            </Empty>
          );
        return (
          <>
            <p>
              {many(entries.length, 'entry', 'entries')}, {tokens} tokens of each prompt. What stands here is
              what the agent must keep right.
            </p>
            <div class="grid">
              {KINDS.map(([kind, heading]) => {
                const own = entries.filter((entry) => entry.kind === kind);
                return (
                  own.length > 0 && (
                    <Card key={kind} title={heading}>
                      <ul class="plain">
                        {own.map(({ id, text, requires_resolution, parked, created_at }) => (
                          <li key={id}>
                            <p class="text">{text}</p>
                            <p class="row dim">
                              <code>{id}</code> <Time at={created_at} />
                              {requires_resolution && (
                                <Badge tone="yellow">{parked ? 'parked for a person' : 'open'}</Badge>
                              )}
                            </p>
                            {requires_resolution && (
                              <Commands lines={[`forge kfr patch --resolve "${id}=TEXT"`]} />
                            )}
                          </li>
                        ))}
                      </ul>
                    </Card>
                  )
                );
              })}
            </div>
            <Card title="As the agent sees it" wide>
              <pre>{injected}</pre>
            </Card>
          </>
        );
      }}
    </Shown>
  );
}

type Session = Answers['sessions']['sessions'][number];

const SESSION_TONES: Record<Session['status'], Tone> = {
  ...{ running: 'accent', ended: 'green', interrupted: 'yellow', discarded: 'neutral' },
};

export function SessionsView({ id }: { id: string | undefined }) {
  const answer = useAnswer('sessions', '/api/sessions');
  if (id !== undefined) return <SessionView id={id} />;
  return (
    <Shown answer={answer}>
      {({ active, sessions, more }) => {
        const all: Session[] = active ? [active, ...sessions] : sessions;
        if (all.length === 0) return <Empty command="forge start">No session has run here yet.</Empty>;
        return (
          <>
            <ol class="timeline">
              {all.map((session) => (
                <li key={session.id} class={SESSION_TONES[session.status]}>
                  <a href={linkTo('sessions', session.id)}>{session.id}</a>{' '}
                  <Badge tone={SESSION_TONES[session.status]}>
                    {session.resumed_by ? `${session.status}, resumed` : session.status}
                  </Badge>{' '}
                  <Time at={session.started_at} /> {session.branch && <code>{session.branch}</code>}
                  {session.next && <p class="text">Next: {session.next}</p>}
                </li>
              ))}
            </ol>
            {more && <p class="dim">Older ones: forge session list --limit 1000</p>}
          </>
        );
      }}
    </Shown>
  );
}

type SessionDetail = Answers['session'];
interface Moment {
  at: string;
  what: string;
  text: string;
  link?: string;
}

/** Entries of progress have a time of day: a smaller one belongs to the next day. */
function progressMoments({ session, progress }: SessionDetail): Moment[] {
  let day = Date.parse(`${session.started_at.slice(0, 10)}T00:00:00Z`);
  let last = session.started_at.slice(11, 16);
  return progress.map(({ time, text }) => {
    if (time < last) day += 86_400_000;
    last = time;
    return { at: `${new Date(day).toISOString().slice(0, 10)}T${time}:00Z`, what: 'progress', text };
  });
}

function momentsOf(detail: SessionDetail): Moment[] {
  const commits = detail.commits.map(({ at, short, subject }) => ({
    at,
    what: 'commit',
    text: `${short} ${subject}`,
  }));
  const records = detail.records.flatMap(({ id, at, kind, tier, text }) =>
    at === null
      ? []
      : [{ at, what: kind === 'cycle' ? `cycle, ${tier}` : kind, text, link: linkTo('ledger', id) }],
  );
  return [...progressMoments(detail), ...commits, ...records].sort(
    (a, b) => Date.parse(a.at) - Date.parse(b.at),
  );
}

function SessionView({ id }: { id: string }) {
  const answer = useAnswer('session', `/api/sessions/${encodeURIComponent(id)}`);
  return (
    <Shown answer={answer}>
      {(detail) => {
        const { session, focus, kfr } = detail;
        return (
          <>
            <p>
              <a href={linkTo('sessions')}>‹ all sessions</a>
            </p>
            <Card
              title={session.id}
              aside={<Badge tone={SESSION_TONES[session.status]}>{session.status}</Badge>}
              wide
            >
              <Facts
                rows={[
                  ['goal', session.goal],
                  ['task', focus.task],
                  ['started', <Time key="s" at={session.started_at} />],
                  ['ended', session.ended_at && <Time at={session.ended_at} />],
                  ['branch', session.branch],
                  ['learned', session.learned.join('\n')],
                  ['failed', session.failed.join('\n')],
                  [
                    'working memory',
                    kfr.length > 0 && kfr.map(({ id, text }) => `${id}: ${text}`).join('\n'),
                  ],
                  ['next', session.next],
                ]}
              />
            </Card>
            <Card title="What happened" wide>
              <ol class="timeline small">
                {momentsOf(detail).map(({ at, what, text, link }, i) => (
                  <li key={`${at}${i}`}>
                    <span class="dim">
                      <time dateTime={at}>{at.slice(11, 16)}</time> {what}
                    </span>{' '}
                    <span class="text">{link ? <a href={link}>{text || what}</a> : text}</span>
                  </li>
                ))}
              </ol>
            </Card>
          </>
        );
      }}
    </Shown>
  );
}

export const ShortId = ({ id }: { id: string }) => (
  <a href={linkTo('ledger', id)}>
    <code>{short(id)}</code>
  </a>
);
