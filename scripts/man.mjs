// The manual page forge(1), from the same specs and texts as `forge help`.
import { loadSources } from './sources.mjs';

const SOURCES = `
  export * from './src/cli/groups.ts';
  export { GLOBAL_OPTIONS, HELP_OPTION, helpOf, optionsOf } from './src/cli/spec.ts';
  export * from './src/cli/about.ts';`;

/** Text that troff takes for nothing but text. */
const plain = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replace(/^(?=[.'])/gm, '\\&');

const terms = (pairs) =>
  pairs.flatMap(([term, text]) => ['.TP', `.B ${plain(String(term)).replaceAll('"', '\\(dq')}`, plain(text)]);

function commandLines(entry, spec, { ABOUT, optionsOf, helpOf }) {
  const full = spec.name === entry.name ? entry.name : `${entry.name} ${spec.name}`;
  const usage = ['forge', ...(full === 'where' ? [] : [full]), ...(spec.args ?? [])].join(' ');
  return [
    `.SS ${plain(usage)}`,
    plain(`${spec.summary}.`),
    ...(ABOUT[full] ? ['.PP', plain(ABOUT[full])] : []),
    ...terms(optionsOf(spec).map((option) => [option.flags, helpOf(option)])),
  ];
}

/** Its whole text. */
export async function manPage(version) {
  const sources = await loadSources(SOURCES);
  const commands = [];
  for (const entry of sources.GROUPS.filter(({ heading }) => heading !== null)) {
    for (const spec of await entry.load()) commands.push(...commandLines(entry, spec, sources));
  }
  const globals = [...sources.GLOBAL_OPTIONS, sources.HELP_OPTION];
  return `${[
    `.TH FORGE 1 "" "forge ${version}" "User Commands"`,
    '.SH NAME',
    'forge \\- a memory that long\\-running coding agents and their teams can trust',
    '.SH SYNOPSIS',
    '.B forge',
    '[\\fIoptions\\fR] [\\fIcommand\\fR]',
    '.SH DESCRIPTION',
    plain(
      'forge keeps the memory of coding agents, and of the people who work with them, in the folder .forge/',
    ),
    plain('of a repository. Without a command it says where you stand.'),
    '.SH COMMANDS',
    ...commands,
    '.SH OPTIONS',
    'Every command takes these.',
    ...terms(globals.map((option) => [option.flags, sources.helpOf(option)])),
    '.SH TOPICS',
    plain('What forge help TOPIC explains.'),
    ...terms(sources.TOPICS),
    '.SH EXIT STATUS',
    ...terms(sources.EXIT_CODE_HELP),
    '.SH ENVIRONMENT',
    ...terms(sources.ENVIRONMENT_HELP),
    '.SH SEE ALSO',
    '.BR git (1)',
  ].join('\n')}\n`;
}
