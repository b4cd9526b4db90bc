// The folders of agents that take no package: what forge would install, to be copied by hand.
const INPUT = { command: 'forge', isUser: false };

/** The fixtures as files below the folder that the agent keeps in a project. */
function filesOf(wiring, home) {
  const fixtures = wiring.fixtures(INPUT).filter(({ file }) => file.startsWith(home));
  return Object.fromEntries(
    [...new Set(fixtures.map(({ file }) => file))].map((file) => [
      file.slice(home.length),
      textOf(
        fixtures.filter((fixture) => fixture.file === file),
        wiring.beginnings?.[file],
      ),
    ]),
  );
}

function textOf([first, ...rest], beginning = '{}') {
  if (first.kind === 'file') return first.text;
  const whole = JSON.parse(beginning);
  for (const { kind, path, value } of [first, ...rest]) {
    const last = path.at(-1);
    const box = path.slice(0, -1).reduce((inner, name) => (inner[name] ??= {}), whole);
    box[last] = kind === 'item' ? [...(box[last] ?? []), value] : value;
  }
  return `${JSON.stringify(whole, null, 2)}\n`;
}

export const COPILOT = {
  folder: 'agents/copilot',
  files: ({ copilotWiring }) => filesOf(copilotWiring, '.github/'),
};

export const OPENCODE = {
  folder: 'agents/opencode',
  files: ({ opencodeWiring }) => filesOf(opencodeWiring, '.opencode/'),
};
