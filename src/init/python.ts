/** What the files at the top, and the test files, say about Python. */
export interface PythonFacts {
  files: ReadonlySet<string>;
  pyproject: string;
  /** The texts of other files at the top that may name pytest, by name: requirement files, setup.cfg, tox.ini. */
  more?: Readonly<Record<string, string>>;
  /** Files that hold tests, at the top or in `tests/` or `test/`. */
  tests?: readonly PythonTests[];
}

export interface PythonTests {
  /** From the top, with forward slashes. */
  path: string;
  text: string;
  /** Its folder is a package, or the top: unittest then finds it by itself. */
  isPackage: boolean;
}

interface Told {
  command: string;
  /** The file that told. */
  by: string;
}

/** In a list of packages (`"pytest>=8"`), or by itself (`pytest = "^8"`); not `pytest-cov` alone. */
const IN_PYPROJECT = /["']pytest(?:["'\s[<>=~!;(@])|^[ \t]*["']?pytest["']?[ \t]*=/m;
const IN_REQUIREMENTS = /^[ \t]*pytest(?![\w.-])/m;
const CONFIGURED = /^[ \t]*\[(?:tool[.:])?pytest\b/m;
const USED = /^[ \t]*(?:import|from)[ \t]+pytest\b/m;
const UNITTEST = /^[ \t]*(?:import|from)[ \t]+unittest\b/m;

/**
 * How a Python project's tests are run; null when no file tells. A word in a comment is no reason for pytest, and where
 * init.sh would not install it, it is the one that people have.
 */
export function pythonTest(facts: PythonFacts): Told | null {
  const { files, tests = [] } = facts;
  const tool = files.has('uv.lock') ? 'uv' : files.has('poetry.lock') ? 'poetry' : null;
  const installed = pytestInstalledBy(facts);
  const by = installed ?? pytestUsedBy(facts);
  if (by !== null) {
    if (tool) return { command: `${tool} run pytest`, by };
    return { command: `${installed === null ? 'python3' : '.venv/bin/python'} -m pytest`, by };
  }
  const first = tests.find(({ text }) => UNITTEST.test(text));
  if (!first) return null;
  const python = tool ? `${tool} run python` : '.venv/bin/python';
  const folder = first.path.slice(0, first.path.lastIndexOf('/'));
  return {
    command: `${python} -m unittest${first.isPackage ? '' : ` discover -s ${folder}`}`,
    by: first.path,
  };
}

function pytestInstalledBy({ pyproject, more = {} }: PythonFacts): string | null {
  if (IN_PYPROJECT.test(withoutComments(pyproject))) return 'pyproject.toml';
  const lists = Object.entries(more).filter(([name]) => name.endsWith('.txt'));
  return lists.find(([, text]) => IN_REQUIREMENTS.test(text))?.[0] ?? null;
}

function pytestUsedBy({ files, pyproject, more = {}, tests = [] }: PythonFacts): string | null {
  const own = ['pytest.ini', '.pytest.ini', 'conftest.py'].find((name) => files.has(name));
  if (own !== undefined) return own;
  if (CONFIGURED.test(pyproject)) return 'pyproject.toml';
  const settings = Object.entries(more).filter(([name]) => !name.endsWith('.txt'));
  const set = settings.find(([, text]) => CONFIGURED.test(text))?.[0];
  return set ?? tests.find(({ text }) => USED.test(text))?.path ?? null;
}

/** Whole lines of them: a `#` within a line may stand in a string. */
const withoutComments = (toml: string): string => toml.replace(/^[ \t]*#.*$/gm, '');
