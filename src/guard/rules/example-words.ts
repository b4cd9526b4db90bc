/** Words of which values are made that stand for a secret in examples, types and tests. */
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
