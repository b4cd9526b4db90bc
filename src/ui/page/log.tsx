import { useEffect, useRef, useState } from 'preact/hooks';
import { type Answers, ask, isExported, linkTo, useLive } from './data.js';
import { Card, many, short, Time, type Tone } from './parts.js';

type Row = Answers['log']['records'][number];

const ROW = 34;
const PAGE = 100;
const TIERS = ['execution', 'evaluation', 'knowledge', 'audit', 'note'];

const toneOf = ({ exit_code, classification }: Row): Tone =>
  exit_code === 0 || classification === 'SUCCESS'
    ? 'green'
    : (exit_code ?? 0) > 0 || classification === 'FAILURE'
      ? 'red'
      : 'neutral';

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
        {row.kind === 'cycle' ? `cycle ${row.cycle ?? ''}` : row.kind} {row.text}
      </a>
    </span>
    <span role="cell" class="id">
      <code>{short(row.id)}</code>
    </span>
  </>
);

/** A short list of records. */
export function RowList({ rows, none }: { rows: readonly Row[]; none: string }) {
  if (rows.length === 0) return <p class="dim">{none}</p>;
  return (
    <div class="rows" role="table" aria-label="Records">
      {rows.map((row) => (
        <div role="row" class="logrow" key={row.id}>
          <Cells row={row} />
        </div>
      ))}
    </div>
  );
}

/** Pages of the log that were fetched, for one choice of rows and one version of memory. */
interface Pages {
  key: string;
  total: number;
  rows: Map<number, Row>;
}

/** Only the rows in sight exist, so a list of 100,000 costs what 30 cost. */
function LogList({ query }: { query: string }) {
  const { version } = useLive();
  const place = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const key = `${query} ${version}`;
  const [pages, setPages] = useState<Pages>({ key: '', total: 0, rows: new Map() });
  const current = pages.key === key ? pages : { ...pages, rows: new Map<number, Row>() };
  const visible = Math.ceil((place.current?.clientHeight ?? 480) / ROW) + 2;
  const asked = useRef(new Set<string>());

  useEffect(() => {
    const wanted = [first, first + visible].map((row) => Math.floor(row / PAGE) * PAGE);
    for (const offset of new Set(wanted)) {
      const address = `/api/log?${query}&offset=${offset}&limit=${PAGE}`;
      const once = `${key} ${offset}`;
      if (asked.current.has(once)) continue;
      asked.current.add(once);
      ask<'log'>(address).then(
        ({ records, total }) =>
          setPages((before) => {
            const rows = new Map(before.key === key ? before.rows : []);
            for (const [i, row] of records.entries()) rows.set(offset + i, row);
            return { key, total, rows };
          }),
        () => asked.current.delete(once),
      );
    }
  }, [key, query, first, visible]);

  const shown = Array.from(
    { length: Math.max(0, Math.min(visible, pages.total - first)) },
    (_, i) => first + i,
  );
  return (
    <>
      <p class="dim" aria-live="polite">
        {many(pages.total, 'record')}, newest first
      </p>
      <div
        class="log"
        role="table"
        aria-label="Records of the ledger"
        aria-rowcount={pages.total}
        tabIndex={0}
        ref={place}
        onScroll={(event) => setFirst(Math.floor(event.currentTarget.scrollTop / ROW))}
      >
        <div role="rowgroup" class="inner" style={{ height: `${pages.total * ROW}px` }}>
          {shown.map((n) => {
            const row = current.rows.get(n) ?? pages.rows.get(n);
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
      <LogList key={query} query={query} />
    </Card>
  );
}
