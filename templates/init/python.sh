
# ---- Python ----

PIP_DISABLE_PIP_VERSION_CHECK=1
PIP_NO_INPUT=1
PYTHONDONTWRITEBYTECODE=1
export PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_INPUT PYTHONDONTWRITEBYTECODE

# The lock file says which tool the project uses; without one it is pip in a virtual environment.
python_tools() {
  tool=pip
  [ ! -f poetry.lock ] || tool=poetry
  [ ! -f uv.lock ] || tool=uv
  case $tool in
    uv) need uv 'uv.lock needs it: https://docs.astral.sh/uv' ;;
    poetry) need poetry 'poetry.lock needs it: pipx install poetry' ;;
    pip)
      python=python3
      command -v python3 >/dev/null 2>&1 || python=python
      need "$python" 'install Python 3: https://www.python.org'
      ;;
  esac
}

python_version() {
  case $tool in
    pip) "$python" --version ;;
    *) "$tool" --version ;;
  esac
}

python_files() {
  checksums -name pyproject.toml -o -name uv.lock -o -name poetry.lock -o -name 'requirements*.txt' -o \
    -name '*requirements.txt' -o -path '*/requirements/*.txt' -o -name 'constraints*.txt' -o -name setup.py -o -name setup.cfg
}

python_look() {
  venv=.venv/bin/python
  [ ! -d .venv/Scripts ] || venv=.venv/Scripts/python.exe
}

python_install() {
  case $tool in
    uv) run uv sync --locked && made=.venv ;;
    poetry) run poetry install --no-interaction --no-ansi ;;
    pip) pip_install ;;
  esac
}

# A virtual environment that git ignores, whatever the project's .gitignore says.
pip_install() {
  if [ ! -x "$venv" ]; then
    "$python" -c 'import ensurepip, venv' >/dev/null 2>&1 ||
      fail "$name: $python cannot make virtual environments; on Debian and Ubuntu: apt-get install python3-venv"
    run "$python" -m venv --clear .venv
    python_look
  fi
  # A run that was killed in between has left it without pip, and some tools make it so.
  "$venv" -c 'import pip' >/dev/null 2>&1 || run "$venv" -m ensurepip
  [ -e .venv/.gitignore ] || printf '*\n' >.venv/.gitignore
  made=$venv
  pip_arguments >"$kept/pip" 2>"$kept/log" || fail "$name: $(tail -n 1 "$kept/log")"
  set --
  while IFS= read -r argument; do set -- "$@" "$argument"; done <"$kept/pip"
  if [ "$#" -eq 0 ]; then
    say "$name: no dependencies"
  else
    run "$venv" -m pip install "$@"
  fi
}

# What pip is to install, an argument a line: the requirement files, and what pyproject.toml asks for.
pip_arguments() {
  "$venv" -c '
import os, sys
try:
    import tomllib
except ImportError:
    from pip._vendor import tomli as tomllib

def show(*arguments):
    for argument in arguments:
        if argument and "\n" not in argument:
            print(argument)

def within(table, key, kind, called):
    value = table.get(key, kind())
    if not isinstance(value, kind):
        sys.exit("pyproject.toml: " + key + " is no " + called)
    return value

def show_packages(table, key):
    for package in within(table, key, list, "list"):
        if isinstance(package, str):
            # pip would take it for an option.
            if package.startswith("-"):
                sys.exit("pyproject.toml: " + key + ": this is no package: " + repr(package))
            show(package)

names = ("requirements", "requirements-dev", "requirements-test", "dev-requirements", "test-requirements")
for name in names:
    if os.path.isfile(name + ".txt"):
        show("-r", name + ".txt")
project = {}
if os.path.isfile("pyproject.toml"):
    try:
        with open("pyproject.toml", "rb") as file:
            project = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        sys.exit("pyproject.toml: " + str(error))
table = within(project, "project", dict, "table")
optional = within(table, "optional-dependencies", dict, "table")
extras = [name for name in ("dev", "test", "tests") if name in optional]
if "build-system" in project or os.path.isfile("setup.py"):
    show("-e", "." + ("[" + ",".join(extras) + "]" if extras else ""))
else:
    show_packages(table, "dependencies")
    for name in extras:
        show_packages(optional, name)
groups = within(project, "dependency-groups", dict, "table")
for name in ("dev", "test", "tests"):
    show_packages(groups, name)
'
}

in_python() {
  case $tool in
    uv) uv run --no-sync python "$@" ;;
    poetry) poetry run python "$@" ;;
    pip) "$venv" "$@" ;;
  esac
}

# pytest collects the tests where it is installed: that imports all that they import. No tests (exit 5) is no failure.
python_prove() {
  if in_python -c 'import pytest' >/dev/null 2>&1; then
    harmless=5
    step 'pytest --collect-only' in_python -m pytest --collect-only -q -p no:cacheprovider
    harmless=''
  else
    step 'import what is here' in_python -c "$import_all"
  fi
}

# The packages are imported. A single file may be a script that does something: it is compiled.
import_all='
import glob, importlib, os, sys

aside = {"test", "tests", "docs", "examples", "build", "dist"}
for place in ("src", "."):
    found = sorted(glob.glob(os.path.join(place, "*", "__init__.py")))
    names = [name for name in (os.path.basename(os.path.dirname(path)) for path in found) if name not in aside]
    sys.path.insert(0, os.path.abspath(place))
    for name in names:
        importlib.import_module(name)
        print("imported", name)
    if names:
        break
for path in sorted(glob.glob("*.py")):
    with open(path, "rb") as file:
        compile(file.read(), path, "exec")
    print("compiled", path)
'
