import { type Answers, isExported, linkTo, useAnswer } from './data.js';
import { Log } from './log.js';
import { MEMORY } from './overview.js';
import { Badge, bytes, Card, Command, Empty, Facts, many, Shown, short, Time, type Tone } from './parts.js';

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
