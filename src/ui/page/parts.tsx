import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Answer, linkTo, type Problem } from './data.js';

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

export const Commands = ({ lines }: { lines: readonly string[] }) => (
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

const UNITS: [limit: number, size: number, name: string][] = [
  [60, 1, 's'],
  [3600, 60, 'min'],
  [172_800, 3600, 'h'],
  [5_184_000, 86_400, 'days'],
];

function ageOf(at: string): string {
  const age = Math.floor((Date.now() - Date.parse(at)) / 1000);
  const unit = UNITS.find(([limit]) => age < limit);
  if (Number.isNaN(age) || age < -60 || !unit) return at.slice(0, 10);
  return age < 60 ? 'just now' : `${Math.floor(age / unit[1])} ${unit[2]} ago`;
}

export const Time = ({ at }: { at: string | null | undefined }) =>
  at ? (
    <time dateTime={at} title={at}>
      {ageOf(at)}
    </time>
  ) : null;

export const Empty = ({ children, command }: { children: ComponentChildren; command?: string }) => (
  <div class="empty">
    <p>{children}</p>
    {command && <Command line={command} />}
  </div>
);

interface CardProps {
  title: string;
  children: ComponentChildren;
  aside?: ComponentChildren;
  wide?: boolean;
}

export const Card = ({ title, children, aside, wide }: CardProps) => {
  const id = `card-${title.replace(/\W+/g, '-').toLowerCase()}`;
  return (
    <section class={wide ? 'card wide' : 'card'} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
};

export const Trouble = ({ problem }: { problem: Problem }) => (
  <div class="trouble" role="alert">
    <p>{problem.message}</p>
    {problem.hint && <Commands lines={problem.hint.split('\n')} />}
  </div>
);

/** What an answer shows: itself, why there is none, or that it is on its way. */
export function Shown<T>({
  answer,
  children,
}: {
  answer: Answer<T>;
  children: (data: T) => ComponentChildren;
}) {
  if (answer.problem) return <Trouble problem={answer.problem} />;
  if (answer.data === null) return <p class="dim loading">Reading memory …</p>;
  return <>{children(answer.data)}</>;
}

/** Rows of a name and its value; empty values are left out. */
export const Facts = ({ rows }: { rows: readonly (readonly [name: string, value: ComponentChildren])[] }) => (
  <dl class="facts">
    {rows
      .filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
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
