/** Values in the place of a secret that are something else. */
export const OTHER_KINDS: readonly RegExp[] = [
  // A path, a URL, a file
  /^(?:\.{0,2}\/|~\/|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]{1,20}:\/\/|\/\/)/,
  /\.(?:js|mjs|cjs|ts|tsx|jsx|json|ya?ml|toml|txt|md|pem|key|crt|cer|p12|pfx|env|py|rb|go|rs|java|php|html?|css|png|svg|com|org|net|io|dev)$/i,
  // A date or time, a version, a number
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:.{0,30})?$/,
  /^[v^~<>=]{0,2}\d{1,4}(?:\.\d{1,5}){1,3}(?:[-+][\w.]{1,40})?$/,
  /^[-+]?\d[\d_.,:]{0,40}(?:e\d+|px|ms|s|m|h|d|em|rem|%|[kmg]i?b)?$/i,
  // A digest with its algorithm, a public key
  /^(?:sha\d{1,3}|md5|h1|blake\w{1,3})[-:]/i,
  /^(?:ssh-|ecdsa-|MII[A-Z])/,
  // An identifier, a constant, words separated by signs
  /^[a-z]{1,30}(?:[A-Z][a-z]{1,30}){0,8}\d{0,2}$/,
  /^(?:[A-Z]{1,6}[a-z]{1,30}){1,8}\d{0,2}$/,
  /^[A-Z][A-Z0-9]{0,30}(?:_[A-Z0-9]{1,30}){1,8}$/,
  /^[A-Za-z]{1,30}\d{0,3}(?:[-_.:/ ][A-Za-z]{0,30}\d{0,3}){1,10}$/,
  // `symbol2label`, a ticket, an option
  /^[a-z]{3,30}[24][a-z]{3,30}$/,
  /^[A-Z]{1,6}[-_]?\d{2,12}$|^-{1,2}[A-Za-z][A-Za-z-]*$/,
  // A reference to an issue
  /^[\w.-]{1,60}\/[\w.-]{1,60}#\d+$/,
  // Part of a program
  /\$\{[^{}]{1,100}\}|\{\{[^{}]{1,100}\}\}|=>|\(\)|&&|\|\||\?\.|^[A-Za-z_$][\w$]{0,60}(?:\.[A-Za-z_$][\w$]{0,60}){1,6}$|^[#.!?:+]|^\\|^&[a-z#]|[;{}]$/,
];

/** Words in the placeholder values of examples, types and tests. */
export const EXAMPLES =
  'abc access account actual admin another any api app auth authentication authorization azerty bar ' +
  'base64 basic baz bearer blah bot change changed changeit changeme client config correct credential ' +
  'credentials custom database default demo dummy empty enter env example fake fill foo generate ' +
  'generated github goes guest hash here hidden id in insert invalid is key letmein live local ' +
  'localhost login long lorem master me mock my name new none not null of old only optional or pass ' +
  'passphrase passwd password passwort paste phrase placeholder private prod production project public ' +
  'put pw qwerty qwertz random real redacted refresh replace required root safe sample secret secure ' +
  'server service session set signing some staging strong string super temp test tester testing the ' +
  'this to todo token tokens top type undefined unset use user username valid value very want webhook ' +
  'with word xyz you your yours';
