import { type Answer, type Answers, linkTo } from './data.js';
import { MEMORY } from './ledger.js';
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
  Trouble,
} from './parts.js';

type Overview = Answers['overview'];

function Now({ overview }: { overview: Overview }) {
  const { session, focus, next_steps, next_task, next_commands, project } = overview;
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
          ['next step', next_steps.join(' / ')],
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
  const total = Object.values(features ?? {}).reduce((sum, count) => sum + count, 0);
  return (
    <Card title="Proved" aside={<a href={linkTo('features')}>all features</a>}>
      {total === 0 ? (
        <Empty command='forge feature add "First thing to build" --test "COMMAND"'>
          There are no features yet.
        </Empty>
      ) : (
        <p class="lead">
          {features?.passing} of {many(total, 'feature')} proved by tests that forge ran
        </p>
      )}
    </Card>
  );
}

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

type Series = Answers['charts']['features'];

const COLORS: Record<string, string> = {
  ...{ passing: 'green', SUCCESS: 'green', PARTIAL_SUCCESS: 'blue', FAILURE: 'red' },
  ...{ 'all features': 'accent', bytes: 'accent', 'not evaluated': 'dim' },
};
const OTHERS = ['purple', 'orange', 'yellow', 'blue'];
const colorOf = (name: string, i: number): string => COLORS[name] ?? OTHERS[i % OTHERS.length] ?? 'dim';

const stamp = (at = 0): string => new Date(at * 1000).toISOString().slice(0, 16).replace('T', ' ');

interface PlotProps {
  series: Series;
  label: string;
  format?: (value: number) => string;
}

/** A picture for those who look, and numbers for those who listen or copy. Points have equal distances. */
function Plot({ series: { at, names, values }, label, format = String }: PlotProps) {
  const top = Math.max(1, ...values.flat());
  return (
    <figure>
      <div class="plot">
        <span>{format(top)}</span>
        <svg viewBox={`0 0 ${at.length} ${top}`} preserveAspectRatio="none" role="img" aria-label={label}>
          {names.map((name, i) => (
            <path
              key={name}
              class={`line ${colorOf(name, i)}`}
              d={values[i]?.map((value, k) => `${k ? 'V' : 'M0 '}${top - value}H${k + 1}`).join('')}
            />
          ))}
        </svg>
        <span>0</span>
      </div>
      <p class="span">
        <span>{stamp(at[0])}</span> <span>{stamp(at.at(-1))}</span>
      </p>
      <figcaption class="legend">
        {names.map((name, i) => (
          <span key={name}>
            <i class={`swatch ${colorOf(name, i)}`} /> {name}
          </span>
        ))}
      </figcaption>
      <details class="numbers">
        <summary>Numbers</summary>
        <Facts
          rows={at.map((time, k) => [
            stamp(time),
            names.map((name, i) => `${name} ${format(values[i]?.[k] ?? 0)}`).join(', '),
          ])}
        />
      </details>
    </figure>
  );
}

const READS: [key: keyof Answers['charts']['reads'], label: string][] = [
  ['calls', 'reading tool calls'],
  ['exact_repeats', 'asked again, word for word'],
  ['near_repeats', 'asked again in other words'],
  ['avoided', 'repeats avoided'],
  ['stale', 'known, but no longer true'],
  ['tokens_saved', 'tokens saved, about'],
  ['tokens_repeated', 'tokens read twice, about'],
];

/** Numbers over time. What has none yet is left out. */
const Charts = () => (
  <Ask route="charts">
    {({ features, cycles, memory, limit, reads }) => (
      <div class="grid">
        {features.at.length > 0 && (
          <Card title="Features over time">
            <Plot series={features} label="How many features there are, and how many pass, over time" />
          </Card>
        )}
        {cycles.at.length > 0 && (
          <Card title="Cycles by result">
            <Plot series={cycles} label="How many cycles ended with which classification, over time" />
          </Card>
        )}
        {memory.at.length > 0 && (
          <Card title="Size of memory" aside={<small class="dim">limit {bytes(limit)}</small>}>
            <Plot series={memory} label="The size of all records over time" format={bytes} />
          </Card>
        )}
        {reads.calls > 0 && (
          <Card title="Repeated reads of this session">
            <Facts rows={READS.map(([key, label]) => [label, String(reads[key])])} />
          </Card>
        )}
      </div>
    )}
  </Ask>
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
              name,
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
