/** Names that begin with the word or that it begins with, or that share most of its letters, nearest first. */
export function namesLike(word: string, names: readonly string[]): string[] {
  const begun = names.filter((name) => word !== '' && name.startsWith(word));
  if (begun.length > 0) return begun;
  const within = names.filter((name) => name.length > 3 && word.startsWith(`${name}-`));
  if (within.length > 0) return within;
  const shared = (name: string): number => {
    const left = [...name];
    return [...word].filter((letter) => left.includes(letter) && left.splice(left.indexOf(letter), 1)).length;
  };
  return names
    .map((name) => ({ name, share: shared(name) / Math.max(word.length, name.length) }))
    .filter(({ share }) => share > 0.7)
    .sort((a, b) => b.share - a.share)
    .map(({ name }) => name);
}
