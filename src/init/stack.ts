import { compareText } from '../core/text.js';

export const STACKS = ['node', 'python', 'rust', 'go', 'mixed', 'none'] as const;
export type Stack = (typeof STACKS)[number];

/** What a part of a project is made with. */
export type Toolchain = Exclude<Stack, 'mixed' | 'none'>;

/** One project of a repository: most have one, at the top. */
export interface Part {
  stack: Toolchain;
  /** From the repository's top, with forward slashes; `.` is the top. */
  folder: string;
  /** The file that told. */
  by: string;
}

/** The names of the files in one folder. */
export interface FolderView {
  folder: string;
  files: ReadonlySet<string>;
}

interface Marks {
  /** A folder with one of these is a project, unless one around it is the project that it belongs to. */
  marks: readonly string[];
  /** One with such a file of its own is not part of the one around it. */
  own: readonly string[];
  /** With such a file around it, it is. */
  around?: string;
}

const MARKS: Record<Toolchain, Marks> = {
  node: {
    marks: ['package.json'],
    own: ['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb'],
  },
  python: {
    marks: ['uv.lock', 'poetry.lock', 'pyproject.toml', 'requirements.txt', 'setup.py'],
    own: ['uv.lock', 'poetry.lock'],
  },
  rust: { marks: ['Cargo.toml'], own: ['Cargo.lock'] },
  go: { marks: ['go.work', 'go.mod'], own: ['go.mod'], around: 'go.work' },
};
export const TOOLCHAINS = Object.keys(MARKS) as Toolchain[];

/** More would be a page of lines that nobody reads. */
const MAX_PARTS = 20;

/** The projects in these folders, the top first, then in path order. A folder belongs to a project around it, as in a workspace. */
export function detectParts(folders: readonly FolderView[]): Part[] {
  const views = [...folders].sort((a, b) => rank(a.folder, b.folder));
  const parts = views.flatMap((view) =>
    TOOLCHAINS.flatMap((stack): Part[] => {
      const { marks, own, around } = MARKS[stack];
      const by = marks.find((name) => view.files.has(name));
      if (by === undefined) return [];
      const above = views.filter(({ folder }) => folder !== view.folder && isInside(view.folder, folder));
      const belongs = above.some(({ files }) => marks.some((name) => files.has(name)));
      const inWorkspace = around !== undefined && above.some(({ files }) => files.has(around));
      const isOwn = !inWorkspace && own.some((name) => view.files.has(name));
      return belongs && !isOwn ? [] : [{ stack, folder: view.folder, by }];
    }),
  );
  return parts.slice(0, MAX_PARTS);
}

const rank = (a: string, b: string): number => Number(b === '.') - Number(a === '.') || compareText(a, b);

const isInside = (folder: string, outer: string): boolean => outer === '.' || folder.startsWith(`${outer}/`);

/** What all parts together are. */
export function stackOf(parts: readonly Part[]): Stack {
  const stacks = new Set(parts.map(({ stack }) => stack));
  const [first] = stacks;
  if (first === undefined) return 'none';
  return stacks.size === 1 ? first : 'mixed';
}

/** The parts that a stack stands for: those found, or one at the top when it was only named. */
export function partsFor(stack: Stack, found: readonly Part[]): Part[] {
  if (stack === 'none') return [];
  if (stack === 'mixed') return [...found];
  const same = found.filter((part) => part.stack === stack);
  return same.length > 0 ? same : [{ stack, folder: '.', by: '' }];
}
