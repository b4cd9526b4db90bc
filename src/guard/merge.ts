import type { GuardClass, Hit, Rule } from './rule.js';

/** A hit with the rule that made it; the rank is the rule's place in the table. */
export interface Finding {
  rule: Rule;
  rank: number;
  start: number;
  end: number;
}

/** Which class names digits and words that several could claim; the others stand beside anything. */
const CLAIMS: readonly GuardClass[] = ['secret', 'card', 'iban', 'national-id', 'email', 'phone', 'ip'];

/** Findings of one class that overlap become one that spans them all, named by the best of them. */
function mergeClass(findings: readonly Finding[]): Finding[] {
  const merged: Finding[] = [];
  for (const finding of [...findings].sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = merged.at(-1);
    if (last === undefined || finding.start >= last.end) {
      merged.push({ ...finding });
      continue;
    }
    // The table has the vendors' rules before the generic ones.
    if (finding.rank < last.rank) Object.assign(last, { rule: finding.rule, rank: finding.rank });
    last.end = Math.max(last.end, finding.end);
  }
  return merged;
}

/** Without those that lie in one of `owners`; both are sorted, and owners do not overlap. */
function dropInside(findings: readonly Finding[], owners: readonly Finding[]): Finding[] {
  let at = 0;
  return findings.filter((finding) => {
    while (at < owners.length && (owners[at]?.end ?? 0) < finding.end) at += 1;
    const owner = owners[at];
    return owner === undefined || owner.start > finding.start;
  });
}

/** Without those that share a character with one of `owners`, in whatever order these are. */
export function dropOverlapping(findings: readonly Finding[], owners: readonly Finding[]): Finding[] {
  const spans = mergeClass(owners);
  let at = 0;
  return [...findings].sort(bySpan).filter((finding) => {
    while (at < spans.length && (spans[at]?.end ?? 0) <= finding.start) at += 1;
    const span = spans[at];
    return span === undefined || span.start >= finding.end;
  });
}

const bySpan = (a: Finding, b: Finding): number => a.start - b.start || a.end - b.end;

export function mergeFindings(findings: readonly Finding[]): Hit[] {
  const classes = new Map<GuardClass, Finding[]>();
  for (const finding of findings) {
    const known = classes.get(finding.rule.class);
    if (known === undefined) classes.set(finding.rule.class, [finding]);
    else known.push(finding);
  }
  let claimed: Finding[] = [];
  for (const name of CLAIMS) {
    claimed = claimed.concat(dropInside(mergeClass(classes.get(name) ?? []), claimed)).sort(bySpan);
    classes.delete(name);
  }
  const others = [...classes.values()].flatMap((rest) => mergeClass(rest));
  return [...claimed, ...others].sort(bySpan).map(({ rule, start, end }) => ({
    rule: rule.id,
    class: rule.class,
    what: rule.what,
    isCertain: !rule.isLoose,
    start,
    end,
  }));
}
