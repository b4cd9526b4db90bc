import { describe, expect, it } from 'vitest';
import { asBuilder } from '../../src/cycle/builder.js';

describe('the environment of a builder', () => {
  it("B-93 is the caller's without forge's own keys", () => {
    const env = {
      PATH: '/bin',
      API_TOKEN: 't',
      NOTHING: undefined,
      FORGE_TRUST: 'sha',
      FORGE_DIR: '..',
      FORGE_ROLE: 'supervisor',
    };
    expect(asBuilder(env)).toEqual({ PATH: '/bin', API_TOKEN: 't', FORGE_ROLE: 'builder' });
  });
});
