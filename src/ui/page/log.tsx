import { useState } from 'preact/hooks';
import { type Answers, isExported, linkTo, useAnswer } from './data.js';
import { Badge, Card, type Entry, many, ShortId, Shown, Table, Time, type Tone } from './parts.js';

type Row = Answers['log']['records'][number];

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

/** How many records are shown at once. */
const PAGE = 100;

function Records({ tier, text }: { tier: string; text: string }) {
  const [offset, setOffset] = useState(0);
  const answer = useAnswer('log', { tier, text, offset, limit: PAGE });
  return (
    <>
      {!isExported && (
        <p class="row">
          <button type="button" disabled={offset === 0} onClick={() => setOffset(offset - PAGE)}>
            Newer
          </button>
          <button
            type="button"
            disabled={offset + PAGE >= (answer.data?.total ?? 0)}
            onClick={() => setOffset(offset + PAGE)}
          >
            Older
          </button>
        </p>
      )}
      <Shown answer={answer}>
        {({ records, total }) => (
          <>
            <p class="dim">{many(total, 'record')}, newest first</p>
            <Table
              label="Records of the ledger"
              head={['record', 'what', 'tier', 'when']}
              rows={records.map((row) => [
                <ShortId key="id" id={row.id} />,
                <Badge key="what" tone={toneOf(row)}>
                  {whatOf(row)} {row.text}
                </Badge>,
                row.tier,
                <Time key="when" at={row.at} />,
              ])}
            />
          </>
        )}
      </Shown>
    </>
  );
}

/** All records, a page at a time. An export has the newest ones. */
export function Log() {
  const [tier, setTier] = useState('');
  const [text, setText] = useState('');
  const query = new URLSearchParams({ ...(tier && { tier }), ...(text && { text }) }).toString();
  return (
    <Card title="Log" aside={!isExported && <a href={`/api/log.csv?${query}`}>CSV</a>}>
      {!isExported && (
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
      )}
      <Records key={query} tier={tier} text={text} />
    </Card>
  );
}
