import { describe, expect, it } from 'vitest';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import { CONFIG, makeForge } from '../support/forge-project.js';
import type { Project } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

async function withRules(rules: string): Promise<Project> {
  const project = await makeForge();
  project.write(CONFIG, `${project.read(CONFIG)}\n${rules}\n`);
  return project;
}

const RULE = `[[guard.rules]]
id = "acme-token"
description = "Acme token"
regex = '''acme_[0-9a-f]{12}\\b'''
keywords = ["acme_"]`;

describe('added rules', () => {
  it('LTM-13 refuse what they describe, in words and files, beside the built-in rules', async () => {
    const project = await withRules(RULE);
    expect(await forgeError(project, ['note', 'add', 'use ACME_1 or acme_0a1b2c3d4e5f'])).toMatchObject({
      exitCode: 5,
      code: 'guard.secret',
      message: expect.stringMatching(/Acme token \(rule added-acme-token\)/),
    });
    await forgeJson(project, ['note', 'add', 'use acme_ and a number']);
    project.write('a.txt', 'acme_0a1b2c3d4e5f\n');
    const { exitCode, stdout } = await runForge(project, ['guard', 'scan']);
    expect([exitCode, stdout]).toEqual([5, expect.stringContaining('added-acme-token')]);
    // A rule of forge's own keeps its name, whatever a rule of the same id matches.
    const greedy = await withRules(`[[guard.rules]]\nid = "gitlab-pat"\nregex = '.+'\nkeywords = ["glpat"]`);
    expect(await forgeError(greedy, ['note', 'add', SAMPLES.secret()])).toMatchObject({
      message: expect.stringContaining('(rule gitlab-pat)'),
    });
  });

  it.each([
    ['regex = "a(?=b)"\nkeywords = ["ab"]', /RE2 syntax: invalid or unsupported/],
    ['regex = "ab"', /needs an id, a regex, and keywords/],
  ])('LTM-13 that cannot be used are named, and nothing is written: %j', async (rule, message) => {
    const project = await withRules(`[[guard.rules]]\nid = "x"\n${rule}`);
    expect(await forgeError(project, ['note', 'add', 'hello'])).toMatchObject({
      exitCode: 4,
      code: 'guard.rules',
      message: expect.stringMatching(message),
    });
  });

  it('LTM-13 may be in a TOML file of gitleaks, with groups, entropy and allowlists', async () => {
    const project = await makeForge();
    await forgeJson(project, ['config', 'set', 'guard.gitleaks', '.gitleaks.toml']);
    await expectError(project, 'note add hello', '4 guard.rules');
    project.write(
      '.gitleaks.toml',
      `title = "ours"
[[rules]]
id = "ticket"
regex = '''(?i)ticket(?:code)?\\s*[=:]\\s*([a-z0-9]{10})'''
secretGroup = 1
entropy = 2
keywords = ["ticket"]
[[rules.allowlists]]
stopwords = ["sample"]
[[rules]]
id = "by-path"
path = '''\\.p12$'''
[[rules]]
id = "broken"
regex = '''broken(?!x)'''
keywords = ["broken"]
`,
    );
    await expectError(project, 'note add "TicketCode: a8d0f2k4m6"', '5');
    await forgeJson(project, ['note', 'add', 'TicketCode: aaaaaaaaaa']);
    await forgeJson(project, ['note', 'add', 'TicketCode: sample8d0f']);
    const { exitCode, stderr } = await runForge(project, ['note', 'add', 'broken']);
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringMatching(/the rule broken cannot be used: .*RE2 syntax/),
    ]);
  });
});
