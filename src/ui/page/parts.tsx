import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { describeAge } from '../../core/clock.js';
import { type Answer, type Answers, type Given, linkTo, useAnswer } from './data.js';

export type Tone = 'neutral' | 'green' | 'yellow' | 'red' | 'accent';

export const short = (id: string): string => id.slice(0, 12);

export function bytes(size: number): string {
  if (size < 10_000) return `${size.toLocaleString('en')} B`;
  return size < 10_000_000
    ? `${Math.round(size / 1000)} KB`
    : `${(size / 1_000_000).toFixed(size < 100_000_000 ? 1 : 0)} MB`;
}

export const many = (count: number, word: string, words = `${word}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? word : words}`;

/** The commands that forge names, as a person types them. */
export function Command({ line }: { line: string }) {
  const [copied, setCopied] = useState(false);
  const [typed = '', note] = line.split(/\s+# /);
  const copy = async () => {
    // A page that is not on this machine has no clipboard.
    if (!navigator.clipboard) return;
    await navigator.clipboard.writeText(typed);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <>
      <span class="command">
        <code>{typed}</code>
        <button type="button" onClick={copy} aria-label={`Copy ${typed}`}>
          {copied ? 'copied' : 'copy'}
        </button>
      </span>
      {note && <small class="dim">{note}</small>}
    </>
  );
}

export const Commands = ({ lines }: { lines: readonly string[] }) =>
  lines.length === 0 ? null : (
    <div class="commands">
      {lines.map((line) => (
        <Command key={line} line={line} />
      ))}
    </div>
  );

/** The mark has a shape of its own for each tone, beside its color. */
const MARKS: Record<Tone, string> = { neutral: '·', green: '✓', yellow: '!', red: '✗', accent: '›' };

export const Badge = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>
    <span aria-hidden="true">{MARKS[tone]}</span> {children}
  </span>
);

export const Time = ({ at }: { at: string | null | undefined }) =>
  at ? (
    <time dateTime={at} title={at}>
      {describeAge(at, new Date()) ?? at.slice(0, 10)}
    </time>
  ) : null;

interface EmptyProps {
  children: ComponentChildren;
  /** What a person could type to change that. */
  command?: string | undefined;
}

export const Empty = ({ children, command }: EmptyProps) => (
  <div class={command ? 'empty' : 'dim'}>
    <p>{children}</p>
    {command && <Command line={command} />}
  </div>
);

interface CardProps {
  title: string;
  children: ComponentChildren;
  aside?: ComponentChildren;
}

export const Card = ({ title, children, aside }: CardProps) => {
  const id = `card-${title.replace(/\W+/g, '-').toLowerCase()}`;
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
};

interface TroubleProps {
  lines: readonly string[];
  /** Commands to type, one a line. */
  hint?: string | undefined;
}

/** What is wrong, so that nobody overlooks it; nothing without a line. */
export const Trouble = ({ lines, hint }: TroubleProps) =>
  lines.length === 0 ? null : (
    <div class="trouble" role="alert">
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
      <Commands lines={hint?.split('\n') ?? []} />
    </div>
  );

interface ShownProps<T> {
  answer: Answer<T>;
  children: (data: T) => ComponentChildren;
}

/** Shows the data, the problem, or that the data is loading. */
export function Shown<T>({ answer: { data, problem }, children }: ShownProps<T>) {
  if (problem) return <Trouble lines={[problem.message]} hint={problem.hint} />;
  if (data === null) return <p class="dim loading">Reading memory …</p>;
  return <>{children(data)}</>;
}

interface AskProps<P extends keyof Answers> extends Pick<ShownProps<Answers[P]>, 'children'> {
  route: P;
  given?: Given;
}

export const Ask = <P extends keyof Answers>({ route, given, children }: AskProps<P>) => (
  <Shown answer={useAnswer(route, given)}>{children}</Shown>
);

/** What a list shows of one thing. Everything that is missing is left out. */
export interface Entry {
  name?: ComponentChildren;
  href?: string | undefined;
  badge?: readonly [tone: Tone, text: ComponentChildren] | undefined;
  at?: string | null | undefined;
  text?: ComponentChildren;
  /** Less important, on a line of its own. */
  note?: ComponentChildren;
  commands?: readonly string[];
}

const EntryView = ({ name, href, badge, at, text, note, commands = [] }: Entry) => (
  <>
    <p class="row">
      {name && (href ? <a href={href}>{name}</a> : <strong>{name}</strong>)}
      {badge && <Badge tone={badge[0]}>{badge[1]}</Badge>}
      {at && (
        <small class="dim">
          <Time at={at} />
        </small>
      )}
    </p>
    {text && <p class="text">{text}</p>}
    {note && <p class="row dim">{note}</p>}
    <Commands lines={commands} />
  </>
);

interface ListProps<T> {
  items: readonly T[];
  /** Shown instead of an empty list, with a command that would fill it. */
  none?: string;
  command?: string;
  entry: (item: T) => Entry;
  /** The list is drawn along a line of time. */
  timeline?: boolean;
}

const FIRST = 50;

export function List<T>({ items, none, command, entry, timeline = false }: ListProps<T>) {
  const [all, setAll] = useState(false);
  if (items.length === 0) return none ? <Empty command={command}>{none}</Empty> : null;
  const shown = (all ? items : items.slice(0, FIRST)).map(entry);
  return (
    <>
      <ul class={timeline ? 'timeline' : 'plain'}>
        {shown.map((one, i) => (
          <li key={i}>
            <EntryView {...one} />
          </li>
        ))}
      </ul>
      {items.length > shown.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show {items.length - shown.length} more
        </button>
      )}
    </>
  );
}

interface FactsProps {
  /** An array holds what a person would type, one a line. */
  rows: readonly (readonly [name: string, value: ComponentChildren | readonly string[]])[];
}

/** Rows of a name and its value; empty values are left out. */
export const Facts = ({ rows }: FactsProps) => (
  <dl class="facts">
    {rows
      .filter(([, value]) => value && !(Array.isArray(value) && value.length === 0))
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {Array.isArray(value)
              ? value.map((line) => (
                  <code key={line} class="line">
                    {line}
                  </code>
                ))
              : value}
          </dd>
        </div>
      ))}
  </dl>
);

/** A record by the start of its id, with a link to it. */
export const ShortId = ({ id }: { id: string }) => (
  <a href={linkTo('ledger', id)}>
    <code>{short(id)}</code>
  </a>
);
