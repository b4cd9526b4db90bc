import { useState } from 'preact/hooks';
import { type Answers, isExported, linkTo, useAnswer } from './data.js';
import {
  Ask,
  Badge,
  bytes,
  Card,
  Command,
  type Entry,
  Facts,
  List,
  many,
  ShortId,
  Shown,
  short,
  type Tone,
} from './parts.js';

/** What a verification found, in words. */
export const MEMORY: Record<Answers['overview']['memory']['status'], [tone: Tone, text: string]> = {
  intact: ['green', 'Intact: every record is there and unchanged'],
  removed: ['yellow', 'Records are missing'],
  corrupted: ['red', 'Damaged'],
  halted: ['red', 'Halted until a person decides'],
  secret: ['red', 'Holds a secret that has to be redacted'],
};

type Row = Answers['log']['records'][number];

function toneOf({ exit_code, classification, passed = [], failed = [] }: Row): Tone {
  if ((exit_code ?? 0) > 0 || classification === 'FAILURE' || failed.length > 0) return 'red';
  return exit_code === 0 || classification === 'SUCCESS' || passed.length > 0 ? 'green' : 'neutral';
}

const whatOf = ({ kind, cycle }: Row): string => (kind === 'cycle' ? `cycle ${cycle ?? ''}` : kind);

export const recordEntry = (row: Row): Entry => ({
  name: whatOf(row),
  href: linkTo('ledger', row.id),
  badge: [toneOf(row), row.text],
  at: row.at,
  note: row.tier,
});

const PAGE = 50;

/** All records, a page at a time. An export has the newest ones. */
function Log() {
  const [offset, setOffset] = useState(0);
  const answer = useAnswer('log', { offset, limit: PAGE });
  const hasMore = offset + PAGE < (answer.data?.total ?? 0);
  return (
    <Card title="Log" aside={!isExported && <a href="/api/log.csv">CSV</a>}>
      {!isExported && (
        <p class="row">
          <button type="button" disabled={offset === 0} onClick={() => setOffset(offset - PAGE)}>
            Newer
          </button>
          <button type="button" disabled={!hasMore} onClick={() => setOffset(offset + PAGE)}>
            Older
          </button>
        </p>
      )}
      <Shown answer={answer}>
        {({ records, total }) => (
          <>
            <p class="dim">{many(total, 'record')}, newest first</p>
            <List items={records} entry={recordEntry} />
          </>
        )}
      </Shown>
    </Card>
  );
}

const SIGNED: Record<string, Tone> = { good: 'green', bad: 'red' };

const Checkpoints = () => (
  <Ask route="checkpoints">
    {({ checkpoints }) => (
      <List
        items={checkpoints}
        none="No checkpoint: a verified state to go back to."
        command="forge checkpoint create"
        entry={({ tag, commit, timestamp, features_passing, state, why }) => ({
          name: tag,
          badge: [state === 'ok' ? 'green' : 'red', state],
          at: timestamp,
          text: why,
          note: `${commit?.slice(0, 12)}, ${many(features_passing.length, 'feature')} passing`,
        })}
      />
    )}
  </Ask>
);

const Verification = () => (
  <Ask route="ledger">
    {({ status, problems, notes, tiers, signatures = [] }) => (
      <div class="grid">
        <Card title="Verified just now">
          <p class="lead">
            <Badge tone={MEMORY[status][0]}>{MEMORY[status][1]}</Badge>
          </p>
          <List
            items={problems}
            entry={({ code, message, hint, file, line }) => ({
              name: line > 0 ? `${file}:${line}` : file,
              badge: ['red', code],
              text: message,
              commands: [hint],
            })}
          />
          {notes.map((note) => (
            <p key={note} class="dim">
              {note}
            </p>
          ))}
          <List
            items={tiers}
            entry={({ tier, records, bytes: size, heads }) => ({
              name: tier,
              note: [
                `${many(records, 'record')}, ${bytes(size)}`,
                heads.slice(0, 4).map((head) => <ShortId key={head} id={head} />),
              ],
            })}
          />
        </Card>
        <Card
          title="Signatures"
          aside={<span class="dim">{many(signatures.length, 'commit or tag', 'commits and tags')}</span>}
        >
          <List
            items={signatures.filter(({ status }) => status !== 'none')}
            none="No commit or tag that names ledger heads is signed."
            entry={({ kind, commit, ref, status, signer, heads }) => ({
              name: `${kind} ${ref ?? short(commit)}`,
              badge: [SIGNED[status] ?? 'yellow', status],
              note: `${many(heads, 'head')}${signer ? `, ${signer}` : ''}`,
            })}
          />
        </Card>
        <Card title="Checkpoints">
          <Checkpoints />
        </Card>
      </div>
    )}
  </Ask>
);

export const LedgerView = () => (
  <>
    <Verification />
    <Log />
  </>
);

export const RecordView = ({ id }: { id: string }) => (
  <Ask route="records/:id" given={{ id }}>
    {(entry) => (
      <Card title={`${entry.kind} ${short(entry.id)}`}>
        <Facts
          rows={[
            ['id', entry.id],
            ['session', entry.session && <a href={linkTo('sessions', entry.session)}>{entry.session}</a>],
          ]}
        />
        <pre>{JSON.stringify(entry.record, null, 2)}</pre>
        <Command line={`forge memory show ${short(entry.id)}`} />
      </Card>
    )}
  </Ask>
);
