import { useState } from 'preact/hooks';
import { type Answers, isExported, linkTo, useAnswer } from './data.js';
import { Badge, bytes, Card, Commands, Empty, many, ShortId, Shown, short, Time } from './parts.js';

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
          <Outputs />
        </>
      )}
    </Shown>
  );
}

function Outputs() {
  const answer = useAnswer('artifacts', '/api/artifacts');
  return (
    <Card title="Outputs of the work" wide>
      <Shown answer={answer}>
        {({ artifacts }) =>
          artifacts.length === 0 ? (
            <Empty command="forge artifact add FILE --type reports">No output is kept yet.</Empty>
          ) : (
            <ul class="plain">
              {artifacts.map(({ id, path, type, bytes: size, at, sha256 }) => (
                <li key={id}>
                  {path} <small class="dim">{type}</small>
                  <p class="row dim">
                    {bytes(size)} <code>{short(sha256)}</code> <Time at={at} />
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Card>
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

/** Sources whose ids are those of records. */
const RECORDS = ['execution', 'evaluation', 'knowledge', 'audit', 'note'];

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
                <p>{text}</p>
                <p class="row dim">
                  <Badge tone="accent">{source}</Badge>
                  {typeof doubt === 'string' && <Badge tone="yellow">{doubt}</Badge>}
                  {RECORDS.includes(source) ? <ShortId id={id} /> : <code>{short(id)}</code>}
                  <Time at={at} /> {why.join(', ')}
                </p>
              </li>
            ))}
          </ul>
        </>
      )}
    </Shown>
  );
}

const HEALTH = { working: 'green', idle: 'yellow', lost: 'red', ended: 'neutral' } as const;

export function FleetView() {
  const answer = useAnswer('fleet', '/api/fleet');
  return (
    <Shown answer={answer}>
      {({ source, rows }) => (
        <>
          {source === 'machine' && (
            <p class="dim">Only this machine: events are not set up, or their server is away.</p>
          )}
          {rows.length === 0 ? (
            <Empty {...(isExported ? {} : { command: 'forge start' })}>Nobody is at work.</Empty>
          ) : (
            <FleetTable rows={rows} />
          )}
        </>
      )}
    </Shown>
  );
}

const FleetTable = ({ rows }: Pick<Answers['fleet'], 'rows'>) => (
  <section class="card scroll" tabIndex={0} aria-label="Who works on what">
    <table>
      <thead>
        <tr>
          {['State', 'Host', 'Task', 'Session', 'Branch', 'Since', 'Last event'].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ health, host, place, task, session, branch, since, last }) => (
          <tr key={`${place} ${task}`}>
            <td>
              <Badge tone={HEALTH[health]}>{health}</Badge>
            </td>
            <td>{host}</td>
            <td>{task}</td>
            <td>{session}</td>
            <td>{branch}</td>
            <td>
              <Time at={since} />
            </td>
            <td>
              {last?.type.replace('_', ' ')} <Time at={last?.at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);
