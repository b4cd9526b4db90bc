declare const FORGE_VERSION: string | undefined;

/** From the build; "dev" when run from the sources. */
export const version = (): string => (typeof FORGE_VERSION === 'string' ? FORGE_VERSION : 'dev');
