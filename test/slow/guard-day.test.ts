import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Briefing } from '../../src/index.js';
import { cloneOf } from '../support/ci.js';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import { featureFile, makeForge, makeStarted } from '../support/forge-project.js';
import { HALT, HUMAN, logOf } from '../support/memory.js';
import { type Project, run } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

const RUST_LOGS = [
  '2025-04-14T07:23:25.484198Z  INFO actix_web::middleware::logger: 127.0.0.1 "GET /health HTTP/1.1" 200 2',
  '\u001b[2m2025-04-14T07:23:25.484198Z\u001b[0m \u001b[32m INFO\u001b[0m \u001b[2mserver\u001b[0m: listening addr=0.0.0.0:8080\r\n',
  "thread 'main' panicked at src/main.rs:42:10: called `Result::unwrap()` on an `Err` value: Os { code: 2 }",
  'DEBUG hyper::proto::h1::io: flushed 1893 bytes request_id=018f3c1e-7d2a-7c3e-9d52-2f1f6c1d9a44',
  'trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7 elapsed_ns=1744615405484198',
  '   Compiling serde v1.0.219\n   Compiling proc-macro2 v1.0.94\n    Finished `dev` profile in 12.34s',
];
const STRIPE = [
  'Test with 4242 4242 4242 4242, any CVC, and 4000 0025 0000 3155 for 3-D Secure.',
  'const stripe = new Stripe(process.env.STRIPE_SECRET_KEY, { apiVersion: "2025-03-31.basil" });',
  'Set STRIPE_SECRET_KEY=sk_test_... and STRIPE_WEBHOOK_SECRET=whsec_... in .env.local',
  'The webhook checks stripe-signature: t=1492774577,v1=... with constructEvent(body, sig, endpointSecret).',
  'pi_3MtwBwLkdIwHu7ix28a3tqPa succeeded, customer cus_NffrFeUfNV2Hib, price price_1MoBy5LkdIwHu7ixZhnattbh',
  'IBAN for SEPA tests: DE89 3704 0044 0532 0130 00; SSN last 4 in tests is 0000, full 123-45-6789.',
];
const LOCK_FILES = [
  'js-tokens@^4.0.0, "js-tokens@^3.0.0 || ^4.0.0":\n  version "4.0.0"\n  resolved "https://registry.yarnpkg.com/js-tokens/-/js-tokens-4.0.0.tgz#19203fb59991df98e3a287050d4647cdeaf32499"',
  '  integrity sha512-RdJUflcE3cUzKiMqQgsCu06FPu9UdIJO0beYbPhHN4k6apgJtifcoCtT9bcxOpYBtpD2kCM6Sbzg4CausW/PKQ==',
  'github.com/gopasspw/gopass v1.15.15 h1:4f7eGgqRm0Zs5Tn8Jf0CJ5mZoQ8GgE9pYyqYx9kS7zU=',
  'Bump authenticate-pam from 1.0.2 to 1.0.5 (#4711), reviewed by @\u200bdependabot[bot]',
];
const TRAILERS = [
  'Fix the lock\n\nCo-authored-by: Jane Roe <jane.roe@acme-widgets.com>\nSigned-off-by: John Doe <john@acme-widgets.com>',
  'Co-authored-by: dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>',
  'Cherry-picked from 5f1c0b3a9e7d24c86b10f2a4d3e5c7b9a8f60123, see acme/widgets#4711 and git@github.com:acme/widgets.git',
];

const auditKinds = async (project: Project): Promise<string[]> =>
  (await logOf(project, 'audit')).map(({ kind }) => kind);

describe('a day of ordinary work', () => {
  it('LTM-13 causes no refusal and no halt', async () => {
    const project = await makeStarted();
    for (const text of [...RUST_LOGS, ...STRIPE, ...LOCK_FILES, ...TRAILERS])
      for (const word of [text, '-']) {
        const { exitCode, stderr } = await runForge(project, ['note', 'add', word], { stdin: `${text} ` });
        expect([exitCode, text], stderr).toEqual([0, text]);
      }
    project.write('yarn.lock', LOCK_FILES.join('\n'));
    project.write('server.log', [...RUST_LOGS, ...STRIPE].join('\n'));
    expect((await runForge(project, ['guard', 'scan'])).exitCode).toBe(0);
    await forgeJson(project, ['session', 'end']);
    expect(project.has(HALT)).toBe(false);
    expect(await auditKinds(project)).not.toContain('breach');
    const removed = 'acme-widgets.com|\\\\u001b|\u001b|\u200b';
    expect(run(project.dir, 'grep', ['-rhE', removed, '.forge']).stdout).toBe('');
  });
});

