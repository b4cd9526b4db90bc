import type { Answers } from './data.js';
import { Ask, bytes, Card, Table } from './parts.js';

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

/** A picture for those who look, and a table for those who listen or copy. Points have equal distances. */
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
        <Table
          label={`Numbers: ${label}`}
          head={['from (UTC)', ...names]}
          rows={at.map((time, k) => [stamp(time), ...values.map((line) => format(line[k] ?? 0))])}
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
export const Charts = () => (
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
          <Card title="Repeated reads">
            <Table
              label="What the agent asked twice"
              head={['this session', 'count']}
              rows={READS.map(([key, label]) => [label, reads[key]])}
            />
          </Card>
        )}
      </div>
    )}
  </Ask>
);
