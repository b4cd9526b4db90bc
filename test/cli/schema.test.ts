import { readdirSync } from 'node:fs';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { CONFIG, FEATURES, FOCUS, ISSUES, KNOWLEDGE, makeForge, SESSION } from '../support/forge-project.js';
import { KFR } from '../support/kfrs.js';
import type { Project } from '../support/project.js';

type Schema = Parameters<typeof z.fromJSONSchema>[0];

/** The first entry of a folder of long-term memory. */
function firstOf(project: Project, folder: string): unknown {
  const path = `.forge/memory/long-term/${folder}`;
  return project.json(
    `${path}/${readdirSync(project.path(path)).filter((name) => name.endsWith('.json'))[0]}`,
  );
}

/** An event of each kind, as it waits for a server. */
async function writeEvents(project: Project): Promise<Record<string, unknown>> {
  const env = { NATS_URL: 'nats://127.0.0.1:1' };
  const run = (...args: string[]) => runForge(project, args, { env });
  await run('kfr', 'clear', '--yes', '--dismiss-all', 'done');
  await run('end', '--learned', 'x');
  await run('start', '--task', 'x');
  await run('focus', 'set', '--phase', 'TEST');
  await run('checkpoint', 'create', 'Y', '--verify', 'true');
  const folder = '.git/forge/outbox';
  const events = readdirSync(project.path(folder)).map((name) => project.json(`${folder}/${name}`));
  return Object.fromEntries(events.map((event) => [`event-${String(event.type).replace('_', '-')}`, event]));
}

describe('formats', () => {
  it('LAY-08 forge schema prints a JSON Schema of every format, which accepts the file on disk', async () => {
    const project = await makeForge();
    await forgeJson(project, 'feature add B b');
    await forgeJson(project, 'feature add --no-run A a --test "node -e 0" --blocked-by B --priority 2');
    await forgeJson(project, ['knowledge', 'add', 'failure', 'x', '--context', 'y']);
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['progress', 'add', 'x']);
    await forgeJson(project, ['checkpoint', 'create', 'X', '--verify', 'true']);
    const { archive } = await forgeJson<{ archive: string }>(project, ['session', 'end']);
    await forgeJson(project, ['session', 'start', '--task', 'more']);
    await forgeJson(project, ['kfr', 'patch', '--goal', 'one', '--add', 'OpenQuestion:which?']);
    await forgeJson(project, ['kfr', 'patch', '--goal', 'two', '--park', 'kfr-2=ask Ada']);
    project.write(
      ISSUES,
      '{"schema_version":"1.0","issues":[{"linear_id":"SX9-1","title":"t","labels":[]}]}',
    );

    const files: Record<string, unknown> = {
      config: parse(project.read(CONFIG)),
      feature: firstOf(project, 'features.d'),
      features: project.json(FEATURES),
      learned: firstOf(project, 'learned.d'),
      knowledge: project.json(KNOWLEDGE),
      focus: project.json(FOCUS),
      kfr: project.json(KFR),
      session: project.json(SESSION),
      'session-archive': project.json(archive),
      active: project.json(ISSUES),
      checkpoint: project.json('.forge/git/checkpoints/X-v1.json'),
      cycle: { task_id: 'A', exit_code: 0, patterns: [{ pattern: 'p', scope: 'execution' }], log: 'x' },
    };
    await forgeJson(project, ['memory', 'record', '-'], { stdin: JSON.stringify(files.cycle) });
    Object.assign(files, await writeEvents(project));
    const { schemas } = await forgeJson<{ schemas: string[] }>(project, ['schema']);
    expect(schemas).toEqual(Object.keys(files).sort());
    for (const name of schemas) {
      const schema = JSON.parse((await runForge(project, ['schema', name])).stdout) as Schema;
      expect(schema).toMatchObject({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
      });
      const validator = z.fromJSONSchema(schema);
      expect([name, validator.safeParse(files[name]).error?.issues ?? []]).toEqual([name, []]);
      expect([name, validator.safeParse([]).success]).toEqual([name, false]);
    }
    const features = z.fromJSONSchema((await forgeJson(project, ['schema', 'features'])) as Schema);
    const [feature] = (files.features as { features: object[] }).features;
    const withStatus = (status: string): unknown => ({
      schema_version: '1.0',
      features: [{ ...feature, status }],
    });
    expect(features.safeParse(withStatus('failing')).success).toBe(true);
    expect(features.safeParse(withStatus('done')).success).toBe(false);
    expect(await forgeError(project, ['schema', 'nothing'])).toMatchObject({
      exitCode: 2,
      hint: expect.stringContaining('knowledge'),
    });
  });

  it('LAY-08 every file that init writes carries a schema version', async () => {
    const project = await makeForge();
    const names = project.git('ls-files', '.forge/*.json', '.forge/*.toml').split('\n');
    for (const name of [...names, FOCUS, '.forge/git/branches.json']) {
      if (name.endsWith('skill.toml')) continue;
      expect([name, project.read(name)]).toEqual([name, expect.stringMatching(/schema_version/)]);
    }
  });
});
