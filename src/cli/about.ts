import { template } from '../core/templates.js';
import { readToml } from '../core/toml.js';

type Texts = Readonly<Record<string, string>>;

/** The texts of help, which `templates/help.toml` describes. */
const HELP = readToml(template('help.toml')) as {
  exits: Record<string, Texts>;
} & Record<'about' | 'topics' | 'environment' | 'codes', Texts>;

export const { about: ABOUT, exits: EXITS } = HELP;
export const [TOPICS, ENVIRONMENT_HELP, EXIT_CODE_HELP] = [
  Object.entries(HELP.topics),
  Object.entries(HELP.environment),
  Object.entries(HELP.codes),
] as const;
