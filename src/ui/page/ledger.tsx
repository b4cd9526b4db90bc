import { type Answers, linkTo } from './data.js';
import { Log } from './log.js';
import { MEMORY } from './overview.js';
import {
  Ask,
  Badge,
  bytes,
  Card,
  Command,
  Detail,
  Facts,
  List,
  many,
  ShortId,
  short,
  Table,
  type Tone,
} from './parts.js';

const SIGNED: Record<string, Tone> = { good: 'green', bad: 'red' };

function Signatures({ signatures }: { signatures: NonNullable<Answers['ledger']['signatures']> }) {
  const signed = signatures.filter(({ status }) => status !== 'none');
  const unsigned = signatures.length - signed.length;
  return (
    <>
      <List
        items={signed}
        entry={({ kind, commit, ref, status, signer, heads }) => ({
          name: `${kind} ${ref ?? short(commit)}`,
          badge: [SIGNED[status] ?? 'yellow', status],
          note: `${many(heads, 'head')}${signer ? `, ${signer}` : ''}`,
        })}
      />
      <p class="dim">
        {signatures.length === 0 && 'No commit or checkpoint names ledger heads yet.'}
        {unsigned > 0 &&
          `${many(unsigned, 'commit or tag', 'commits or tags')} with ledger heads: not signed`}
      </p>
    </>
  );
}

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
    {({ status, problems, notes, tiers, signatures }) => (
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
          <Table
            label="Tiers of the ledger"
            head={['tier', 'records', 'size', 'heads']}
            rows={tiers.map(({ tier, records, bytes: size, heads }) => [
              tier,
              records,
              bytes(size),
              heads.slice(0, 4).map((head) => (
                <span key={head}>
                  <ShortId id={head} />{' '}
                </span>
              )),
            ])}
          />
        </Card>
        <Card title="Signatures">
          <Signatures signatures={signatures ?? []} />
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
  <Detail route="records/:id" id={id} back={['ledger', 'the ledger']}>
    {(entry) => (
      <Card title={`${entry.kind} ${short(entry.id)}`}>
        <Facts
          rows={[
            ['id', entry.id],
            ['tier', entry.tier],
            ['n', entry.n],
            ['at', entry.at],
            ['session', entry.session && <a href={linkTo('sessions', entry.session)}>{entry.session}</a>],
          ]}
        />
        <pre>{JSON.stringify(entry.record, null, 2)}</pre>
        <Command line={`forge memory show ${short(entry.id)}`} />
      </Card>
    )}
  </Detail>
);
