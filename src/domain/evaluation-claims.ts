/** A pattern as it is written in some evaluation. */
export interface PatternText {
  scope: string;
  pattern: string;
}

/** Lists of patterns that are remembered by their JSON. */
const MAX_KNOWN = 1000;

/** What the rows of a table say of patterns, in flat lists: a row's claims are numbers. */
export class Claims {
  readonly texts: PatternText[] = [];
  /** Twice the place of a text in `texts`, and 1 more where it is said to hold. Those of a row begin at `starts`. */
  private readonly claims: number[] = [];
  private readonly starts: number[] = [0];
  /** Places in `texts`, by scope and pattern. */
  private readonly places = new Map<string, Map<string, number>>();
  /** Cycles show the same patterns again and again. */
  private readonly known = new Map<string, readonly number[]>();

  /** Adds a row with the `patterns` of its record. */
  add(patterns: readonly Record<string, unknown>[]): void {
    for (const { pattern, scope, holds } of patterns)
      if (typeof pattern === 'string' && typeof scope === 'string')
        this.claims.push(this.placeOf(scope, pattern) * 2 + (holds === false ? 0 : 1));
    this.starts.push(this.claims.length);
  }

  /** As `add`, of a list of objects in JSON. */
  addJson(json: string): void {
    const known = this.known.get(json);
    if (known) {
      for (const claim of known) this.claims.push(claim);
      this.starts.push(this.claims.length);
      return;
    }
    const start = this.claims.length;
    this.add(JSON.parse(json));
    if (this.known.size === MAX_KNOWN) this.known.clear();
    this.known.set(json, this.claims.slice(start));
  }

  /** Hands over what a row says: which text, by its place in `texts`, and whether it holds. */
  each(row: number, take: (text: number, holds: boolean) => void): void {
    const end = this.starts[row + 1] as number;
    for (let at = this.starts[row] as number; at < end; at++) {
      const claim = this.claims[at] as number;
      take(claim >> 1, (claim & 1) === 1);
    }
  }

  private placeOf(scope: string, pattern: string): number {
    let ofScope = this.places.get(scope);
    if (!ofScope) {
      ofScope = new Map();
      this.places.set(scope, ofScope);
    }
    const known = ofScope.get(pattern);
    if (known !== undefined) return known;
    const place = this.texts.push({ scope, pattern }) - 1;
    ofScope.set(pattern, place);
    return place;
  }
}
