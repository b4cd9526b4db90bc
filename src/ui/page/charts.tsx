import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import { type Answers, useAnswer } from './data.js';
import { bytes, Card, Empty, Shown } from './parts.js';

type Series = Answers['charts']['features'];

/** A canvas knows no variables. */
function css(name: string): string {
  const probe = document.body.appendChild(document.createElement('i'));
  probe.style.color = `var(${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const COLORS: Record<string, string> = {
  ...{ passing: '--green', SUCCESS: '--green', PARTIAL_SUCCESS: '--blue', FAILURE: '--red' },
  ...{ 'all features': '--accent', bytes: '--accent', 'not evaluated': '--dim' },
};
const OTHERS = ['--purple', '--orange', '--yellow', '--blue'];

interface PlotProps {
  series: Series;
  label: string;
  bars?: boolean;
  format?: (value: number) => string;
}

/** A picture for those who look, and a table for those who listen or copy. */
function Plot({ series, label, bars = false, format = String }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const node = place.current;
    if (!node) return;
    const draw = () => drawInto(node, series, bars, format);
    let plot = draw();
    const again = () => {
      plot.destroy();
      plot = draw();
    };
    const observer = new ResizeObserver(() => plot.setSize({ width: node.clientWidth, height: HEIGHT }));
    observer.observe(node);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', again);
    addEventListener('theme', again);
    return () => {
      observer.disconnect();
      scheme.removeEventListener('change', again);
      removeEventListener('theme', again);
      plot.destroy();
    };
  }, [series, bars, format]);
  return (
    <figure>
      <div ref={place} class="plot" role="img" aria-label={label} />
      <Legend series={series} />
      <Table series={series} label={label} format={format} />
    </figure>
  );
}

const HEIGHT = 160;
const colorOf = (name: string, i: number): string => COLORS[name] ?? (OTHERS[i % OTHERS.length] as string);

function drawInto(
  node: HTMLElement,
  { at, names, values }: Series,
  bars: boolean,
  format: (v: number) => string,
) {
  const [start = 0, end = 0] = [at[0], at.at(-1)];
  const margin = Math.max(60, (end - start) / Math.max(1, at.length - 1) / 2);
  const time = (value: number): string => stamp(value).slice(...(end - start > 172_800 ? [5, 10] : [11, 16]));
  const axis = { stroke: css('--dim'), grid: { stroke: css('--line'), width: 1 }, ticks: { show: false } };
  // One point makes no line.
  const points = at.length < 3;
  // Bars of later names stand on those of earlier ones, so the sums are drawn from the last name on.
  const sums = bars ? values.map((_, i) => at.map((_, k) => sum(values.slice(0, i + 1), k))) : values;
  const order = names.map((_, i) => (bars ? names.length - 1 - i : i));
  const options: uPlot.Options = {
    ...{ width: node.clientWidth, height: HEIGHT, legend: { show: false }, cursor: { show: false } },
    scales: {
      x: { range: () => [start - margin, end + margin] },
      y: { range: (_, __, max) => [0, Math.max(1, max) * 1.1] },
    },
    axes: [
      { ...axis, space: 70, values: (_, ticks) => ticks.map(time) },
      { ...axis, size: 52, values: (_, ticks) => ticks.map((v) => (Number.isInteger(v) ? format(v) : '')) },
    ],
    series: [
      {},
      ...order.map((i): uPlot.Series => {
        const color = css(colorOf(names[i] as string, i));
        if (bars)
          return {
            stroke: color,
            fill: color,
            paths: UPlot.paths.bars?.({ size: [0.7, 40] }) as never,
            points: { show: false },
          };
        return {
          stroke: color,
          width: 2,
          points: { show: points },
          paths: UPlot.paths.stepped?.({ align: 1 }) as never,
        };
      }),
    ],
  };
  return new UPlot(options, [at, ...order.map((i) => sums[i] as number[])], node);
}

const sum = (lines: readonly number[][], k: number): number =>
  lines.reduce((all, line) => all + (line[k] ?? 0), 0);

const Legend = ({ series: { names } }: { series: Series }) => (
  <figcaption class="legend">
    {names.map((name, i) => (
      <span key={name}>
        <i class={`swatch ${colorOf(name, i).slice(2)}`} /> {name}
      </span>
    ))}
  </figcaption>
);

const stamp = (at: number): string => new Date(at * 1000).toISOString().slice(0, 16).replace('T', ' ');

const Table = ({ series: { at, names, values }, label, format = String }: PlotProps) => (
  <details class="numbers">
    <summary>Numbers</summary>
    <div class="scroll" tabIndex={0} role="region" aria-label={`Numbers: ${label}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">from (UTC)</th>
            {names.map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {at.map((time, k) => (
            <tr key={time}>
              <th scope="row">{stamp(time)}</th>
              {values.map((line, i) => (
                <td key={names[i]}>{format(line[k] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  </details>
);

const READS: [key: string, label: string][] = [
  ['calls', 'reading tool calls'],
  ['exact_repeats', 'asked again, word for word'],
  ['near_repeats', 'asked again in other words'],
  ['avoided', 'repeats avoided'],
  ['stale', 'known, but no longer true'],
];

function Reads({ reads }: { reads: Record<string, number> }) {
  const most = Math.max(1, ...READS.map(([key]) => reads[key] ?? 0));
  if ((reads.calls ?? 0) === 0)
    return <Empty command="forge agent install">No tool call of an agent was seen in this session.</Empty>;
  return (
    <>
      <table class="meters">
        <tbody>
          {READS.map(([key, label]) => (
            <tr key={key}>
              <th scope="row">{label}</th>
              <td class="number">{reads[key] ?? 0}</td>
              <td aria-hidden="true">
                <progress max={most} value={reads[key] ?? 0} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="dim">
        About {(reads.tokens_saved ?? 0).toLocaleString('en')} tokens saved,{' '}
        {(reads.tokens_repeated ?? 0).toLocaleString('en')} read twice.
      </p>
    </>
  );
}

export function Charts() {
  const answer = useAnswer('charts', '/api/charts');
  return (
    <Shown answer={answer}>
      {({ features, cycles, memory, limit, reads }) => {
        const size = memory.values[0]?.at(-1) ?? 0;
        return (
          <div class="grid">
            <Card title="Features over time">
              {features.at.length > 0 ? (
                <Plot series={features} label="How many features there are, and how many pass, over time" />
              ) : (
                <Empty command='forge feature add "First thing to build" --test "COMMAND"'>
                  There are no features yet.
                </Empty>
              )}
            </Card>
            <Card title="Cycles by result">
              {cycles.at.length > 0 ? (
                <Plot series={cycles} label="How many cycles ended with which classification" bars />
              ) : (
                <Empty command="forge memory record --task ID --exit-code 0">No cycle is recorded yet.</Empty>
              )}
            </Card>
            <Card title="Size of memory">
              <p>
                {bytes(size)} of {bytes(limit)}{' '}
                <progress max={limit} value={size} aria-label="Size of memory against its limit" />
              </p>
              {memory.at.length > 0 && (
                <Plot series={memory} label="The size of all records over time" format={bytes} />
              )}
            </Card>
            <Card title="Repeated reads">
              <Reads reads={reads} />
            </Card>
          </div>
        );
      }}
    </Shown>
  );
}
