import { type Answers, linkTo, useAnswer } from './data.js';
import { Badge, Card, Commands, Empty, Facts, many, Shown, Time, type Tone } from './parts.js';

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

/** Oldest first. A cycle that was evaluated is one moment, not two. */
function momentsOf(detail: SessionDetail): Moment[] {
  const judged = new Set(detail.records.map(({ execution }) => execution));
  const commits = detail.commits.map(({ at, short, subject }) => ({
    ...{ at, what: 'commit', text: `${short} ${subject}` },
  }));
  const records = detail.records.flatMap(({ id, at, kind, cycle, text }) =>
    at === null || judged.has(id)
      ? []
      : [{ at, what: kind === 'cycle' ? `cycle ${cycle}` : kind, text, link: linkTo('ledger', id) }],
  );
  const all = [...progressMoments(detail), ...commits.reverse(), ...records.reverse()];
  return all.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
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
                    <span class="text">{link ? <a href={link}>{text || 'record'}</a> : text}</span>
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
