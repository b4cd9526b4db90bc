import { type Answers, linkTo } from './data.js';
import { Ask, Badge, Card, Command, Facts, List, many, ShortId, short, Time, type Tone } from './parts.js';

type Known = Answers['knowledge']['known'][number];
type Learning = Answers['knowledge']['learnings'][number];

const KNOWN: Record<Known['status'], [tone: Tone, label: string]> = {
  valid: ['green', 'known'],
  contested: ['yellow', 'contested'],
  invalid: ['red', 'invalid'],
};

function proofOf({ tested, reported, kind }: Known): string {
  if (kind === 'correction') return 'by a person';
  const counts = [
    tested > 0 && `tested in ${many(tested, 'cycle')}`,
    reported > 0 && `reported ${many(reported, 'time')}`,
  ];
  return counts.filter(Boolean).join(', ');
}

export function wordsOf(learning: Learning): string {
  if (learning.kind === 'invariant') return learning.text;
  const rest = learning.kind === 'success' ? [learning.approach] : [learning.issue, learning.resolution];
  return [learning.context, ...rest].filter((word) => word !== '' && word !== 'any task').join(' → ');
}

const RULES: Readonly<Record<string, readonly [tone: Tone, label: string]>> = {
  trusted: ['green', 'approved here'],
  new: ['yellow', 'not approved here'],
};

export const KnowledgeView = () => (
  <Ask route="knowledge">
    {({ known, candidates, learnings, consolidation, rules, notes }) => (
      <>
        <Card title="Rules" aside={<span class="dim">{rules.length}</span>}>
          <List
            items={rules}
            none="No rule for agents yet."
            command='forge learn "TEXT" --as invariant'
            entry={({ text, state }) => ({
              badge: RULES[state] ?? ['yellow', `${state}: forge trust`],
              text,
            })}
          />
        </Card>
        <Card title="Long-term knowledge" aside={<span class="dim">{known.length}</span>}>
          <List
            items={known}
            none={`A pattern becomes knowledge when several cycles show it. The next look is due in ${many(consolidation.due_in, 'evaluated cycle')}.`}
            command='forge learn "TEXT" --as success'
            entry={(one) => ({
              name: one.pattern,
              href: linkTo('knowledge', one.knowledge_id),
              badge: KNOWN[one.status],
              note: `scope ${one.scope}, ${proofOf(one)}`,
            })}
          />
          {consolidation.waits && <p class="trouble">Consolidation waits: {consolidation.waits}</p>}
        </Card>
        <div class="grid">
          <Card title="May become known">
            <List
              items={candidates}
              none="No pattern is on its way."
              entry={({ id, pattern, seen, scope }) => ({
                name: id,
                text: pattern,
                note: `scope ${scope}, seen in ${many(seen, 'cycle')}`,
              })}
            />
            <Command line="forge memory promote" />
          </Card>
          <Card title="Learned">
            <List
              items={learnings.filter(({ kind }) => kind !== 'invariant').reverse()}
              none="Nothing was learned yet."
              entry={(learning) => ({
                badge: learning.kind === 'failure' ? ['red', 'failed'] : ['green', 'worked'],
                text: wordsOf(learning),
                at: 'learned_at' in learning ? learning.learned_at : null,
                note: learning.by === 'agent' && 'by an agent',
              })}
            />
          </Card>
        </div>
        <Card title="Notes" aside={<span class="dim">{notes.length}</span>}>
          <List
            items={notes}
            none="No notes yet."
            command='forge note add "TEXT"'
            entry={({ id, text, at, by, source }) => ({
              name: <code>{short(id)}</code>,
              href: linkTo('ledger', id),
              at,
              text,
              note: [source && `from ${source}`, by && 'by an agent'].filter(Boolean).join(', '),
            })}
          />
        </Card>
      </>
    )}
  </Ask>
);

export const ChainView = ({ id }: { id: string }) => (
  <Ask route="knowledge/:id" given={{ id }}>
    {({ knowledge, records, evidence }) => {
      const [tone, label] = KNOWN[knowledge.status];
      return (
        <>
          <Card title="Fact" aside={<Badge tone={tone}>{label}</Badge>}>
            <p class="lead">{knowledge.pattern}</p>
            <Facts
              rows={[
                ['scope', knowledge.scope],
                ['evidence', proofOf(knowledge)],
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
          <Card title={`Because of ${many(evidence.length, 'cycle')}`}>
            <List
              items={evidence}
              timeline
              entry={({ cycle, task_id, classification, at, commit, file, ...link }) => ({
                name: `cycle ${cycle}: ${task_id}`,
                badge: [classification === 'SUCCESS' ? 'green' : 'yellow', classification],
                at,
                text: link.commands.map((line) => <code key={line}>{line} </code>),
                note: [
                  <span key="evaluation">
                    evaluation <ShortId id={link.evaluation} />
                  </span>,
                  link.execution && (
                    <span key="execution">
                      execution <ShortId id={link.execution} /> exit {link.exit_code}
                    </span>
                  ),
                  <span key="commit">{commit ? `in commit ${short(commit)}` : 'not committed yet'}</span>,
                  file && <code key="file">{file}</code>,
                ],
              })}
            />
          </Card>
        </>
      );
    }}
  </Ask>
);
