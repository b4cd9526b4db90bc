import { randomBytes } from 'node:crypto';
import type { GuardClass } from '../../src/guard/rule.js';
import { NATIONAL } from './national-id.js';
import { CARDS, groupCard, iban, random } from './personal.js';

/** Another one at every call: none stands whole in the repository. */
const anew = () => random(randomBytes(4).readUInt32LE());
const small = (length: number): string => anew().letters(length, 'abcdefghjkmnpqrstvwxyz23456789');
const digits = (length: number): string => `${anew().int(1, 9)}${anew().digits(length - 1)}`;

/** One of each class. */
export const SAMPLES: Record<Exclude<GuardClass, 'invisible'>, () => string> = {
  secret: () => `${['glp', 'at'].join('')}-${small(20)}`,
  card: () => groupCard(CARDS.visa?.(anew()) ?? '', ' '),
  iban: () => iban(anew(), 'DE', 22),
  // Some that begin with 19 or 20 read as the time of a log.
  'national-id': () =>
    NATIONAL['es-dni']
      ?.make({ ...anew(), digits: () => `7${digits(7)}` })
      .replace(/(..)(...)(...)(.)/, '$1.$2.$3-$4') ?? '',
  email: () => `${small(8)}@${small(8)}.com`,
  phone: () => `+49 30 ${['2', digits(3)].join('')} ${digits(4)}`,
  ip: () => [...randomBytes(2)].reduce((ip, byte) => `${ip}.${byte}`, '93.184'),
  proprietary: () => `This source code is the property of ${small(9)} Corp. All rights reserved.`,
};
