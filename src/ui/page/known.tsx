import { useState } from 'preact/hooks';
import { type Answers, isExported, linkTo, useAnswer } from './data.js';
import {
  Badge,
  bytes,
  Card,
  Command,
  Commands,
  Empty,
  Facts,
  many,
  Shown,
  short,
  Time,
  type Tone,
} from './parts.js';
import { ShortId } from './work.js';

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

type Node = { name: string; kind: string; bytes?: number; children?: Node[]; more?: number };

/** RFC-9060 §8.2 */
const FOLDERS: [kind: string, color: string, what: string][] = [
  ['long-term', '#4CAF50', 'persistent'],
  ['short-term', '#2196F3', 'active'],
  ['artifacts', '#9C27B0', 'outputs'],
  ['linear', '#FF9800', 'tasks'],
  ['git', '#607D8B', 'history'],
];

const Icon = ({ kind }: { kind: string }) => (
  <svg viewBox="0 0 16 14" width="16" height="14" aria-hidden="true" class="folder">
    <path
      d="M1 2a1 1 0 0 1 1-1h4l2 2h6a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H2a1 1 0 0 1-1-1z"
      fill={FOLDERS.find(([name]) => name === kind)?.[1] ?? '#9aa5b1'}
    />
  </svg>
);

function Branch({ node, depth }: { node: Node; depth: number }) {
  if (!node.children)
    return (
      <li class="leaf">
        {node.name} <small class="dim">{bytes(node.bytes ?? 0)}</small>
      </li>
    );
  const isFull = node.children.length > 30;
  return (
    <li>
      <details open={depth < 3 && !isFull}>
        <summary>
          <Icon kind={node.kind} /> {node.name}
          <small class="dim"> {node.kind !== 'other' && node.kind}</small>
        </summary>
        <ul>
          {node.children.map((child) => (
            <Branch key={child.name} node={child} depth={depth + 1} />
          ))}
          {node.more !== undefined && <li class="dim">{node.more} more</li>}
        </ul>
      </details>
    </li>
  );
}

export function TreeView() {
  const answer = useAnswer('tree', '/api/tree');
  return (
    <Shown answer={answer}>
      {(tree) => (
        <>
          <p class="row">
            {FOLDERS.map(([kind, , what]) => (
              <span key={kind}>
                <Icon kind={kind} /> {kind} <small class="dim">{what}</small>
              </span>
            ))}
          </p>
          <Card title="Folders" wide>
            <ul class="tree">
              <Branch node={tree as Node} depth={0} />
            </ul>
          </Card>
        </>
      )}
    </Shown>
  );
}

export function SkillsView() {
  const answer = useAnswer('skills', '/api/skills');
  return (
    <Shown answer={answer}>
      {({ skills, warnings }) => (
        <>
          {warnings.map((text) => (
            <p class="trouble" key={text}>
              {text}
            </p>
          ))}
          {skills.length === 0 ? (
            <Empty command="forge skill new release --description 'How a release is made'">
              A skill is a procedure that agents follow.
            </Empty>
          ) : (
            <Card title="Skills" wide>
              <ul class="plain">
                {skills.map(({ name, description, version, approved, requires }) => (
                  <li key={name}>
                    <strong>{name}</strong> {version}{' '}
                    <Badge tone={approved ? 'green' : 'yellow'}>
                      {approved ? 'approved' : 'not approved here'}
                    </Badge>
                    <p class="text">{description}</p>
                    {requires.length > 0 && <p class="dim">needs {requires.join(', ')}</p>}
                    {!approved && <Commands lines={[`forge skill show ${name}`, 'forge trust']} />}
                  </li>
                ))}
              </ul>
            </Card>
          )}
        </>
      )}
    </Shown>
  );
}

export function IssuesView() {
  const answer = useAnswer('issues', '/api/issues');
  return (
    <Shown answer={answer}>
      {({ issues, done, without_commits }) =>
        issues.length + done.length === 0 ? (
          <Empty command="forge linear new --template bug">
            There are no issues. They work offline, and with Linear.
          </Empty>
        ) : (
          <Card title="Active issues" wide>
            <ul class="plain">
              {issues.map(({ linear_id, title, type, state }) => (
                <li key={linear_id}>
                  <strong>{linear_id}</strong> {title}{' '}
                  <Badge tone={state === 'started' ? 'accent' : 'neutral'}>{state}</Badge>{' '}
                  <small class="dim">{type}</small>
                  {without_commits.includes(linear_id) && <p class="dim">started, and no commit names it</p>}
                </li>
              ))}
            </ul>
            {done.length > 0 && <p class="dim">Done: {done.slice(0, 50).join(', ')}</p>}
          </Card>
        )
      }
    </Shown>
  );
}

/** The search runs when it is asked to, not with each key. */
export function RecallView({ question }: { question: string | undefined }) {
  const [text, setText] = useState(question ?? '');
  return (
    <>
      <form
        role="search"
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          location.hash = linkTo('recall', text.trim());
        }}
      >
        <label class="grow">
          Ask memory{' '}
          <input
            id="search"
            type="search"
            value={text}
            maxLength={500}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Search</button>
      </form>
      {question ? (
        <Hits question={question} />
      ) : (
        <p class="dim">For example: what did we learn about login</p>
      )}
    </>
  );
}

function Hits({ question }: { question: string }) {
  const answer = useAnswer('recall', `/api/recall?q=${encodeURIComponent(question)}`);
  return (
    <Shown answer={answer}>
      {({ hits, index, took_ms }) => (
        <>
          <p class="dim" role="status">
            {many(hits.length, 'hit')} in {many(index.records, 'document')}, {took_ms} ms
          </p>
          <ul class="plain hits">
            {hits.map(({ id, source, text, at, why, doubt }) => (
              <li key={`${source}${id}`} class="card">
                <p class="text">{text}</p>
                <p class="row dim">
                  <Badge tone="accent">{source}</Badge>
                  {typeof doubt === 'string' && <Badge tone="yellow">{doubt}</Badge>}
                  <code>{short(id)}</code> <Time at={at} /> {why.join(', ')}
                </p>
              </li>
            ))}
          </ul>
        </>
      )}
    </Shown>
  );
}

export function FleetView() {
  const answer = useAnswer('fleet', '/api/fleet');
  return (
    <Shown answer={answer}>
      {({ set_up, command }) =>
        set_up ? null : (
          <Empty {...(isExported ? {} : { command })}>
            No events of other machines arrive here: NATS is not set up for this project.
          </Empty>
        )
      }
    </Shown>
  );
}
