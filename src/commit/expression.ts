/**
 * A small part of regular expressions for patterns that come with a repository: one text is matched as a whole, in time that
 * grows with its length alone. No pattern can make a check slow, so none has to be run under a time limit.
 *
 * There are: characters, `.`, `\d \w \s` and `\` before a mark, `[a-z]` and `[^a-z]`, groups with `|`, `?` behind either; and
 * `* + {n} {n,} {n,m}` behind one character or class.
 */
export type Matcher = (text: string) => boolean;

/** From the places in `from`, the places that are reached. */
type Step = (text: string, from: ReadonlySet<number>) => ReadonlySet<number>;
type Char = (char: string) => boolean;

const MAX_PATTERN = 200;
const MAX_COUNT = 64;

/** Throws an Error that says in words what is wrong with it. */
export function compileExpression(source: string): Matcher {
  if (source.length > MAX_PATTERN) throw new Error(`more than ${MAX_PATTERN} characters`);
  const step = new Parser(source.replace(/^\^/, '').replace(/(?<!\\)\$$/, '')).parse();
  return (text) => step(text, new Set([0])).has(text.length);
}

/** Null when it can be used, else what is wrong with it. */
export function expressionProblem(source: string): string | null {
  try {
    compileExpression(source);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

const one =
  (is: Char): Step =>
  (text, from) => {
    const to = new Set<number>();
    for (const at of from) if (at < text.length && is(text[at] as string)) to.add(at + 1);
    return to;
  };

const all =
  (steps: readonly Step[]): Step =>
  (text, from) =>
    steps.reduce((places, step) => (places.size === 0 ? places : step(text, places)), from);

const any =
  (steps: readonly Step[]): Step =>
  (text, from) =>
    new Set(steps.flatMap((step) => [...step(text, from)]));

const maybe =
  (step: Step): Step =>
  (text, from) =>
    new Set([...from, ...step(text, from)]);

/** One character as often as it comes: each place is looked at once. */
const many =
  (is: Char): Step =>
  (text, from) => {
    const to = new Set(from);
    for (const start of from)
      for (let at = start; at < text.length && is(text[at] as string); at++) {
        if (to.has(at + 1)) break;
        to.add(at + 1);
      }
    return to;
  };

function times(is: Char, min: number, max: number | null): Step {
  const steps = Array.from({ length: min }, () => one(is));
  if (max === null) steps.push(many(is));
  else for (let i = min; i < max; i++) steps.push(maybe(one(is)));
  // What may be left out comes nested, or the third could come without the second: the same character, so the same places.
  return all(steps);
}

const CLASSES: Record<string, Char> = {
  d: (char) => char >= '0' && char <= '9',
  w: (char) => /^[A-Za-z0-9_]$/.test(char),
  s: (char) => /^\s$/.test(char),
};

class Parser {
  private at = 0;

  constructor(private readonly source: string) {}

  parse(): Step {
    const step = this.alternatives();
    if (this.at < this.source.length) throw new Error(`")" without "(" at ${this.at + 1}`);
    return step;
  }

  private alternatives(): Step {
    const steps = [this.sequence()];
    while (this.takes('|')) steps.push(this.sequence());
    return steps.length === 1 ? (steps[0] as Step) : any(steps);
  }

  private sequence(): Step {
    const steps: Step[] = [];
    while (this.at < this.source.length && !'|)'.includes(this.peek())) steps.push(this.item());
    return all(steps);
  }

  private item(): Step {
    if (this.takes('(')) {
      if (this.takes('?') && !this.takes(':')) throw new Error('"(?" other than "(?:" is not supported');
      const group = this.alternatives();
      if (!this.takes(')')) throw new Error('"(" without ")"');
      if ('*+{'.includes(this.peek() || ' '))
        throw new Error(`"${this.peek()}" behind a group is not supported`);
      return this.takes('?') ? maybe(group) : group;
    }
    return this.repeated(this.char());
  }

  private repeated(is: Char): Step {
    if (this.takes('?')) return maybe(one(is));
    if (this.takes('*')) return many(is);
    if (this.takes('+')) return all([one(is), many(is)]);
    if (this.peek() !== '{') return one(is);
    const match = /^\{(\d{1,3})(,(\d{1,3})?)?\}/.exec(this.source.slice(this.at));
    if (!match) throw new Error('"{" without a count behind it');
    this.at += match[0].length;
    const min = Number(match[1]);
    const max = match[2] === undefined ? min : match[3] === undefined ? null : Number(match[3]);
    if (Math.max(min, max ?? 0) > MAX_COUNT || (max !== null && max < min))
      throw new Error(`${match[0]}: counts go up to ${MAX_COUNT}, the smaller one first`);
    return times(is, min, max);
  }

  private char(): Char {
    const char = this.next();
    if (char === '.') return () => true;
    if (char === '[') return this.set();
    if (char === '\\') return this.escaped();
    if ('*+?{}]^$'.includes(char))
      throw new Error(`"${char}" at ${this.at}: write "\\${char}" for the character`);
    return (other) => other === char;
  }

  private escaped(): Char {
    const char = this.next();
    if (/[A-Za-z0-9]/.test(char) && !CLASSES[char]) throw new Error(`"\\${char}" is not supported`);
    return CLASSES[char] ?? ((other) => other === char);
  }

  private set(): Char {
    const isOther = this.takes('^');
    const parts: Char[] = [];
    while (!this.takes(']')) parts.push(this.setPart());
    return (char) => parts.some((is) => is(char)) !== isOther;
  }

  private setPart(): Char {
    const low = this.next();
    if (low === '\\') return this.escaped();
    if (this.peek() !== '-' || this.source[this.at + 1] === ']') return (char) => char === low;
    this.at++;
    const high = this.next();
    if (high === '\\' || high < low) throw new Error(`"${low}-${high}" is no range`);
    return (char) => char >= low && char <= high;
  }

  private peek(): string {
    return this.source[this.at] ?? '';
  }

  private takes(char: string): boolean {
    if (this.peek() !== char) return false;
    this.at++;
    return true;
  }

  private next(): string {
    const char = this.peek();
    if (char === '') throw new Error('it ends too early');
    this.at++;
    return char;
  }
}
