import { useEffect, useRef, useState } from 'preact/hooks';
import { type Answers, ask, isExported, linkTo, useAnswer, useLive } from './data.js';
import { MEMORY } from './overview.js';
import { Badge, bytes, Card, Command, Empty, Facts, many, Shown, short, Time, type Tone } from './parts.js';

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

function Log() {
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

type Ledger = Answers['ledger'];

const Problems = ({ problems }: Pick<Ledger, 'problems'>) => (
  <ul class="plain">
    {problems.slice(0, 50).map(({ code, message, hint, file, line }) => (
      <li key={`${file}${line}${message}`}>
        <Badge tone="red">{code}</Badge> {line > 0 ? `${file}:${line}` : file}
        <p>{message}</p>
        <Command line={hint} />
      </li>
    ))}
  </ul>
);

const Tiers = ({ tiers }: Pick<Ledger, 'tiers'>) => (
  <div class="scroll">
    <table>
      <thead>
        <tr>
          {['tier', 'records', 'size', 'heads'].map((name) => (
            <th scope="col" key={name}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {tiers.map(({ tier, records, bytes: size, heads }) => (
          <tr key={tier}>
            <th scope="row">{tier}</th>
            <td class="number">{records.toLocaleString('en')}</td>
            <td class="number">{bytes(size)}</td>
            <td>
              {heads.slice(0, 4).map((head) => (
                <a key={head} href={linkTo('ledger', head)}>
                  <code>{short(head)}</code>{' '}
                </a>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const SIGNED: Record<string, Tone> = { good: 'green', bad: 'red' };

function Signatures({ signatures = [] }: Pick<Ledger, 'signatures'>) {
  const unsigned = signatures.filter(({ status }) => status === 'none').length;
  if (signatures.length === 0) return <p class="dim">No commit or checkpoint names ledger heads yet.</p>;
  return (
    <>
      <ul class="plain">
        {signatures
          .filter(({ status }) => status !== 'none')
          .slice(0, 10)
          .map(({ kind, commit, ref, status, signer, heads }) => (
            <li key={`${kind}${commit}${ref}`}>
              <Badge tone={SIGNED[status] ?? 'yellow'}>{status}</Badge> {kind}{' '}
              <code>{String(ref ?? short(commit))}</code> {many(heads, 'head')} {String(signer ?? '')}
            </li>
          ))}
      </ul>
      {unsigned > 0 && (
        <p class="dim">{many(unsigned, 'commit or tag', 'commits or tags')} with ledger heads: not signed</p>
      )}
    </>
  );
}

function Checkpoints() {
  const answer = useAnswer('checkpoints', '/api/checkpoints');
  return (
    <Shown answer={answer}>
      {({ checkpoints }) =>
        checkpoints.length === 0 ? (
          <Empty command="forge checkpoint create">No checkpoint: a verified state to go back to.</Empty>
        ) : (
          <ul class="plain">
            {checkpoints.map(({ tag, commit, timestamp, features_passing, state, why }) => (
              <li key={tag}>
                <strong>{tag}</strong> <Badge tone={state === 'ok' ? 'green' : 'red'}>{state}</Badge>{' '}
                <Time at={timestamp} />
                <p class="dim">
                  {commit?.slice(0, 12)}, {many(features_passing.length, 'feature')} passing
                  {why && `: ${why}`}
                </p>
              </li>
            ))}
          </ul>
        )
      }
    </Shown>
  );
}

function Verification() {
  const answer = useAnswer('ledger', '/api/ledger');
  return (
    <Shown answer={answer}>
      {(ledger) => {
        const [tone, text] = MEMORY[ledger.status];
        return (
          <div class="grid">
            <Card title="Verified just now" aside={!isExported && <Again reload={answer.reload} />}>
              <p class="lead">
                <Badge tone={tone}>{text}</Badge>
              </p>
              {ledger.problems.length > 0 && <Problems problems={ledger.problems} />}
              {ledger.notes.map((note) => (
                <p key={note} class="dim">
                  {note}
                </p>
              ))}
              <Tiers tiers={ledger.tiers} />
            </Card>
            <Card title="Signatures">
              <Signatures signatures={ledger.signatures} />
            </Card>
            <Card title="Checkpoints">
              <Checkpoints />
            </Card>
          </div>
        );
      }}
    </Shown>
  );
}

const Again = ({ reload }: { reload: () => void }) => (
  <button type="button" onClick={reload}>
    Verify again
  </button>
);

export function LedgerView({ id }: { id: string | undefined }) {
  if (id !== undefined) return <RecordView id={id} />;
  return (
    <>
      <Verification />
      <Log />
    </>
  );
}

const NAMED = ['id', 'tier', 'n', 'kind', 'at', 'session'];

function RecordView({ id }: { id: string }) {
  const answer = useAnswer('record', `/api/records/${encodeURIComponent(id)}`);
  return (
    <>
      <p>
        <a href={linkTo('ledger')}>‹ the ledger</a>
      </p>
      <Shown answer={answer}>
        {(entry) => (
          <Card title={`${entry.kind} ${short(entry.id)}`} wide>
            <Facts rows={NAMED.map((name) => [name, String(entry[name] ?? '')])} />
            <pre>{JSON.stringify(entry.record, null, 2)}</pre>
            <Command line={`forge memory show ${short(entry.id)}`} />
          </Card>
        )}
      </Shown>
    </>
  );
}
