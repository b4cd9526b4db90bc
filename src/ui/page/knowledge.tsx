import { type Answers, linkTo, useAnswer } from './data.js';
import { Badge, Card, Command, Empty, Facts, many, ShortId, Shown, short, Time, type Tone } from './parts.js';

type Known = Answers['knowledge']['known'][number];

const KNOWN: Record<Known['status'], [tone: Tone, label: string]> = {
  valid: ['green', 'known'],
  contested: ['yellow', 'contested'],
  invalid: ['red', 'invalid'],
  unproven: ['neutral', 'its evidence is not here'],
};

function Proof({ tested, reported, kind }: Known) {
  if (kind === 'correction') return <>by a person</>;
  const parts = [
    ...(tested > 0 ? [`tested in ${many(tested, 'cycle')}`] : []),
    ...(reported > 0 ? [`reported ${many(reported, 'time')}`] : []),
  ];
  return <>{parts.join(', ')}</>;
}

export function KnowledgeView({ id }: { id: string | undefined }) {
  const answer = useAnswer('knowledge', '/api/knowledge');
  if (id !== undefined) return <ChainView id={id} />;
  return (
    <Shown answer={answer}>
      {({ known, candidates, learnings, consolidation }) => (
        <>
          <Card title="Proven" wide aside={<span class="dim">{known.length}</span>}>
            {known.length === 0 ? (
              <Empty command='forge learn "TEXT"'>
                A pattern becomes knowledge when several cycles show it. The next look is due in{' '}
                {many(consolidation.due_in, 'evaluated cycle')}.
              </Empty>
            ) : (
              <ul class="plain">
                {known.map((entry) => {
                  const [tone, label] = KNOWN[entry.status];
                  return (
                    <li key={entry.knowledge_id}>
                      <a class="tile" href={linkTo('knowledge', entry.knowledge_id)}>
                        <Badge tone={tone}>{label}</Badge> {entry.pattern}
                        <small class="dim">
                          {entry.scope}, <Proof {...entry} />
                        </small>
                      </a>
                    </li>
                  );
                })}
              </ul>
            )}
            {consolidation.waits && <p class="trouble">Consolidation waits: {consolidation.waits}</p>}
          </Card>
          <div class="grid">
            <Card title="May become known">
              {candidates.length === 0 ? (
                <p class="dim">No pattern is on its way.</p>
              ) : (
                <ul class="plain">
                  {candidates.map(({ id: candidate, pattern, seen, scope }) => (
                    <li key={candidate}>
                      <strong>{candidate}</strong> {pattern}
                      <p class="dim">
                        {scope}, seen in {many(seen, 'cycle')}
                      </p>
                    </li>
                  ))}
                </ul>
              )}
              <Command line="forge memory promote" />
            </Card>
            <Learnings title="What worked" kind="success" learnings={learnings} />
            <Learnings title="What failed" kind="failure" learnings={learnings} />
            <Learnings title="Invariants" kind="invariant" learnings={learnings} />
          </div>
        </>
      )}
    </Shown>
  );
}

type Learning = Answers['knowledge']['learnings'][number];

const words = (learning: Learning): string =>
  [learning.context, learning.issue, learning.approach, learning.resolution, learning.text]
    .filter((word) => typeof word === 'string' && word !== '' && word !== 'any task')
    .join(' → ');

function Learnings({
  title,
  kind,
  learnings,
}: {
  title: string;
  kind: string;
  learnings: readonly Learning[];
}) {
  const own = learnings.filter((learning) => learning.kind === kind);
  return (
    <Card title={title} aside={<span class="dim">{own.length}</span>}>
      {own.length === 0 && <p class="dim">None yet.</p>}
      <ul class="plain">
        {own.slice(-100).map((learning) => (
          <li key={learning.id}>
            <p class="text">{words(learning)}</p>
            <small class="dim">
              {typeof learning.learned_at === 'string' && <Time at={learning.learned_at} />}
              {learning.by === 'agent' && ', by an agent'}
            </small>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function ChainView({ id }: { id: string }) {
  const answer = useAnswer('chain', `/api/knowledge/${encodeURIComponent(id)}`);
  return (
    <>
      <p>
        <a href={linkTo('knowledge')}>‹ all knowledge</a>
      </p>
      <Shown answer={answer}>
        {({ knowledge, records, evidence }) => {
          const [tone, label] = KNOWN[knowledge.status];
          return (
            <>
              <Card title="Fact" wide aside={<Badge tone={tone}>{label}</Badge>}>
                <p class="lead">{knowledge.pattern}</p>
                <Facts
                  rows={[
                    ['scope', knowledge.scope],
                    ['evidence', <Proof key="proof" {...knowledge} />],
                    ['since', <Time key="since" at={knowledge.created_at} />],
                    ['id', knowledge.knowledge_id],
                  ]}
                />
                <p class="row">
                  {records.map((record) => (
                    <span key={record.id}>
                      {record.kind} <ShortId id={record.id} />
                    </span>
                  ))}
                </p>
              </Card>
              <Card title={`Because of ${many(evidence.length, 'cycle')}`} wide>
                <ol class="timeline">
                  {evidence.map((link) => (
                    <li key={link.evaluation} class={link.classification === 'SUCCESS' ? 'green' : 'yellow'}>
                      <strong>cycle {link.cycle}</strong> {link.task_id}{' '}
                      <Badge tone="accent">{link.classification}</Badge> <Time at={link.at} />
                      <p class="row dim">
                        <span>
                          evaluation <ShortId id={link.evaluation} />
                        </span>
                        {link.execution && (
                          <span>
                            execution <ShortId id={link.execution} /> exit {link.exit_code}
                          </span>
                        )}
                        {link.commands.map((line) => (
                          <code key={line}>{line}</code>
                        ))}
                      </p>
                      <p class="dim">
                        {link.commit ? (
                          <>
                            in commit <code>{short(link.commit)}</code>
                          </>
                        ) : (
                          'not committed yet'
                        )}
                        {link.file && (
                          <>
                            , file <code>{link.file}</code>
                          </>
                        )}
                      </p>
                    </li>
                  ))}
                </ol>
              </Card>
            </>
          );
        }}
      </Shown>
    </>
  );
}
