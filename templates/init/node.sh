#!/bin/sh
# Gets this Node project ready to work in: installs dependencies, then runs a smoke test.
# Run it from anywhere, as often as you like: sh .forge/init.sh  It asks nothing.
# It is yours to change: exit non-zero when something fails, with one clear line on stderr.
set -eu

# The repository's root is the parent of the folder this script is in.
case $0 in
  */*) CDPATH='' cd -- "${0%/*}/.." ;;
  *) CDPATH='' cd -- .. ;;
esac

# No questions, and test runners end instead of watching for changes.
exec </dev/null
CI=${CI:-true}
COREPACK_ENABLE_DOWNLOAD_PROMPT=0
export CI COREPACK_ENABLE_DOWNLOAD_PROMPT

say() { printf 'init: %s\n' "$1"; }
warn() { printf 'init: warning: %s\n' "$1" >&2; }
fail() {
  printf 'init: failed: %s\n' "$1" >&2
  exit 1
}

# Answers one question about package.json with one line. Node reads it; grep would be fooled.
ask() {
  # shellcheck disable=SC2016 # what looks like a shell expansion belongs to JavaScript
  node -e '
    const fs = require("fs");
    const path = require("path");
    const read = () => {
      const value = JSON.parse(fs.readFileSync("package.json", "utf8").replace(/^\uFEFF/, ""));
      if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error("it is not an object");
      return value;
    };
    const filled = (v) => v !== null && typeof v === "object" && Object.keys(v).length > 0;
    const kinds = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "workspaces"];

    // Only the major version counts here; what is not understood is taken as met.
    const holds = (major, part) => {
      const found = /^(>=|<=|>|<|=|\^|~)?v?(\d+)(.*)$/.exec(part);
      if (!found) return true;
      const [, sign, digits, rest] = found;
      const wanted = Number(digits);
      const whole = /^(\.[0x*])*(-0)?$/i.test(rest);
      if (sign === ">=") return major >= wanted;
      if (sign === ">") return whole && rest === "" ? major > wanted : major >= wanted;
      if (sign === "<=") return major <= wanted;
      if (sign === "<") return whole ? major < wanted : major <= wanted;
      return major === wanted;
    };
    const fits = (range, major) =>
      range.split("||").some((alternative) =>
        alternative
          .replace(/(\S+)\s+-\s+(\S+)/g, ">=$1 <=$2")
          .replace(/([<>=~^])\s+/g, "$1")
          .trim()
          .split(/\s+/)
          .every((part) => holds(major, part)));

    const isFile = (name) => {
      try {
        return fs.statSync(name).isFile();
      } catch {
        return false;
      }
    };
    // A file that `node --check` can judge: JavaScript, or a command without an extension whose first line names node.
    const checkable = (name) => {
      const extension = path.extname(name);
      if (!isFile(name)) return false;
      if ([".js", ".mjs", ".cjs"].includes(extension)) return true;
      return extension === "" && /^#!.*\bnode\b/.test(fs.readFileSync(name, "utf8").slice(0, 200));
    };
    const entry = (pkg) => {
      const bins = filled(pkg.bin) ? Object.values(pkg.bin) : [pkg.bin];
      const names = [pkg.main, ...bins, "index.js"].filter((name) => typeof name === "string" && name !== "");
      return names.flatMap((name) => [name, `${name}.js`, `${name}/index.js`]).map((name) => path.relative("", name)).find(checkable);
    };

    const answers = {
      dependencies: (pkg) => (kinds.some((kind) => filled(pkg[kind])) ? "yes" : "no"),
      engine: (pkg) => {
        const range = pkg.engines?.node;
        return typeof range !== "string" || fits(range, Number(process.versions.node.split(".")[0])) ? "" : range;
      },
      smoke: (pkg) => {
        const has = (name) => typeof pkg.scripts?.[name] === "string" && pkg.scripts[name].trim() !== "";
        if (has("smoke")) return "smoke";
        return has("test") && !/no test specified/i.test(pkg.scripts.test) ? "test" : "";
      },
      entry: (pkg) => entry(pkg) ?? "",
    };
    try {
      console.log(answers[process.argv[1]](read()));
    } catch (error) {
      console.error(`init: failed: package.json: ${error.message}`);
      process.exitCode = 1;
    }
  ' "$1"
}

# The lock file says which package manager the project uses; without one it is npm.
find_manager() {
  lock=
  for name in pnpm-lock.yaml yarn.lock bun.lock bun.lockb package-lock.json npm-shrinkwrap.json; do
    if [ -f "$name" ]; then
      lock=$name
      break
    fi
  done
  case $lock in
    pnpm-lock.yaml) manager=pnpm ;;
    yarn.lock) manager=yarn ;;
    bun.lock | bun.lockb) manager=bun ;;
    *) manager=npm ;;
  esac
}

# Exactly what the lock file says, never newer; without a lock file no new one is left in the tree.
install() {
  case $lock in
    pnpm-lock.yaml) pnpm install --frozen-lockfile ;;
    yarn.lock)
      case $(yarn --version) in
        0.* | 1.*) yarn install --frozen-lockfile --non-interactive ;;
        *) yarn install --immutable ;;
      esac
      ;;
    bun.lock | bun.lockb) bun install --frozen-lockfile ;;
    package-lock.json | npm-shrinkwrap.json) npm ci --no-audit --no-fund ;;
    *) npm install --no-package-lock --no-audit --no-fund ;;
  esac
}

say 'looking for node'
command -v node >/dev/null 2>&1 || fail 'node is not on PATH; install Node.js and run this again'

wants_install=no
script=
entry=
if [ -f package.json ]; then
  say 'reading package.json'
  unmet=$(ask engine) || exit 1
  wants_install=$(ask dependencies) || exit 1
  script=$(ask smoke) || exit 1
  entry=$(ask entry) || exit 1
  [ -z "$unmet" ] || warn "package.json asks for node $unmet, this is $(node --version)"
  find_manager
  [ -z "$lock" ] || wants_install=yes
else
  say 'no package.json here yet'
fi

if [ "$wants_install" = yes ] || [ -n "$script" ]; then
  command -v "$manager" >/dev/null 2>&1 ||
    fail "$manager is not on PATH, and ${lock:-package.json} needs it; install $manager and run this again"
fi

if [ "$wants_install" = yes ]; then
  say "installing dependencies with $manager (${lock:-no lock file})"
  install || fail "$manager could not install the dependencies; its messages stand above"
else
  say 'nothing to install: no dependencies and no lock file'
fi

if [ -n "$script" ]; then
  say "smoke test: $manager run $script"
  "$manager" run "$script" || fail "the smoke test failed: $manager run $script"
elif [ -n "$entry" ]; then
  say "smoke test: node --check $entry"
  node --check "./$entry" || fail "the smoke test failed: node --check $entry"
else
  say 'smoke test: node starts'
  node -e 0 || fail 'the smoke test failed: node -e 0'
fi

say 'ready'
