import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { TOPICS } from '../../src/cli/about.js';
import { GROUPS, inFull } from '../../src/cli/groups.js';
import { type CommandSpec, flagOf, GLOBAL_OPTIONS, HELP_OPTION, optionsOf } from '../../src/cli/spec.js';
import { DEFAULTS, TABLE_NAMES } from '../../src/project/config.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const markdownIn = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
const PAGES = [
  ...['.', 'docs', 'docs/decisions', 'bench'].flatMap(markdownIn),
  'templates/forge/README.md',
  'templates/forge/skills/README.md',
].filter((page) => existsSync(join(ROOT, page)));

/** What `init` copies, and what agents read. */
const SHIPPED = ['templates', 'agents'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(md|ya?ml|toml|txt)$/.test(name))
    .map((name) => join(folder, name)),
);

/** What a page says of what is still to come counts for nothing. */
const read = (page: string) =>
  readFileSync(join(ROOT, page), 'utf8').replace(/^\|.*\| planned \|$|^.*\(planned\).*$/gm, '');
const blocksOf = (page: string) => [...read(page).matchAll(/^ *```(\w*).*\n([\s\S]*?)^ *```$/gm)];
const prose = (page: string) => read(page).replace(/^ *```[\s\S]*?^ *```$/gm, '');
const spansOf = (page: string) =>
  [...prose(page).matchAll(/(?<!`)(`+)(?!`)([\s\S]*?[^`])\1(?!`)/g)].map(([, , text = '']) =>
    text.replaceAll('\\|', '|').replace(/\s+/g, ' ').trim(),
  );

const source = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(ROOT, 'src', name), 'utf8'))
  .join('\n');
const scripts = readFileSync(join(ROOT, 'package.json'), 'utf8');
const pipelines = ['ci/github.yml', 'ci/gitlab-ci.yml', 'hooks/hook.sh']
  .map((name) => readFileSync(join(ROOT, 'templates', name), 'utf8'))
  .join('\n');
/** What is written as a setting or an error's code would be, and is another program's or a finding's. */
const OTHERS = ['commit.template', 'memory.unauthorised'];
/** What looks like a command and is none: what a shell's script asks. */
const NO_COMMANDS = /^complete --shell=NAME --current=WORD -- /;

const specs = new Map<string, CommandSpec[]>();
for (const { name, load } of GROUPS) specs.set(name, (await load()) as unknown as CommandSpec[]);
const flagNames = (all: readonly CommandSpec[]) =>
  new Set(
    [...all.flatMap(optionsOf), ...GLOBAL_OPTIONS, HELP_OPTION].flatMap((option) => flagOf(option).names),
  );

/** What a person would type: `forge …` to the end of the command. */
function commandsIn(text: string): string[] {
  return [...text.matchAll(/(?<![\w./~$@-])forge +((?:"(?:\\.|[^"])*"|'[^']*'|[^"'#|;&>)\n]|\|(?=\w))*)/g)]
    .map(([, words = '']) => words.trim())
    .filter((line) => !NO_COMMANDS.test(line));
}

/** Why forge would not know these words; null if it does. */
function problemOf(words: readonly string[]): string | null {
  const [group = '', second = ''] = words;
  if (group === '' || /^[^a-z-]/.test(group)) return null;
  if (['help', 'version', '--version'].includes(group)) return null;
  if (group.startsWith('-')) return unknownFlag(words, [...specs.values()].flat());
  const commands = specs.get(group);
  if (!commands) return `no command ${group}`;
  const alternatives = second.split('|');
  const named = commands.filter(({ name }) => alternatives.includes(name) && name !== group);
  const own = commands.filter(({ name }) => name === group);
  if (named.length === 0 && own.length === 0 && /^[a-z]/.test(second)) return `no command ${group} ${second}`;
  return unknownFlag(words, named.length > 0 ? named : own.length > 0 ? own : commands);
}

function unknownFlag(words: readonly string[], commands: readonly CommandSpec[]): string | null {
  const known = flagNames(commands);
  const end = words.indexOf('--');
  for (const word of end < 0 ? words : words.slice(0, end)) {
    const flag = /^--?[a-zA-Z][\w-]*/.exec(word)?.[0];
    if (flag && !known.has(flag)) return `no flag ${flag}`;
  }
  return null;
}

const slug = (heading: string) =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
const anchorsOf = (page: string) =>
  [...prose(page).matchAll(/^#{1,6} +(.*)$/gm)].map(([, heading = '']) => slug(heading));

describe('what the pages name is there', () => {
  it('every forge command that is shown, with its flags', () => {
    const wrong = [...new Set([...PAGES, ...SHIPPED])].flatMap((page) => {
      const typed = blocksOf(page).flatMap(([, kind, text = '']) =>
        kind === 'console'
          ? text.split('\n').filter((line) => /^[$>] /.test(line))
          : ['sh', 'bash', 'yaml'].includes(kind ?? '')
            ? text.split('\n')
            : [],
      );
      const spans = spansOf(page).filter((span) => /^(\w+=\S+ )?forge /.test(span));
      // In a topic of help commands are indented by four.
      const isTopic = page.startsWith('templates/topics/');
      const indented = isTopic ? (read(page).match(/^ {4}(?:[A-Z_]+=\S+ )?forge .*$/gm) ?? []) : [];
      return [...typed, ...spans, ...indented].flatMap(commandsIn).flatMap((line) => {
        const problem = problemOf([...inFull(line.split(' '))]);
        return problem ? [`${page}: forge ${line}: ${problem}`] : [];
      });
    });
    expect(wrong).toEqual([]);
  });

  it('every command that help lists is in CHANGELOG.md', () => {
    const named = new Set([...read('CHANGELOG.md').matchAll(/`forge (\w+)/g)].map(([, name]) => name));
    const listed = GROUPS.filter(({ heading }) => heading !== null).map(({ name }) => name);
    expect(listed.filter((name) => !named.has(name))).toEqual([]);
  });

  it('every test that docs/proof.md names', () => {
    const named = [...read('docs/proof.md').matchAll(/\btest\/[\w/-]+\.test\.ts/g)].map(([path]) => path);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('every source file of the pages about how forge is built', () => {
    const all = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
    const pages = ['docs/architecture.md', 'CONTRIBUTING.md', ...markdownIn('docs/decisions')];
    const wrong = pages.flatMap((page) =>
      spansOf(page)
        .filter((span) => /^[\w/-]+\/[\w-]+\.ts$/.test(span) && !span.startsWith('test/'))
        .filter((span) => !all.includes(span.replace(/^src\//, '')))
        .map((span) => `${page}: ${span}`),
    );
    expect(wrong).toEqual([]);
  });

  it('every file and heading that a link leads to', () => {
    const wrong = PAGES.flatMap((page) =>
      [...prose(page).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].flatMap(
        ([link, path = '', anchor]) => {
          const target = path === '' ? page : relative(ROOT, join(ROOT, dirname(page), path));
          if (!existsSync(join(ROOT, target))) return [`${page}: ${link}: no such file`];
          if (anchor && !anchorsOf(target).includes(anchor)) return [`${page}: ${link}: no such heading`];
          return [];
        },
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('is also in the package, except for pages about developing forge', () => {
    const { files } = JSON.parse(scripts) as { files: string[] };
    const shipped = (path: string): boolean =>
      (/\.(sh|svg)$/.test(path) ? files.includes(path) : /^docs\/[\w-]+\.md$/.test(path)) &&
      files.includes('docs/*.md') &&
      !files.includes(`!${path}`);
    const named = (text: string): string[] =>
      [...text.matchAll(/(?<![\w/.])docs\/[\w./-]*\w/g)].map(([path]) => path.replace(/\.$/, ''));
    const topics = markdownIn('templates/topics').map((page) => readFileSync(join(ROOT, page), 'utf8'));
    const hints = [...source.matchAll(/hint: .*/g)].map(([hint]) => hint);
    const told = [...topics, ...hints].flatMap(named);
    expect(told.filter((path) => !shipped(path) || !existsSync(join(ROOT, path)))).toEqual([]);
    const dead = new Set(named(read('README.md')).filter((path) => !shipped(path)));
    expect([...dead].sort()).toEqual(['docs/benchmarks.md', 'docs/decisions']);
    // What a page of the package leads to and the package lacks is said to be elsewhere, beside it or at the top.
    const isPacked = (path: string): boolean =>
      shipped(path) ||
      files.includes(path.split('/')[0] as string) ||
      ['README.md', 'CHANGELOG.md'].includes(path);
    const silent = [...markdownIn('docs').filter(shipped), 'README.md'].flatMap((page) => {
      const paragraphs = prose(page).split(/\n\n+|\n(?=[|-] )/);
      const says = (text = ''): boolean => /forge's\s+repository/.test(text);
      if (says(paragraphs[1])) return [];
      return paragraphs.flatMap((text) =>
        [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)]
          .map(([, path = '']) => relative(ROOT, join(ROOT, dirname(page), path)))
          // Pictures are for the web, where the pages stand beside them.
          .filter((path) => !isPacked(path) && !says(text) && !path.endsWith('.png'))
          .map((path) => `${page}: ${path}`),
      );
    });
    expect(silent).toEqual([]);
  });

  it('every setting, or code of an error, of the form table.key', () => {
    const settings = new Set(
      TABLE_NAMES.flatMap((name) => Object.keys(DEFAULTS[name]).map((key) => `${name}.${key}`)),
    );
    const wrong = PAGES.flatMap((page) =>
      spansOf(page)
        .flatMap((span) => [...span.matchAll(/^(?:forge config (?:get|set) )?([a-z]+\.[a-z_]+)\b/g)])
        .map(([, name = '']) => name)
        .filter((name) => TABLE_NAMES.some((table) => name.startsWith(`${table}.`)))
        .filter((name) => !/\.(jsonl?|md|ts|toml|sh|sock|d|mjs|log)$/.test(name))
        .filter((name) => !settings.has(name) && !source.includes(`'${name}'`) && !OTHERS.includes(name))
        .map((name) => `${page}: ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  it('every variable of forge and every topic of help', () => {
    const topics = new Set(['topics', ...TOPICS.map(([name]) => name), ...GROUPS.map(({ name }) => name)]);
    const wrong = PAGES.flatMap((page) =>
      spansOf(page).flatMap((span) =>
        [
          ...(span.match(/\bFORGE_[A-Z_]+\b/g) ?? []).filter(
            (name) => !`${source}${scripts}${pipelines}`.includes(name),
          ),
          ...[...span.matchAll(/^forge help ([a-z]\S*)/g)]
            .map(([, topic = '']) => topic)
            .filter((t) => !topics.has(t)),
        ].map((name) => `${page}: ${name}`),
      ),
    );
    expect(wrong).toEqual([]);
  });
});

describe('what init copies', () => {
  // A formatter of the project would change it, and forge would ask for trust in each changed file.
  it.each(SHIPPED.filter((page) => /^templates.forge.*\.md$/.test(page)))('%s is formatted', (page) => {
    const text = prose(page);
    expect(text).not.toMatch(/^#+ .*\n.|^\*\*.*\n[-\d|]|\|-|-\|/m);
  });
});
