import { Charts } from './charts.js';
import { type Answer, type Answers, linkTo } from './data.js';
import { STATES } from './features.js';
import {
  Ask,
  Badge,
  bytes,
  Card,
  Command,
  Commands,
  Empty,
  Facts,
  List,
  many,
  Shown,
  Time,
  type Tone,
  Trouble,
} from './parts.js';

type Overview = Answers['overview'];

const PROMISES: Record<Overview['health'][number]['name'], string> = {
  'long-term': 'what was learned and recorded',
  'short-term': 'the work of this session',
  features: 'what is promised, and proved',
  git: 'history, and states to go back to',
  linear: 'issues, and commits that name them',
};

function Now({ overview }: { overview: Overview }) {
  const { session, focus, next_step, next_task, next_commands, project } = overview;
  const idle = session ? 'A session runs, without a task.' : 'Nothing: no session is running.';
  return (
    <Card title="Being worked on">
      <p class="lead">{session?.task ?? focus.task ?? idle}</p>
      <Facts
        rows={[
          ['session', session && <a href={linkTo('sessions', session.id)}>{session.id}</a>],
          ['started', session && <Time at={session.started_at} />],
          ['its agent', session?.holder],
          ['branch', session?.branch ?? project.branch],
          ['phase', focus.phase],
          ['files', focus.files.join(', ')],
          ['blocked by', focus.blockers.join('; ')],
          ['next step', next_step],
          ['next task', next_task && `${next_task.id} ${next_task.title} (${next_task.reason})`],
        ]}
      />
      {!session && <Commands lines={next_commands} />}
    </Card>
  );
}

const Decisions = ({ decisions }: Pick<Overview, 'decisions'>) => (
  <Card
    title="Waits for a person"
    aside={decisions.length > 0 && <Badge tone="yellow">{decisions.length}</Badge>}
  >
    <List
      items={decisions}
      none="Nothing: no open question, nothing to approve, nothing contested."
      entry={({ what, why, commands }) => ({ name: what, text: why, commands })}
    />
  </Card>
);

function Proved({ features }: Pick<Overview, 'features'>) {
  const own = STATES.map(([name, label, tone]) => ({ name, label, tone, count: features?.[name] ?? 0 }))
    .filter(({ count }) => count > 0)
    .reverse();
  const total = own.reduce((sum, { count }) => sum + count, 0);
  if (!features || total === 0)
    return (
      <Card title="Proved">
        <Empty command='forge feature add "First thing to build" --test "COMMAND"'>
          There are no features yet.
        </Empty>
      </Card>
    );
  return (
    <Card title="Proved" aside={<a href={linkTo('features')}>all features</a>}>
      <p class="lead">
        {features.passing} of {many(total, 'feature')} proved by tests that forge ran
      </p>
      <p class="row">
        {own.map(({ name, label, tone, count }) => (
          <Badge key={name} tone={tone}>
            {count} {label.toLowerCase()}
          </Badge>
        ))}
      </p>
    </Card>
  );
}

/** What a verification found, in words. */
export const MEMORY: Record<Overview['memory']['status'], [tone: Tone, text: string]> = {
  intact: ['green', 'Intact: every record is there and unchanged'],
  removed: ['yellow', 'Records are missing'],
  corrupted: ['red', 'Damaged'],
  halted: ['red', 'Halted until a person decides'],
  secret: ['red', 'Holds a secret that has to be redacted'],
};

function MemoryCard({ memory }: Pick<Overview, 'memory'>) {
  const [tone, text] = MEMORY[memory.status];
  return (
    <Card title="Memory" aside={<a href={linkTo('ledger')}>ledger</a>}>
      <p class="lead">
        <Badge tone={tone}>{text}</Badge>
      </p>
      <p class="dim">
        {many(memory.records, 'record')}, {bytes(memory.bytes)} of {bytes(memory.limit)}
      </p>
      {memory.status !== 'intact' && <Command line="forge memory verify" />}
    </Card>
  );
}

const DoneCard = () => (
  <Card title="Done in the last day" aside={<a href={linkTo('sessions')}>all sessions</a>}>
    <Ask route="done">
      {({ done }) => (
        <List
          items={done}
          none="Nothing yet."
          entry={({ at, what, id, text }) => ({
            name: id ?? what,
            href: id === null ? undefined : linkTo(`${what}s`, id),
            at,
            text,
          })}
        />
      )}
    </Ask>
  </Card>
);

export const OverviewView = ({ answer }: { answer: Answer<Overview> }) => (
  <Shown answer={answer}>
    {(overview) => (
      <>
        <Trouble lines={overview.problems} />
        <div class="grid">
          <Now overview={overview} />
          <Decisions decisions={overview.decisions} />
          <Proved features={overview.features} />
          <MemoryCard memory={overview.memory} />
        </div>
        <DoneCard />
        <Card title="Health">
          <List
            items={overview.health}
            entry={({ name, color, reasons, fix }) => ({
              name: `${name}: ${PROMISES[name]}`,
              badge: [color, color],
              text: reasons.join('\n'),
              commands: fix,
            })}
          />
        </Card>
        <Charts />
      </>
    )}
  </Shown>
);
