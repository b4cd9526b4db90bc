import { DAY } from '../../core/clock.js';
import { type Answers, linkTo } from './data.js';
import { wordsOf } from './knowledge.js';
import { Ask, Badge, Card, Detail, Empty, Facts, List, many, Time, type Tone } from './parts.js';

const KINDS: [kind: string, heading: string][] = [
  ['Goal', 'Goal'],
  ['Plan', 'Plan'],
  ['ActiveContract', 'Active contracts'],
  ['Constraint', 'Constraints'],
  ['OpenQuestion', 'Open questions'],
];

export const KfrView = () => (
  <Ask route="kfr">
    {({ session, entries, tokens, injected }) =>
      entries.length === 0 ? (
        <Empty command={session ? 'forge kfr patch --goal "TEXT"' : 'forge start'}>
          {session ? 'Working memory is empty: nothing is put into prompts.' : 'No session is running.'}
        </Empty>
      ) : (
        <>
          <p>
            {many(entries.length, 'entry', 'entries')}, {tokens} tokens of each prompt. The agent must keep
            all of it right.
          </p>
          <div class="grid">
            {KINDS.map(([kind, heading]) => {
              const own = entries.filter((entry) => entry.kind === kind);
              if (own.length === 0) return null;
              return (
                <Card key={kind} title={heading}>
                  <List
                    items={own}
                    entry={({ id, text, requires_resolution, parked, created_at }) => ({
                      name: id,
                      badge: requires_resolution
                        ? ['yellow', parked ? 'parked for a person' : 'open']
                        : undefined,
                      at: created_at,
                      text,
                      note: parked?.reason,
                      commands: requires_resolution ? [`forge kfr patch --resolve "${id}=TEXT"`] : [],
                    })}
                  />
                </Card>
              );
            })}
          </div>
          <Card title="As the agent sees it">
            <pre>{injected}</pre>
          </Card>
        </>
      )
    }
  </Ask>
);

type Session = Answers['sessions/:id'];

const TONES: Record<Session['session']['status'], Tone> = {
  ...{ running: 'accent', ended: 'green', interrupted: 'yellow', discarded: 'neutral' },
};

export const SessionsView = () => (
  <Ask route="sessions">
    {({ active, sessions, more }) => (
      <>
        <List
          items={active ? [active, ...sessions] : sessions}
          none="No session has run here yet."
          command="forge start"
          timeline
          entry={({ id, status, started_at, branch, task, next, resumed_by }) => ({
            name: id,
            href: linkTo('sessions', id),
            badge: [TONES[status], resumed_by ? `${status}, resumed` : status],
            at: started_at,
            text: task,
            note: [branch && `on ${branch}`, next && `next: ${next}`].filter(Boolean).join(', '),
          })}
        />
        {more && <p class="dim">Older ones: forge session list --limit 1000</p>}
      </>
    )}
  </Ask>
);

interface Moment {
  at: string;
  what: string;
  text: string;
  link?: string;
}

/** Entries of progress have a time of day: a smaller one belongs to the next day. */
function progressMoments({ session, progress }: Session): Moment[] {
  let day = Date.parse(`${session.started_at.slice(0, 10)}T00:00:00Z`);
  let last = session.started_at.slice(11, 16);
  return progress.map(({ time, text }) => {
    if (time < last) day += DAY;
    last = time;
    return { at: `${new Date(day).toISOString().slice(0, 10)}T${time}:00Z`, what: 'progress', text };
  });
}

/** Oldest first. A cycle that was evaluated is one moment, not two. */
function momentsOf(detail: Session): Moment[] {
  const judged = new Set(detail.records.map(({ execution }) => execution));
  const commits = detail.commits.map(({ at, short, subject }) => ({
    ...{ at, what: 'commit', text: `${short} ${subject}` },
  }));
  const records = detail.records.flatMap(({ id, at, kind, cycle, text }) =>
    at === null || judged.has(id)
      ? []
      : [{ at, what: kind === 'cycle' ? `cycle ${cycle}` : kind, text, link: linkTo('ledger', id) }],
  );
  const all: Moment[] = [...progressMoments(detail), ...commits.reverse(), ...records.reverse()];
  return all.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

export const SessionView = ({ id }: { id: string }) => (
  <Detail route="sessions/:id" id={id} back={['sessions', 'all sessions']}>
    {(detail) => {
      const { session, focus, kfr, answers, lessons, records } = detail;
      const verdict = records.find(({ kind, execution }) => kind === 'cycle' && execution !== undefined);
      const learned = (isFailure: boolean): string =>
        lessons
          .filter(({ kind }) => (kind === 'failure') === isFailure)
          .map(wordsOf)
          .join('\n');
      return (
        <>
          <Card title={session.id} aside={<Badge tone={TONES[session.status]}>{session.status}</Badge>}>
            <Facts
              rows={[
                ['goal', session.goal],
                ['task', focus.task],
                ['started', <Time key="s" at={session.started_at} />],
                ['ended', session.ended_at && <Time at={session.ended_at} />],
                ['branch', session.branch],
                ['verdict', verdict && (verdict.classification ?? 'none: nothing was verified')],
                ['learned', learned(false)],
                ['failed', learned(true)],
                ['answered', answers.join('\n')],
                ['working memory', kfr.map((entry) => `${entry.id}: ${entry.text}`).join('\n')],
                ['next', session.next],
              ]}
            />
          </Card>
          <Card title="What happened (UTC)">
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
  </Detail>
);
