import { type ComponentChildren, render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import {
  type Answer,
  type Answers,
  isExported,
  linkTo,
  listen,
  useAnswer,
  useLive,
  useRoute,
} from './data.js';
import { FeaturesView, FeatureView } from './features.js';
import { ChainView, KnowledgeView } from './knowledge.js';
import { LedgerView, RecordView } from './ledger.js';
import { FleetView, IssuesView, RecallView, SkillsView, TreeView } from './others.js';
import { OverviewView } from './overview.js';
import { Trouble } from './parts.js';
import { KfrView, SessionsView, SessionView } from './sessions.js';
import './page.css';

type Overview = Answer<Answers['overview']>;
type View = [
  name: string,
  title: string,
  show: (id: string | undefined, overview: Overview) => ComponentChildren,
];

const ALL: View[] = [
  ['overview', 'Overview', (_, overview) => <OverviewView answer={overview} />],
  ['features', 'Features', (id) => (id ? <FeatureView id={id} /> : <FeaturesView />)],
  ['kfr', 'Working memory', () => <KfrView />],
  ['sessions', 'Sessions', (id) => (id ? <SessionView id={id} /> : <SessionsView />)],
  ['knowledge', 'Knowledge', (id) => (id ? <ChainView id={id} /> : <KnowledgeView />)],
  ['ledger', 'Ledger', (id) => (id ? <RecordView id={id} /> : <LedgerView />)],
  ['issues', 'Issues', () => <IssuesView />],
  ['skills', 'Skills', () => <SkillsView />],
  ['tree', 'Files', () => <TreeView />],
  ['recall', 'Recall', (id) => <RecallView key={id} question={id} />],
  ['fleet', 'Fleet', () => <FleetView />],
];
const VIEWS = ALL.filter(([name]) => !isExported || !['recall', 'fleet'].includes(name));

/** Shown to a first-time visitor. */
const ABOUT: Record<string, string> = {
  overview: 'What agents remember about this project, how far the work is, and what it needs from you.',
  features: 'What the project has to do. A feature is proved when forge saw its test pass.',
  kfr: 'What the agent of the running session must keep in mind. It is part of each of its prompts.',
  sessions: 'One entry for each time an agent worked here, from its start to its end.',
  knowledge: 'What was learned, and the evidence for it.',
  ledger: 'Every record that agents and people left. Records cannot be changed or lost unnoticed.',
  issues: 'Tasks, from this project or from Linear.',
  skills: 'Procedures that agents follow here.',
  tree: 'The files of .forge/, which travel with the repository.',
  recall: 'Searches everything that memory holds.',
  fleet: 'Who works on what, on this machine and on others.',
};

const LIVE: Record<ReturnType<typeof useLive>['live'], [label: string, meaning: string]> = {
  live: ['live', 'Changes show by themselves'],
  still: ['not live', 'The folders cannot be watched: reload to see changes'],
  lost: ['not connected', 'The server does not answer'],
  exported: ['a copy', 'Written by forge export html'],
};

const Nav = ({ current }: { current: string }) => (
  <nav aria-label="Views">
    <ul>
      {VIEWS.map(([name, title]) => (
        <li key={name}>
          <a href={linkTo(name)} {...(name === current ? { 'aria-current': 'page' as const } : {})}>
            {title}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);

function Page() {
  const [name = 'overview', id] = useRoute();
  const overview = useAnswer('overview');
  const { live } = useLive();
  const main = useRef<HTMLElement>(null);
  const [current, title, show] = VIEWS.find(([each]) => each === name) ?? (VIEWS[0] as View);
  const { name: project, branch } = overview.data?.project ?? {};
  useEffect(() => {
    document.title = [title, project, 'forge'].filter(Boolean).join(' · ');
  }, [title, project]);
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
          <span class="brand">forge</span> <strong>{project}</strong> {branch && <code>{branch}</code>}
        </p>
        <span class={`live ${live}`} title={LIVE[live][1]}>
          {LIVE[live][0]}
        </span>
      </header>
      <Nav current={current} />
      <main id="main" tabIndex={-1} ref={main}>
        <h1>{title}</h1>
        <p class="dim">{ABOUT[current]}</p>
        <Trouble
          lines={live === 'lost' ? ['The server of this page does not answer. What you see may be old.'] : []}
          hint="forge ui"
        />
        {show(id, overview)}
      </main>
      <footer>This page only reads. Memory changes by the commands that it names.</footer>
    </>
  );
}

const root = document.getElementById('page');
if (root) {
  root.textContent = '';
  render(<Page />, root);
}
listen();
