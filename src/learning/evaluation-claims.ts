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

  /** Adds a row with the `patterns` of its record; it may come from anywhere: what has no such form says nothing. */
  add(patterns: readonly (Record<string, unknown> | null)[]): void {
    for (const { pattern, scope, holds } of patterns.map((entry) => entry ?? {}))
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
    // A copy: a part of a longer text would keep all of that.
    this.known.set(Buffer.from(json).toString(), this.claims.slice(start));
  }

  /** The claims of a row begin here, and end where those of the next one begin. */
  startOf(row: number): number {
    return this.starts[row] as number;
  }

  /** What a claim speaks of, by its place in `texts`. */
  textOf(claim: number): number {
    return (this.claims[claim] as number) >> 1;
  }

  holds(claim: number): boolean {
    return ((this.claims[claim] as number) & 1) === 1;
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
