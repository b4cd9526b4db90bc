/** The end-to-end tests run the built command; it is built when the sources are newer. */
export async function setup(): Promise<void> {
  const { ensureBuilt } = await import(new URL('../../scripts/built.mjs', import.meta.url).href);
  ensureBuilt();
}
