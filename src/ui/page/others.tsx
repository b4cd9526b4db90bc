import { useState } from 'preact/hooks';
import { type Answers, linkTo } from './data.js';
import { Ask, bytes, Card, List, many, ShortId, Time, Trouble } from './parts.js';

type Node = Answers['tree'];

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
  return (
    <li>
      <details open={depth < 3 && node.children.length <= 30}>
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

export const TreeView = () => (
  <>
    <p class="row">
      {FOLDERS.map(([kind, , what]) => (
        <span key={kind}>
          <Icon kind={kind} /> {kind} <small class="dim">{what}</small>
        </span>
      ))}
    </p>
    <Card title="Folders">
      <Ask route="tree">
        {(tree) => (
          <ul class="tree">
            <Branch node={tree} depth={0} />
          </ul>
        )}
      </Ask>
    </Card>
  </>
);

export const SkillsView = () => (
  <Ask route="skills">
    {({ skills, warnings }) => (
      <>
        <Trouble lines={warnings} />
        <Card title="Skills">
          <List
            items={skills}
            none="A skill is a procedure that agents follow."
            command="forge skill new release --description 'How a release is made'"
            entry={({ name, description, version, approved, requires }) => ({
              name: `${name} ${version ?? ''}`,
              badge: approved ? ['green', 'approved'] : ['yellow', 'not approved here'],
              text: description,
              note: requires.length > 0 && `needs ${requires.join(', ')}`,
              commands: approved ? [] : ['forge trust'],
            })}
          />
        </Card>
      </>
    )}
  </Ask>
);

export const IssuesView = () => (
  <Ask route="issues">
    {({ issues, done, without_commits }) => (
      <Card title="Active issues">
        <List
          items={issues}
          none="There are no active issues. They work offline, and with Linear."
          command="forge linear new --template bug"
          entry={({ linear_id, title, type, state }) => ({
            name: linear_id,
            badge: [state === 'started' ? 'accent' : 'neutral', state],
            text: title,
            note: without_commits.includes(linear_id) ? `${type}, started, and no commit names it` : type,
          })}
        />
        {done.length > 0 && <p class="dim">Done: {done.slice(0, 50).join(', ')}</p>}
      </Card>
    )}
  </Ask>
);

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

const TIERS = ['execution', 'evaluation', 'knowledge', 'audit', 'note'];

/** A hit of a session, of its log or its working memory leads to the session. */
function hitLink(source: string, id: string, session: string | null): string | undefined {
  if (TIERS.includes(source)) return undefined;
  if (source === 'feature') return linkTo('features', id);
  return session === null ? undefined : linkTo('sessions', session);
}

const Hits = ({ question }: { question: string }) => (
  <Ask route="recall" given={{ q: question }}>
    {({ hits, index, took_ms }) => (
      <>
        <p class="dim" role="status">
          {many(hits.length, 'hit')} in {many(index.records, 'document')}, {took_ms} ms
        </p>
        <List
          items={hits}
          entry={({ id, source, session, text, at, why, doubt }) => ({
            name: TIERS.includes(source) ? <ShortId id={id} /> : id,
            href: hitLink(source, id, session),
            badge: doubt ? ['yellow', `${source}, ${doubt}`] : ['accent', source],
            at,
            text,
            note: why.join(', '),
          })}
        />
      </>
    )}
  </Ask>
);

const HEALTH = { working: 'green', idle: 'yellow', lost: 'red', ended: 'neutral' } as const;

export const FleetView = () => (
  <Ask route="fleet">
    {({ source, rows }) => (
      <>
        {source === 'machine' && (
          <p class="dim">
            Only this machine: events are not set up or not approved, or their server is away.
          </p>
        )}
        <Card title="Who works on what">
          <List
            items={rows}
            none="Nobody is at work."
            command="forge start"
            entry={({ health, host, task, session, branch, since, last }) => ({
              name: task ?? session ?? host,
              badge: [HEALTH[health], health],
              at: since,
              text: [host, session, branch && `on ${branch}`].filter(Boolean).join(', '),
              note: last && [last.type.replace('_', ' '), ' ', <Time key="last" at={last.at} />],
            })}
          />
        </Card>
      </>
    )}
  </Ask>
);
