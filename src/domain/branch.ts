/** git-check-ref-format(1), as far as it matters for a name that stands in a ref. A HEAD file may have been written by hand. */
export const isBranchName = (name: string): boolean =>
  /^[^-/.\s~^:?*[\\\p{C}][^\s~^:?*[\\\p{C}]*$/u.test(name) &&
  !/\.\.|@\{|\/\/|\/\.|[/.]$|\.lock(\/|$)|^@$/.test(name);
