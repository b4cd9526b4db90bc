export function peer(name: string, version: string): string | null;
