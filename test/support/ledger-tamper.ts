import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { append } from '../../src/ledger/append.js';
import { segmentOf } from '../../src/ledger/container.js';
import type { Verdict } from '../../src/ledger/verify.js';
import { type Desk, randomOf, World } from './ledger-world.js';

/** A change of one ledger file, or null where the file cannot be changed that way. */
type Tamper = (desk: Desk, name: string, random: (below: number) => number) => string | null;

const edit =
  (change: (lines: string[], random: (below: number) => number) => string[] | null): Tamper =>
  (desk, name, random) => {
    const path = join(desk.ledger, name);
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
    const changed = change([...lines], random);
    if (!changed || changed.join('\n') === lines.join('\n')) return null;
    writeFileSync(path, changed.map((line) => `${line}\n`).join(''));
    return '';
  };

const cut =
  (least: number, most: number): Tamper =>
  (desk, name, random) => {
    const bytes = readFileSync(join(desk.ledger, name));
    const length = Math.min(bytes.length, least + random(most ? most - least : bytes.length));
    writeFileSync(join(desk.ledger, name), bytes.subarray(0, bytes.length - length));
    return `${length} of ${bytes.length} bytes`;
  };

export const TAMPERS: Record<string, Tamper> = {
  'one byte': (desk, name, random) => {
    const bytes = readFileSync(join(desk.ledger, name));
    const at = random(bytes.length);
    bytes[at] = (bytes[at] as number) ^ (1 << random(8));
    writeFileSync(join(desk.ledger, name), bytes);
    return `byte ${at} is ${bytes[at]}`;
  },
  'line changed': edit((lines, random) => {
    const at = random(lines.length);
    lines[at] = (lines[at] as string).replace(/"text":"\w/, '"text":"Z');
    return lines;
  }),
  'line deleted': edit((lines, random) => lines.toSpliced(random(lines.length), 1)),
  'line duplicated': edit((lines, random) => {
    const at = random(lines.length);
    return lines.toSpliced(random(lines.length + 1), 0, lines[at] as string);
  }),
  'lines reordered': edit((lines, random) => {
    if (lines.length < 2) return null;
    const [line] = lines.splice(random(lines.length), 1);
    return lines.toSpliced(random(lines.length + 1), 0, line as string);
  }),
  'SUCCESS to FAILURE': edit((lines) => lines.map((line) => line.replace('SUCCESS', 'FAILURE'))),
  'FAILURE to SUCCESS in the last line': edit((lines) =>
    lines.with(-1, (lines.at(-1) as string).replace('FAILURE', 'SUCCESS')),
  ),
  'file removed': (desk, name) => {
    rmSync(join(desk.ledger, name));
    return '';
  },
  'file renamed': (desk, name, random) => {
    const seg = segmentOf(name) ?? '';
    const to = random(2) === 0 ? name.replace('.jsonl', '.bak') : name.replace(seg, '0123abcd');
    renameSync(join(desk.ledger, name), join(desk.ledger, to));
    return to;
  },
  'file truncated': cut(2, 0),
  'tail torn': cut(2, 60),
  'file emptied': (desk, name) => {
    writeFileSync(join(desk.ledger, name), '');
    return '';
  },
};

export interface TamperResult {
  what: string;
  verdict: Verdict;
  /** Nothing says that something is wrong. */
  isCalledIntact: boolean;
}

/** Ada writes, Bob has pulled; each case tampers with a copy of one of them. */
export class TamperedWorld {
  private readonly world: World;
  private count = 0;

  constructor(private readonly random: (below: number) => number) {
    this.world = new World(random);
    const [ada, bob] = this.world.desks as [Desk, Desk];
    for (let i = 0; i < 5; i++) {
      this.evaluate(ada, 1 + random(4));
      this.world.work(ada);
    }
    ada.git('push', '-q', 'origin', 'HEAD');
    bob.git('pull', '-q');
    for (const desk of [ada, bob]) this.evaluate(desk, 4);
  }

  private evaluate(desk: Desk, count: number): void {
    append(
      desk.context,
      Array.from({ length: count }, (_, i) => ({
        ...{ tier: 'evaluation' as const, kind: 'cycle', text: `t${this.random(1e9)}` },
        classification: i % 2 === 0 ? 'SUCCESS' : 'FAILURE',
      })),
    );
  }

  async tamper(): Promise<TamperResult | null> {
    const { world, random } = this;
    const from = world.desks[random(2)] as Desk;
    const root = join(world.folder, `t${this.count++}`);
    cpSync(from.root, root, { recursive: true });
    const desk = world.addDesk(`t${this.count}`, root);
    try {
      // A commit first makes the copy's own records committed ones.
      const isCommitted = random(2) === 0;
      if (isCommitted) world.work(desk);
      if (random(3) > 0) await world.check(desk);
      const name = world.pick(desk.files().filter((file) => !file.startsWith('init-'))) as string;
      const kind = world.pick(Object.keys(TAMPERS)) as string;
      const how = TAMPERS[kind]?.(desk, name, random) ?? null;
      if (how === null) return null;
      if (isCommitted && random(2) === 0) world.work(desk);
      if (random(3) === 0)
        append(desk.context, [{ tier: 'note', kind: 'note', text: 'later' }], { evenDamaged: true });
      world.isEdited = true;
      const verdict = await world.check(desk);
      const isCalledIntact = verdict.findings.every(({ code: found }) => found === 'elsewhere');
      return { what: `${from.name}: ${kind} ${how} in ${name}`, verdict, isCalledIntact };
    } finally {
      world.isEdited = false;
      world.removeDesk(desk);
      rmSync(root, { recursive: true });
    }
  }

  remove(): void {
    this.world.remove();
  }
}

export const tamperedWorld = (seed: number): TamperedWorld => new TamperedWorld(randomOf(seed));
