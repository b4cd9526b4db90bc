import { useRef, useState } from 'preact/hooks';
import { type Answers, isExported, linkTo, useAnswer } from './data.js';
import { Card, type Entry, many, short, Time, type Tone, Trouble } from './parts.js';

type Row = Answers['log']['records'][number];

/** Pixels of a row, and how many rows are asked for before and after the first in sight. */
const ROW = 34;
const AROUND = 100;
export const TIERS = ['execution', 'evaluation', 'knowledge', 'audit', 'note'];

function toneOf({ exit_code, classification, passed = [], failed = [] }: Row): Tone {
  if ((exit_code ?? 0) > 0 || classification === 'FAILURE' || failed.length > 0) return 'red';
  return exit_code === 0 || classification === 'SUCCESS' || passed.length > 0 ? 'green' : 'neutral';
}

const whatOf = ({ kind, cycle }: Row): string => (kind === 'cycle' ? `cycle ${cycle ?? ''}` : kind);

/** A record as one of a short list. */
export const recordEntry = (row: Row): Entry => ({
  name: whatOf(row),
  href: linkTo('ledger', row.id),
  badge: [toneOf(row), row.text],
  at: row.at,
  note: row.tier,
});

const Cells = ({ row }: { row: Row }) => (
  <>
    <span role="cell" class="when">
      <Time at={row.at} />
    </span>
    <span role="cell" class="tier">
      {row.tier}
    </span>
    <span role="cell" class="what">
      <a href={linkTo('ledger', row.id)} title={row.text}>
        <i class={`dot ${toneOf(row)}`} aria-hidden="true" />
        {whatOf(row)} {row.text}
      </a>
    </span>
    <span role="cell" class="id">
      <code>{short(row.id)}</code>
    </span>
  </>
);

/** Only the rows in sight exist, so a list of 100,000 costs what 30 cost. */
function LogList({ tier, text }: { tier: string; text: string }) {
  const place = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const offset = Math.max(0, Math.floor(first / AROUND - 0.5) * AROUND);
  const { data, problem } = useAnswer('log', { tier, text, offset, limit: 3 * AROUND });
  // While the next rows are on their way, the last ones stay.
  const last = useRef(data);
  last.current = data ?? last.current;
  const { records, total, offset: start } = last.current ?? { records: [], total: 0, offset: 0 };
  const visible = Math.ceil((place.current?.clientHeight ?? 480) / ROW) + 2;
  const shown = Array.from({ length: Math.max(0, Math.min(visible, total - first)) }, (_, i) => first + i);
  return (
    <>
      <Trouble lines={problem ? [problem.message] : []} hint={problem?.hint} />
      <p class="dim" aria-live="polite">
        {many(total, 'record')}, newest first
      </p>
      <div
        class="log"
        role="table"
        aria-label="Records of the ledger"
        aria-rowcount={total}
        tabIndex={0}
        ref={place}
        onScroll={(event) => setFirst(Math.floor(event.currentTarget.scrollTop / ROW))}
      >
        <div role="rowgroup" class="inner" style={{ height: `${total * ROW}px` }}>
          {shown.map((n) => {
            const row = records[n - start];
            return (
              <div role="row" aria-rowindex={n + 1} class="logrow" key={n} style={{ top: `${n * ROW}px` }}>
                {row ? <Cells row={row} /> : <span role="cell">…</span>}
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}

export function Log() {
  const [tier, setTier] = useState('');
  const [text, setText] = useState('');
  const query = new URLSearchParams({ ...(tier && { tier }), ...(text && { text }) }).toString();
  return (
    <Card title="Log" wide aside={!isExported && <a href={`/api/log.csv?${query}`}>CSV</a>}>
      <p class="row">
        <label>
          Tier{' '}
          <select value={tier} onChange={(event) => setTier(event.currentTarget.value)}>
            <option value="">all</option>
            {TIERS.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Text{' '}
          <input
            type="search"
            value={text}
            onInput={(event) => setText(event.currentTarget.value.slice(0, 100))}
          />
        </label>
      </p>
      <LogList key={query} tier={tier} text={text} />
    </Card>
  );
}
