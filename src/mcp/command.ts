import { maskError, refuseFields } from '../cli/input-guard.js';
import { type Call, command, type Group, version } from '../cli/spec.js';
import { isBuilder } from '../core/environment.js';
import { toForgeError } from '../core/error.js';
import { checkToolInput, openForge, servedWorld, textGuard, toolSchemas } from '../index.js';
import type { Host } from './server.js';

async function hostOf(call: Call): Promise<Host> {
  const { cwd } = call;
  const world = servedWorld(call.world);
  const { env } = world;
  const open = () => openForge(cwd, { world });
  return {
    version: version(),
    channel: await call.channel(),
    stop: call.stops(() => {}).finish,
    open,
    schemas: toolSchemas,
    check: checkToolInput,
    guard: (fields) => refuseFields(fields, { env, dir: cwd, forge: open, records: true }),
    clean: async (text) => (await textGuard.clean(text)).text,
    isBuilder: isBuilder(env),
    mask: async (error) => (await maskError(toForgeError(error))).toJSON() as never,
  };
}

export const group: Group = [
  command<void>({
    name: 'mcp',
    summary: 'Serve agents on stdin and stdout by the Model Context Protocol',
    example: 'forge mcp',
    run: async (call) => {
      const { serve } = await import('./server.js');
      await serve(await hostOf(call));
    },
    render: () => '',
  }),
];
