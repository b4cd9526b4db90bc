import { Charts } from './charts.js';
import { type Answers, isExported, linkTo, useAnswer } from './data.js';
import {
  Badge,
  bytes,
  Card,
  Command,
  Commands,
  Empty,
  Facts,
  many,
  Shown,
  Time,
  type Tone,
} from './parts.js';

type Overview = Answers['overview'];

const PROMISES: Record<string, string> = {
  'long-term': 'what was learned and recorded',
  'short-term': 'the work of this session',
  features: 'what is promised, and proved',
  git: 'history, and states to go back to',
  linear: 'issues, and commits that name them',
};

const Health = ({ health }: Pick<Overview, 'health'>) => (
  <ul class="health">
    {health.map(({ name, color, reasons, fix }) => (
      <li key={name}>
        <h3>
          <Badge tone={color}>{name}</Badge>
          <small>{PROMISES[name]}</small>
        </h3>
        <div>
          {reasons.map((reason) => (
            <p key={reason}>{reason}</p>
          ))}
          {fix.length > 0 && <Commands lines={fix} />}
        </div>
      </li>
    ))}
  </ul>
);

function Now({ overview }: { overview: Overview }) {
  const { session, focus, next_step, next_task, next_commands } = overview;
  const task = session?.task ?? focus.task;
  return (
    <Card title="Being worked on">
      <p class="lead">
        {task ?? (session ? 'A session runs, without a task.' : 'Nothing: no session is running.')}
      </p>
      <Facts
        rows={[
          [
            'session',
            session && (
              <>
                <a href={linkTo('sessions', session.id)}>{session.id}</a>, <Time at={session.started_at} /> (
                {session.holder})
              </>
            ),
          ],
          ['branch', session?.branch ?? overview.project.branch],
          ['phase', focus.phase],
          ['files', focus.files.join(', ')],
          ['blocked by', focus.blockers.join('; ')],
          ['next step', next_step],
          [
            'next task',
            next_task && (
              <>
                <strong>{next_task.id}</strong> {next_task.title}{' '}
                <small class="dim">({next_task.reason})</small>
              </>
            ),
          ],
        ]}
      />
      {!session && <Commands lines={next_commands} />}
    </Card>
  );
}

function Decisions({ decisions }: Pick<Overview, 'decisions'>) {
  if (decisions.length === 0)
    return (
      <Card title="Waits for a person">
        <p class="lead">
          <Badge tone="green">Nothing</Badge>
        </p>
        <p class="dim">No open question, nothing to approve, nothing contested.</p>
      </Card>
    );
  return (
    <Card title="Waits for a person" aside={<Badge tone="yellow">{decisions.length}</Badge>}>
      <ul class="plain">
        {decisions.slice(0, 12).map(({ what, why, commands }) => (
          <li key={what + why}>
            <strong>{what}</strong>
            <p>{why}</p>
            <Commands lines={commands} />
          </li>
        ))}
      </ul>
      {decisions.length > 12 && <p class="dim">{decisions.length - 12} more</p>}
    </Card>
  );
}

const STATES: [name: string, label: string, tone: Tone][] = [
  ['passing', 'proved', 'green'],
  ['failing', 'failing', 'red'],
  ['in_progress', 'in progress', 'yellow'],
  ['blocked', 'blocked', 'neutral'],
  ['not_implemented', 'not started', 'neutral'],
];

function Proved({ features }: Pick<Overview, 'features'>) {
  const total = Object.values(features ?? {}).reduce((sum, count) => sum + count, 0);
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
      <div class="stack" aria-hidden="true">
        {STATES.map(([name, , tone]) =>
          features[name] ? <i key={name} class={tone} style={{ flexGrow: features[name] }} /> : null,
        )}
      </div>
      <p class="row">
        {STATES.filter(([name]) => features[name]).map(([name, label, tone]) => (
          <Badge key={name} tone={tone}>
            {features[name]} {label}
          </Badge>
        ))}
      </p>
    </Card>
  );
}

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

function Findings() {
  const answer = useAnswer('findings', '/api/findings');
  return (
    <Card title="What forge doctor finds">
      <Shown answer={answer}>
        {({ findings }) =>
          findings.length === 0 ? (
            <p>
              <Badge tone="green">Nothing is wrong with the setup</Badge>
            </p>
          ) : (
            <ul class="plain">
              {findings.map(({ observed, why, commands, severity }) => (
                <li key={observed}>
                  <Badge tone={severity === 'error' ? 'red' : 'yellow'}>{observed}</Badge>
                  <p class="dim">{why}</p>
                  <Commands lines={commands} />
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Card>
  );
}

export function OverviewView() {
  const answer = useAnswer('overview', '/api/overview');
  return (
    <Shown answer={answer}>
      {(overview) => (
        <>
          {overview.problems.length > 0 && (
            <div class="trouble" role="alert">
              {overview.problems.map((problem) => (
                <p key={problem}>{problem}</p>
              ))}
              <Command line="forge status" />
            </div>
          )}
          <div class="grid">
            <Now overview={overview} />
            <Decisions decisions={overview.decisions} />
            <Proved features={overview.features} />
            <MemoryCard memory={overview.memory} />
          </div>
          <Card title="Health" wide>
            <Health health={overview.health} />
          </Card>
          {!isExported && <Findings />}
          <Charts />
        </>
      )}
    </Shown>
  );
}
