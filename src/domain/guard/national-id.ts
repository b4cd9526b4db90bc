import { AMERICAN_IDS } from './national-id-americas.js';
import { ASIAN_IDS } from './national-id-asia.js';
import { NORTHERN_IDS } from './national-id-north.js';
import { SOUTHERN_IDS } from './national-id-south.js';
import { nationalIdRule } from './national-id-spec.js';
import { WESTERN_IDS } from './national-id-west.js';
import type { Rule } from './rule.js';

const isPassport = (id: string): boolean =>
  id.replace(/\D/g, '').length >= 5 && !/^(?:19|20)\d\d[01]\d[0-3]\d$/.test(id) && !/^(\d)\1+$/.test(id);

const PASSPORT: Rule = nationalIdRule({
  id: 'passport',
  what: 'passport number',
  source: 'https://www.icao.int/publications/doc-series/doc-9303',
  shape: String.raw`(?:[A-Z]{1,2}\d{6,8}|\d{8,9}|\d{2}[A-Z]{2}\d{5}|[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ0-9]{8})`,
  words: ['passport', 'passeport', 'reisepass', 'pasaporte', 'passaporto', 'paspoort', 'passaporte', '护照'],
  valid: isPassport,
});

/** Numbers by which a state knows a person. Company numbers are none. */
export const NATIONAL_ID_RULES: readonly Rule[] = [
  ...[...AMERICAN_IDS, ...WESTERN_IDS, ...SOUTHERN_IDS, ...NORTHERN_IDS, ...ASIAN_IDS].map(nationalIdRule),
  PASSPORT,
];
