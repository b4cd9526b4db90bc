// The folders of agents that take no package: what forge would install, to be copied by hand.
const INPUT = { command: 'forge', isUser: false };

/** The fixtures as files below the folder that the agent keeps in a project. */
const filesOf = (wiring, home) =>
  Object.fromEntries(
    wiring.fixtures(INPUT).flatMap((fixture) => {
      if (!fixture.file.startsWith(home)) return [];
      return [[fixture.file.slice(home.length), textOf(fixture)]];
    }),
  );

function textOf({ kind, text, path, value }) {
  if (kind === 'file') return text;
  const whole = [...path].reverse().reduce((inner, name) => ({ [name]: inner }), value);
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
