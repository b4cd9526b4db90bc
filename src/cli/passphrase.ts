import { ForgeError, usage } from '../core/error.js';
import type { Call, OptionSpec } from './spec.js';

export const PASSPHRASE_STDIN: OptionSpec = {
  flags: '--passphrase-stdin',
  help: "read the key's passphrase from stdin",
};

/** From stdin where it was asked for; never an argument, which every process here could read. */
async function givenPassphrase(call: Call): Promise<{ passphrase?: string }> {
  if (call.options.passphraseStdin !== true) return {};
  const passphrase = await call.text('-');
  if (passphrase === '') throw usage('passphrase.empty', 'The passphrase on stdin is empty.');
  return { passphrase };
}

/** Runs `work`, and once more with what a person types when the key turns out to be encrypted. */
export async function withPassphrase<T>(
  call: Call,
  work: (given: { passphrase?: string }) => Promise<T>,
): Promise<T> {
  const given = await givenPassphrase(call);
  try {
    return await work(given);
  } catch (error) {
    const isAsked = error instanceof ForgeError && error.code === 'key.passphrase' && call.interactive;
    if (!isAsked || given.passphrase !== undefined) throw error;
    const { secret } = await import('./prompt.js');
    return work({ passphrase: await secret('Passphrase of the key:') });
  }
}

/** For a new key: typed twice; empty for none. */
export async function choosePassphrase(): Promise<{ passphrase?: string }> {
  const { secret } = await import('./prompt.js');
  const passphrase = await secret(
    'Passphrase for the new key (empty: none, and sessions seal by themselves):',
  );
  if (passphrase === '') return {};
  if ((await secret('Once more:')) === passphrase) return { passphrase };
  throw usage('passphrase.differs', 'The two passphrases differ; nothing was made.');
}
