
# ---- Python ----

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PYTHONDONTWRITEBYTECODE=1

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
  venv=.venv/bin/python
}

python_version() {
  case $tool in
    pip) "$python" --version ;;
    *) "$tool" --version ;;
  esac
}

python_files() {
  checksums -name pyproject.toml -o -name uv.lock -o -name poetry.lock -o -name '*requirements*.txt' \
    -o -path '*/requirements/*.txt' -o -name 'constraints*.txt' -o -name setup.py -o -name setup.cfg
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
  if ! "$venv" -c 'import pip' >/dev/null 2>&1; then
    "$python" -c 'import ensurepip, venv' >/dev/null 2>&1 ||
      fail "$name: $python cannot make virtual environments; on Debian and Ubuntu: apt-get install python3-venv"
    run "$python" -m venv --clear .venv
  fi
  printf '*\n' >.venv/.gitignore
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

for name in ("requirements", "requirements-dev", "requirements-test", "dev-requirements", "test-requirements"):
    if os.path.isfile(name + ".txt"):
        print("-r", name + ".txt", sep="\n")
text = open("pyproject.toml", "rb").read().decode() if os.path.isfile("pyproject.toml") else ""
project = tomllib.loads(text)
table = project.get("project", {})
optional = table.get("optional-dependencies", {})
extras = [name for name in ("dev", "test", "tests") if name in optional]
packages = []
if "build-system" in project or os.path.isfile("setup.py"):
    print("-e", "." + ("[" + ",".join(extras) + "]" if extras else ""), sep="\n")
else:
    packages = sum([optional[name] for name in extras], table.get("dependencies", []))
for name in ("dev", "test", "tests"):
    packages = packages + project.get("dependency-groups", {}).get(name, [])
for package in packages:
    if isinstance(package, str):
        # pip would take it for an option.
        if package.startswith("-"):
            sys.exit("pyproject.toml: this is no package: " + repr(package))
        print(package)
'
}

in_python() {
  case $tool in
    uv) uv run --no-sync python "$@" ;;
    poetry) poetry run python "$@" ;;
    pip) "$venv" "$@" ;;
  esac
}

# Where pytest is installed, it collects the tests, which also imports their modules.
python_check() {
  if in_python -c 'import pytest' >/dev/null 2>&1; then
    step 'pytest --collect-only' collect
  else
    step 'import what is here' in_python -c "$import_all"
  fi
}

collect() {
  in_python -m pytest --collect-only -q -p no:cacheprovider
  code=$?
  # 5: there are no tests.
  [ "$code" -eq 5 ] || return "$code"
}

# The packages are imported. A single file may be a script that does something: it is compiled.
import_all='
import glob, importlib, os, sys
sys.path[:0] = ["src", "."]
for path in sorted(glob.glob("src/*/__init__.py") or glob.glob("*/__init__.py")):
    name = os.path.basename(os.path.dirname(path))
    if name not in ("test", "tests", "docs", "examples", "build", "dist"):
        importlib.import_module(name)
for path in sorted(glob.glob("*.py")):
    compile(open(path, "rb").read(), path, "exec")
'
