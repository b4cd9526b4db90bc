import { type ComponentChildren, render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isExported, linkTo, listen, useAnswer, useLive, useRoute } from './data.js';
import { FeaturesView } from './features.js';
import { KnowledgeView } from './knowledge.js';
import { LedgerView } from './ledger.js';
import { FleetView, IssuesView, RecallView, SkillsView, TreeView } from './others.js';
import { OverviewView } from './overview.js';
import { Command } from './parts.js';
import { KfrView, SessionsView } from './sessions.js';
import 'uplot/dist/uPlot.min.css';
import './page.css';

interface View {
  name: string;
  title: string;
  show(id: string | undefined): ComponentChildren;
}

const VIEWS: readonly View[] = [
  { name: 'overview', title: 'Overview', show: () => <OverviewView /> },
  { name: 'features', title: 'Features', show: (id) => <FeaturesView id={id} /> },
  { name: 'kfr', title: 'Working memory', show: () => <KfrView /> },
  { name: 'sessions', title: 'Sessions', show: (id) => <SessionsView id={id} /> },
  { name: 'knowledge', title: 'Knowledge', show: (id) => <KnowledgeView id={id} /> },
  { name: 'ledger', title: 'Ledger', show: (id) => <LedgerView id={id} /> },
  { name: 'issues', title: 'Issues', show: () => <IssuesView /> },
  { name: 'skills', title: 'Skills', show: () => <SkillsView /> },
  { name: 'tree', title: 'Files', show: () => <TreeView /> },
  ...(isExported
    ? []
    : [
        {
          name: 'recall',
          title: 'Recall',
          show: (id: string | undefined) => <RecallView key={id} question={id} />,
        },
        { name: 'fleet', title: 'Fleet', show: () => <FleetView /> },
      ]),
];

const LIVE: Record<ReturnType<typeof useLive>['live'], [label: string, meaning: string]> = {
  live: ['live', 'Changes show by themselves'],
  still: ['not live', 'The folders cannot be watched: reload to see changes'],
  lost: ['connecting …', 'The server does not answer'],
  closed: ['ended', 'The server has ended'],
  exported: ['a copy', 'Written by forge export html'],
};

function Live() {
  const { live, version } = useLive();
  return (
    <>
      <span class={`live ${live}`} title={LIVE[live][1]}>
        {LIVE[live][0]}
      </span>
      <span class="hidden" role="status">
        {version > 0 && `Memory changed, ${version}`}
      </span>
    </>
  );
}

const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

function readTheme(): Theme {
  try {
    return THEMES.find((name) => name === localStorage.getItem('theme')) ?? 'auto';
  } catch {
    return 'auto';
  }
}

function ThemeChoice() {
  const [theme, setTheme] = useState(readTheme());
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem('theme', theme);
    } catch {
      // A file opened from disk may have no storage.
    }
    dispatchEvent(new Event('theme'));
  }, [theme]);
  return (
    <label class="theme">
      <span class="hidden">Colors</span>
      <select value={theme} onChange={(event) => setTheme(event.currentTarget.value as Theme)}>
        {THEMES.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

/** Arrow keys go through the list, as in a menu. */
function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (step === undefined) return;
  const links = [...(event.currentTarget as HTMLElement).querySelectorAll('a')];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  event.preventDefault();
  links[(at + step + links.length) % links.length]?.focus();
}

const Nav = ({ current }: { current: string }) => (
  <nav aria-label="Views">
    <ul onKeyDown={moveFocus}>
      {VIEWS.map(({ name, title }) => (
        <li key={name}>
          <a href={linkTo(name)} {...(name === current ? { 'aria-current': 'page' as const } : {})}>
            {title}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);

const KEYS: [keys: string, what: string][] = [
  ['/', 'search memory'],
  ['1 … 9', 'open a view by its place in the list'],
  ['Tab, arrows', 'go through links, and through the views'],
  ['t', 'light, dark, or as the system has it'],
  ['?', 'show these keys'],
  ['Esc', 'close this'],
];

function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      const { target, key } = event;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
      if (key === '?') dialog.current?.showModal();
      else if (key === 't') nextTheme();
      else if (key === '/' && !isExported) openSearch(event);
      else if (/^[1-9]$/.test(key)) location.hash = linkTo(VIEWS[Number(key) - 1]?.name ?? 'overview');
    };
    addEventListener('keydown', listener);
    return () => removeEventListener('keydown', listener);
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      <dl class="facts">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

function nextTheme(): void {
  const select = document.querySelector<HTMLSelectElement>('.theme select');
  if (!select) return;
  select.selectedIndex = (select.selectedIndex + 1) % THEMES.length;
  select.dispatchEvent(new Event('change', { bubbles: true }));
}

function openSearch(event: KeyboardEvent): void {
  event.preventDefault();
  if (!location.hash.startsWith('#/recall')) location.hash = linkTo('recall');
  // The view is drawn first.
  setTimeout(() => document.getElementById('search')?.focus(), 50);
}

function Closed() {
  const { live } = useLive();
  if (live !== 'closed') return null;
  return (
    <div class="trouble" role="alert">
      <p>The server of this page has ended. What you see does not change any more.</p>
      <Command line="forge ui" />
    </div>
  );
}

function Page() {
  const [name = 'overview', id] = useRoute();
  const { data } = useAnswer('overview', '/api/overview');
  const main = useRef<HTMLElement>(null);
  const view = VIEWS.find((one) => one.name === name) ?? (VIEWS[0] as View);
  const project = data?.project.name;
  useEffect(() => {
    document.title = [view.title, project, 'forge'].filter(Boolean).join(' · ');
  }, [view, project]);
  // A screen reader announces the new view, and Tab goes on inside it.
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
  }, [name, id]);
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the view
      </button>
      <header class="top">
        <p class="project">
          <span class="brand">forge</span> <strong>{project}</strong>{' '}
          {data?.project.branch && <code>{data.project.branch}</code>}
        </p>
        <Live />
        <ThemeChoice />
      </header>
      <Nav current={view.name} />
      <main id="main" tabIndex={-1} ref={main}>
        <h1>{view.title}</h1>
        <Closed />
        {view.show(id)}
      </main>
      <footer>
        <span>This page only reads. Memory changes by the commands that it names.</span> <kbd>?</kbd> shows
        the keys.
      </footer>
      <Keys />
    </>
  );
}

const root = document.getElementById('page');
if (root) {
  root.textContent = '';
  render(<Page />, root);
}
listen();
