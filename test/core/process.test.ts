import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { identify, isBelow } from '../../src/core/world.js';

describe('ancestor processes', () => {
  it('AGT-01 SES-07 a process descends from those that started it, and from no other', async () => {
    const parent = identify(process.ppid);
    expect(isBelow(parent)).toBe(true);
    // A number that was given to another process since, another boot, another host.
    expect(isBelow({ ...parent, started: '1' })).toBe(false);
    expect(isBelow({ ...parent, boot: 'another' })).toBe(false);
    expect(isBelow({ ...parent, host: 'another' })).toBe(false);
    // What is above all says nothing, but in a container, where it may be an agent.
    expect(isBelow(identify(1))).toBe(identify(1).host.includes('/'));
    const child = spawn('sleep', ['1000']);
    await once(child, 'spawn');
    expect(isBelow(identify(child.pid as number))).toBe(false);
    child.kill();
  });
});