it('LTM-13 the briefing masks a secret that came into memory past the guard', async () => {
  const project = await makeForge();
  const secret = SAMPLES.secret();
  await forgeJson(project, ['feature', 'add', 'A', 'see password: VALUE there', '--no-run']);
  project.write(featureFile('A'), project.read(featureFile('A')).replace('VALUE', secret));
  const { stdout } = await runForge(project, ['briefing', '--json']);
  expect(stdout).not.toContain(secret);
  const { text, tokens, sections } = JSON.parse(stdout) as Briefing;
  expect(text).toMatch(/A see password: <[\w-]+> there/);
  expect(tokens).toBe(Math.ceil(Buffer.byteLength(text) / 4));
  expect(JSON.stringify(sections)).toMatch(/password: <[\w-]+> there/);
});

describe('forge guard allow', () => {
  const text = `see password: ${SAMPLES.secret()} there`;

  it('LTM-14 a false alarm that a human allowed passes in every clone; the ledger holds no text', async () => {
    const project = await makeForge();
    const refused = await forgeError(project, ['note', 'add', text]);
    const fingerprint = /guard allow ([0-9a-f]{16})/.exec(refused.hint ?? '')?.[1] ?? '';
    const allow = ['guard', 'allow', fingerprint];
    await expectError(project, [...allow, '--reason', 'ours'], '3');
    await expectError(project, allow, '2 reason.missing', HUMAN);
    await expectError(project, ['guard', 'allow', 'abcdef12', '--reason', 'x'], '2 guard.fingerprint', HUMAN);
    const typed = [...allow, '--reason', 'a sample'];
    const allowed = await forgeJson<{ audit: { id: string } }>(project, typed, HUMAN);
    const audit = (await logOf(project, 'audit')).find(({ id }) => id === allowed.audit.id);
    expect(audit?.record).toMatchObject({
      action: 'guard_allow',
      fingerprint,
      reason: 'a sample',
      by: 'terminal',
    });
    expect(run(project.dir, 'grep', ['-rF', text, '.forge', '.git/forge']).stdout).toBe('');
    await forgeJson(project, ['note', 'add', text]);
    // Also at the end of a text, where the next one begins with a letter.
    await forgeJson(project, ['learn', text.slice(0, -' there'.length), '--as', 'success']);
    expect((await runForge(project, ['briefing'])).stdout).toContain(text);
    project.git('add', '-A');
    project.git('commit', '-qm', 'Allowed', '--no-verify');
    const clone = cloneOf(project);
    await forgeJson(clone, ['note', 'add', `${text} again`]);
    expect((await runForge(clone, ['guard', 'scan', '.forge'])).exitCode).toBe(0);
    expect((await runForge(clone, ['note', 'add', `see password: ${SAMPLES.secret()} there`])).exitCode).toBe(
      5,
    );
  });

  it('LTM-13 a baseline hides what it has, in another clone too, and nothing else', async () => {
    const project = await makeForge();
    project.write('a.env', `TOKEN=${SAMPLES.secret()}\n`);
    const first = await runForge(project, ['guard', 'scan', '--json']);
    project.write('baseline.json', first.stdout);
    project.git('add', '-A');
    project.git('commit', '-qm', 'Baseline', '--no-verify');
    const clone = cloneOf(project);
    const scan = ['guard', 'scan', '--baseline', 'baseline.json', '--json'];
    clone.write('a.env', `# moved down\n${readFileSync(clone.path('a.env'), 'utf8')}`);
    const known = await runForge(clone, scan);
    expect([known.exitCode, JSON.parse(known.stdout)]).toMatchObject([0, { findings: [], known: 1 }]);
    clone.write('a.env', `TOKEN=${SAMPLES.secret()}\n`);
    expect((await runForge(clone, scan)).exitCode).toBe(5);
    clone.write('baseline.json', '{}');
    await expectError(clone, scan.slice(0, -1), '2 scan.baseline');
  });
});
