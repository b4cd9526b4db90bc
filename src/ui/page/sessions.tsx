import { type Answers, linkTo } from './data.js';
import { wordsOf } from './knowledge.js';
import { recordEntry } from './ledger.js';
import { Ask, Badge, Card, Empty, Facts, List, many, Time, type Tone } from './parts.js';

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
            {many(entries.length, 'entry', 'entries')} of {tokens} tokens. The agent must keep them all right.
          </p>
          <Card title="Entries">
            <List
              items={entries}
              entry={({ id, kind, text, requires_resolution, parked, created_at }) => ({
                name: `${id} ${kind}`,
                badge: requires_resolution ? ['yellow', parked ? 'parked for a person' : 'open'] : undefined,
                at: created_at,
                text,
                note: parked?.reason,
                commands: requires_resolution ? [`forge kfr patch --resolve "${id}=TEXT"`] : [],
              })}
            />
          </Card>
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

export const SessionView = ({ id }: { id: string }) => (
  <Ask route="sessions/:id" given={{ id }}>
    {({ session, focus, kfr, answers, lessons, progress, commits, records }) => {
      const verdict = records.find(({ kind, execution }) => kind === 'cycle' && execution !== undefined);
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
                ['learned', lessons.map(wordsOf).join('\n')],
                ['answered', answers.join('\n')],
                ['working memory', kfr.map((entry) => `${entry.id}: ${entry.text}`).join('\n')],
                ['next', session.next],
              ]}
            />
          </Card>
          <div class="grid">
            <Card title="Progress (UTC)">
              <List
                items={progress}
                none="Nothing was logged."
                entry={({ time, text }) => ({ name: time, text })}
              />
            </Card>
            <Card title="Commits">
              <List
                items={commits}
                none="No commit was made."
                entry={({ short, at, subject }) => ({ name: <code>{short}</code>, at, text: subject })}
              />
            </Card>
            <Card title="Records">
              <List items={records} none="No record was made." entry={recordEntry} />
            </Card>
          </div>
        </>
      );
    }}
  </Ask>
);
