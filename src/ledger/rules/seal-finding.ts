import { plural } from '../../core/text.js';
import type { Finding, SealCode } from './finding.js';
import type { Tier } from './record.js';
import type { SupervisorKey } from './supervisor.js';

const REPAIR = 'forge memory repair --reason "…"';
const short = (id: string): string => id.slice(0, 12);

function finding(code: SealCode, message: string, hint: string, tier: Tier = 'audit', file = ''): Finding {
  return { code, tier, file, line: 0, offset: 0, message, last_good: null, hint };
}

export const invalidSeal = (id: string, why: string): Finding =>
  finding('seal_invalid', `seal ${short(id)}… is none: ${why}`, `forge memory show ${short(id)}`);

/** Every record rewritten with fresh links passes as a graph; what was sealed is gone all the same. */
export const brokenSeal = (
  id: string,
  at: string,
  key: string,
  tier: Tier,
  heads: readonly string[],
): Finding =>
  finding(
    'seal_broken',
    `seal ${short(id)}… (${at.slice(0, 10)}, key ${key}) covers ${plural(heads.length, 'record')} of the ${tier} ledger that ${heads.length === 1 ? 'is' : 'are'} nowhere (${short(heads[0] ?? '')}…): the ledger was rewritten`,
    `find a clone that has it; else: ${REPAIR}`,
    tier,
  );

export const shortSeal = (id: string, tier: Tier, sealed: number, here: number): Finding =>
  finding(
    'seal_count',
    `seal ${short(id)}… counts ${plural(sealed, 'record')} of the ${tier} ledger, and ${here} lead to what it sealed: the rest is nowhere`,
    `find a clone that has it; else: ${REPAIR}`,
    tier,
  );

export const removedSeal = (id: string): Finding =>
  finding(
    'seal_removed',
    `a seal was removed: ${short(id)}…, which this machine made or saw, is nowhere`,
    'find a clone that has it; once you know why: forge memory seal --reason "…"',
  );

export const foreignKey = ({ fingerprint, public_key }: SignedBy, file: string): Finding =>
  finding(
    'key_foreign',
    `the key ${fingerprint} is not one that this machine has accepted: what it sealed does not count`,
    `forge supervisor trust ${public_key} --reason "…"  (if you know whose it is)  or  forge supervisor retire ${public_key} --reason "…"`,
    'audit',
    file,
  );
type SignedBy = Pick<SupervisorKey, 'fingerprint' | 'public_key'>;

export const removedKey = ({ fingerprint, public_key }: SupervisorKey, file: string): Finding =>
  finding(
    'key_removed',
    `the key ${fingerprint}, which this machine has accepted, is not named any more: it was removed or replaced`,
    `forge supervisor trust ${public_key} --reason "…"  (puts it back)  or  forge supervisor retire ${fingerprint} --reason "…"`,
    'audit',
    file,
  );
