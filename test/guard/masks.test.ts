import { describe, expect, it } from 'vitest';
import { maskText } from '../../src/guard/guard.js';
import { scanText } from '../../src/guard/scan.js';
import { secretRules } from '../../src/guard/secret-rules.js';
import { samples, seeded } from '../support/secrets.js';

const found = (text: string): string[] => scanText(text, secretRules()).map((hit) => hit.rule);

/** What may follow a secret. */
const ENDS = [':x@mq.intern:5672', ' k9mQ2vB7nR4xT8w</p>'];

describe('a mask', () => {
  it.each([
    ['postgres://app:S3cretPw9x@db.intern:5432/shop', 'postgres://app:<url-credentials>@db.intern:5432/shop'],
    ['amqp://user:S3cretPw9x@mq.intern:5672', 'amqp://user:<url-credentials>@mq.intern:5672'],
    [
      '<p>https://bob:S3cretPw9x@git.intern:8443/x.git</p>',
      '<p>https://bob:<url-credentials>@git.intern:8443/x.git</p>',
    ],
  ])('LTM-13 keeps the rest of %s, and is no secret', async (text, masked) => {
    expect(await maskText(text)).toBe(masked);
    expect(found(masked)).toEqual([]);
  });

  it('LTM-13 leaves nothing that is refused, whatever follows a secret', async () => {
    const random = seeded(11);
    const left: string[] = [];
    const byContext = secretRules().filter(({ isLoose }) => isLoose);
    for (const make of byContext.map(({ id }) => samples.get(id)?.[0]))
      for (const end of ENDS) {
        const masked = await maskText(`it was ${make?.(random)}${end}`);
        if (found(masked).length > 0) left.push(masked);
      }
    expect(left).toEqual([]);
  });

  it.each([
    '<okta-token>xK9mQ2vB7nR4</okta-token>',
    '<db-password>xK9mQ2vB7nR4@host',
    '<my-url-credentials>xK9mQ2vB7nR4@host',
  ])('LTM-13 is not the name of an element: %s', (text) => {
    expect(found(text)).toEqual(['secret-element']);
  });
});
