import { describe, expect, it } from 'vitest';
import {
  byTime,
  CHECKPOINT,
  closedIssues,
  type FileFacts,
  judgeCheckpoint,
  type Manifest,
  manifestIn,
  nameIn,
  nextName,
  parseName,
  tagMessage,
} from '../../src/checkpoint/rules.js';
import { decodeDocument, encodeDocument } from '../../src/core/schema.js';
import type { Feature } from '../../src/feature/rules.js';
import type { TagFacts } from '../../src/git/tags.js';

/** RFC-9060 §5.2, word for word. */
const RFC = `{
  "tag": "checkpoint/SX9-123-v1",
  "commit": "abc1234def5678",
  "timestamp": "2025-12-24T12:00:00Z",
  "verified_by": ["cargo test", "cargo check"],
  "features_passing": ["FORGE-001", "FORGE-002"],
  "linear_issues_closed": ["SX9-123"],
  "can_rollback_to": true
}`;

const decode = (text: string): Manifest => decodeDocument(CHECKPOINT, Buffer.from(text), 'file');
const manifest: Manifest = { ...decode(RFC), commit: 'a'.repeat(40) };

describe('a manifest', () => {
  it('GIT-05 reads the RFC’s format, and keeps unknown fields', () => {
    expect(decode(RFC)).toMatchObject({ tag: 'checkpoint/SX9-123-v1', can_rollback_to: true });
    const more = decode(RFC.replace('{', '{ "reviewed_by": "Ada",'));
    expect(encodeDocument(more).toString()).toContain('"reviewed_by": "Ada"');
  });

  it.each([
    ['commit', '"HEAD"'],
    ['commit', '"--help"'],
    ['tag', '"checkpoint/../v1"'],
    ['tag', '"v1"'],
    ['can_rollback_to', '"yes"'],
    ['verified_by', '"cargo test"'],
  ])('B-108 is damaged with %s %s', (field, value) => {
    const text = RFC.replace(new RegExp(`"${field}": (\\[.*\\]|"[^"]*"|true)`), `"${field}": ${value}`);
    expect(() => decode(text)).toThrow(field);
  });

  it('GIT-05 is in the tag byte for byte, for any message and with a trailing signature', () => {
    for (const message of ['It works', '# no comment\n{\n', 'a {\n}\n b', '{\n}\n']) {
      const made = { ...manifest, message };
      const text = tagMessage(made);
      expect(text.startsWith(`${message}\n\n{\n`)).toBe(true);
      const bytes = encodeDocument(made).toString();
      expect(manifestIn(text)).toBe(bytes);
      expect(manifestIn(`${text}-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n`)).toBe(
        bytes,
      );
    }
    expect(manifestIn('Working ATLAS-NATS connection\n')).toBeNull();
  });
});

describe("a checkpoint's name", () => {
  it('GIT-05 is ISSUE-vN, with or without checkpoint/', () => {
    for (const tag of ['SX9-1-v1', 'checkpoint/SX9-1-v1']) expect(parseName(tag)).toBe('SX9-1-v1');
    for (const tag of [
      ...['', 'SX9-1', '-x-v1', 'a..b-v1', 'a b-v1', 'a/b-v1', 'x-v0', 'x-v01', 'x-v1\n', '--help'],
      ...['x~1-v1'],
    ])
      expect([tag, nameIn(tag)]).toEqual([tag, null]);
  });

  it('GIT-05 takes the next number, ignoring case', () => {
    expect(nextName('SX9-1', [])).toBe('SX9-1-v1');
    expect(nextName('SX9-1', ['SX9-1-v2', 'sx9-1-v9', 'SX9-12-v40', 'SX9-1-v1-v50'])).toBe('SX9-1-v10');
    expect(nextName('a-v1', ['a-v1', 'a-v1-v3'])).toBe('a-v1-v4');
  });

  it('GIT-05 are listed newest first', () => {
    const at = (name: string, timestamp: string | null) => ({ name, timestamp });
    const all = [
      at('a-v1', '2026-01-01'),
      at('a-v10', '2026-01-02'),
      at('a-v9', '2026-01-02'),
      at('b-v1', null),
    ];
    expect(all.sort(byTime).map(({ name }) => name)).toEqual(['a-v10', 'a-v9', 'a-v1', 'b-v1']);
  });
});

describe('closed issues', () => {
  it('GIT-05 are those all of whose features pass', () => {
    const feature = (id: string, linear_issue?: string): Feature =>
      ({ id, name: id, status: 'passing', ...(linear_issue ? { linear_issue } : {}) }) as Feature;
    const features = [
      feature('A', 'S-1'),
      feature('B', 'S-2'),
      feature('C', 'S-1'),
      feature('D'),
      feature('E', 'S-0'),
    ];
    expect(closedIssues(features, new Set(['A', 'C', 'D', 'E']))).toEqual(['S-0', 'S-1']);
    expect(closedIssues(features, new Set(['A', 'B']))).toEqual(['S-2']);
  });
});

describe('the state of a checkpoint', () => {
  const name = 'SX9-123-v1';
  const bytes = encodeDocument(manifest);
  const file: FileFacts = { name, bytes, manifest };
  const tag: TagFacts = { name, isAnnotated: true, commit: manifest.commit, message: tagMessage(manifest) };
  const other = { ...manifest, tag: 'checkpoint/SX9-123-v2' };
  const cases: [what: string, facts: { file?: FileFacts; tag?: TagFacts }, state: string][] = [
    ['tag and manifest agree', { file, tag }, 'ok'],
    ['only the tag is here: the manifest is on another branch', { tag }, 'ok'],
    ['the tag leads to no commit', { file, tag: { ...tag, commit: null } }, 'moved'],
    [
      'a lightweight tag that no manifest speaks of',
      { tag: { ...tag, isAnnotated: false, message: 'Subject\n' } },
      'unverified',
    ],
    ['the tag was made anew without manifest', { file, tag: { ...tag, message: 'Working\n' } }, 'unverified'],
    ['the tag is gone', { file }, 'missing'],
    [
      'the file was edited',
      { file: { ...file, bytes: encodeDocument({ ...manifest, can_rollback_to: false }) }, tag },
      'damaged',
    ],
    ['the file is another one’s', { file: { ...file, manifest: other } }, 'damaged'],
    ['the tag is another one’s', { tag: { ...tag, message: tagMessage(other) } }, 'damaged'],
  ];
  it.each(cases)('B-108 GIT-05 %s', (_what, facts, state) => {
    const judged = judgeCheckpoint(name, facts);
    expect(judged.state).toBe(state);
    expect(judged.why === undefined).toBe(state === 'ok');
  });
});
