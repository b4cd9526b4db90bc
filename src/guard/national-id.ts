import { americanIds } from './national-id-americas.js';
import { asianIds } from './national-id-asia.js';
import { northernIds } from './national-id-north.js';
import { southernIds } from './national-id-south.js';
import { type NationalId, nationalIdRule } from './national-id-spec.js';
import { westernIds } from './national-id-west.js';
import type { RuleGroup } from './rule.js';

const isPassport = (id: string): boolean =>
  id.replace(/\D/g, '').length >= 5 && !/^(?:19|20)\d\d[01]\d[0-3]\d$/.test(id) && !/^(\d)\1+$/.test(id);

const passport = (): NationalId => ({
  id: 'passport',
  what: 'passport number',
  source: 'https://www.icao.int/publications/doc-series/doc-9303',
  shape: String.raw`(?:[A-Z]{1,2}\d{6,8}|\d{8,9}|\d{2}[A-Z]{2}\d{5}|[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ0-9]{8})`,
  words: ['passport', 'passeport', 'reisepass', 'pasaporte', 'passaporto', 'paspoort', 'passaporte', '护照'],
  valid: isPassport,
});

const group =
  (ids: () => readonly NationalId[]): RuleGroup =>
  () =>
    ids().map(nationalIdRule);

/** Numbers by which a state knows a person. Company numbers are none. */
export const NATIONAL_ID_GROUPS: readonly RuleGroup[] = [
  group(() => americanIds()),
  group(() => westernIds()),
  group(() => southernIds()),
  group(() => northernIds()),
  group(() => asianIds()),
  group(() => [passport()]),
];
