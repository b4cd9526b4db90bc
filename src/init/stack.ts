import { compareText } from '../core/text.js';

export const STACKS = ['node', 'python', 'rust', 'go', 'mixed', 'none'] as const;
export type Stack = (typeof STACKS)[number];
type Toolchain = Exclude<Stack, 'mixed' | 'none'>;

/** One project of a repository. Most repositories have one, at the top. */
export interface Part {
  stack: Toolchain;
  /** Relative to the repository's top, with forward slashes; `.` is the top. */
  folder: string;
  /** The file that identified it. */
  by: string;
}

/** The names of the files in one folder. */
export interface FolderView {
  folder: string;
  files: ReadonlySet<string>;
}

/** `marks` identify a project. A project inside another one is separate only if it has one of the `own` files. */
const MARKS: Record<Toolchain, { marks: readonly string[]; own: readonly string[] }> = {
  node: {
    marks: ['package.json'],
    own: ['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb'],
  },
  python: {
    marks: ['uv.lock', 'poetry.lock', 'pyproject.toml', 'requirements.txt', 'setup.py'],
    own: ['uv.lock', 'poetry.lock'],
  },
  rust: { marks: ['Cargo.toml'], own: ['Cargo.lock'] },
  go: { marks: ['go.work', 'go.mod'], own: ['go.mod'] },
};
export const TOOLCHAINS = Object.keys(MARKS) as Toolchain[];

const MAX_PARTS = 20;

/** Finds the projects in these folders: the top first, then by path. Members of a workspace belong to it. */
export function detectParts(folders: readonly FolderView[]): Part[] {
  const views = [...folders].sort(
    (a, b) => Number(b.folder === '.') - Number(a.folder === '.') || compareText(a.folder, b.folder),
  );
  const parts = views.flatMap(({ folder, files }) => {
    const above = views.filter((outer) => isInside(folder, outer.folder));
    return TOOLCHAINS.flatMap((stack): Part[] => {
      const { marks, own } = MARKS[stack];
      const by = marks.find((name) => files.has(name));
      if (by === undefined) return [];
      const isNested = above.some((outer) => marks.some((name) => outer.files.has(name)));
      const inGoWorkspace = stack === 'go' && above.some((outer) => outer.files.has('go.work'));
      const isSeparate = !inGoWorkspace && own.some((name) => files.has(name));
      return isNested && !isSeparate ? [] : [{ stack, folder, by }];
    });
  });
  return parts.slice(0, MAX_PARTS);
}

const isInside = (folder: string, outer: string): boolean =>
  folder !== outer && (outer === '.' || folder.startsWith(`${outer}/`));

export function stackOf(parts: readonly Part[]): Stack {
  const stacks = new Set(parts.map(({ stack }) => stack));
  const [first = 'none'] = stacks;
  return stacks.size > 1 ? 'mixed' : first;
}

/** The parts of a stack: the detected ones, or one at the top if none was detected. */
export function partsFor(stack: Stack, found: readonly Part[]): Part[] {
  if (stack === 'none') return [];
  if (stack === 'mixed') return [...found];
  const same = found.filter((part) => part.stack === stack);
  return same.length > 0 ? same : [{ stack, folder: '.', by: '' }];
}
