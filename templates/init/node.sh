
# ---- Node ----

COREPACK_ENABLE_DOWNLOAD_PROMPT=0
YARN_ENABLE_TELEMETRY=0
export COREPACK_ENABLE_DOWNLOAD_PROMPT YARN_ENABLE_TELEMETRY

node_tools() {
  runtime=node
  if ! command -v node >/dev/null 2>&1 && command -v bun >/dev/null 2>&1; then runtime=bun; fi
  need "$runtime" 'install Node.js: https://nodejs.org'
}

node_version() { "$runtime" --version; }

node_files() {
  checksums -name package.json -o -name package-lock.json -o -name npm-shrinkwrap.json -o -name pnpm-lock.yaml \
    -o -name pnpm-workspace.yaml -o -name yarn.lock -o -name bun.lock -o -name bun.lockb \
    -o -name .npmrc -o -name .yarnrc -o -name .yarnrc.yml
}

# What package.json says, a line each: package manager, engine that is not met, dependencies (yes, no), script, entry.
# JavaScript reads it; grep would be fooled.
ask_package() {
  # shellcheck disable=SC2016 # what looks like a shell expansion belongs to JavaScript
  "$runtime" -e '
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
      if (!isFile(name) || /[\r\n]/.test(name)) return false;
      if ([".js", ".mjs", ".cjs"].includes(extension)) return true;
      return extension === "" && /^#!.*\bnode\b/.test(fs.readFileSync(name, "utf8").slice(0, 200));
    };
    const entry = (pkg) => {
      const bins = filled(pkg.bin) ? Object.values(pkg.bin) : [pkg.bin];
      const names = [pkg.main, ...bins, "index.js"].filter((name) => typeof name === "string" && name !== "");
      return names.flatMap((name) => [name, `${name}.js`, `${name}/index.js`]).map((name) => path.relative("", name)).find(checkable);
    };
    const engine = (pkg) => {
      const range = pkg.engines?.node;
      return typeof range !== "string" || fits(range, Number(process.versions.node.split(".")[0])) ? "" : range.replace(/[^ -~]/g, "?");
    };
    const script = (pkg) => {
      const has = (name) => typeof pkg.scripts?.[name] === "string" && pkg.scripts[name].trim() !== "";
      if (has("smoke")) return "smoke";
      return has("test") && !/no test specified/i.test(pkg.scripts.test) ? "test" : "";
    };
    const manager = (pkg) => /^(npm|pnpm|yarn|bun)@/.exec(pkg.packageManager ?? "")?.[1] ?? "";
    try {
      const pkg = read();
      const dependencies = kinds.some((kind) => filled(pkg[kind])) ? "yes" : "no";
      console.log([manager(pkg), engine(pkg), dependencies, script(pkg), entry(pkg) ?? ""].join("\n"));
    } catch (error) {
      console.error(error.message.split("\n")[0]);
      process.exitCode = 1;
    }
  '
}

# The package manager is the one that package.json or else the lock file names; without either it is npm.
node_look() {
  manager='' unmet='' wanted=no script='' entry='' lock='' via=''
  if [ -f package.json ]; then
    answers=$(ask_package 2>&1) || fail "$name: package.json: $answers"
    { read -r manager; read -r unmet; read -r wanted; read -r script; read -r entry; } <<ANSWERS
$answers
ANSWERS
  fi
  [ -z "$unmet" ] || warn "$name: package.json asks for node $unmet, this is $("$runtime" --version)"
  for file in pnpm-lock.yaml:pnpm yarn.lock:yarn bun.lock:bun bun.lockb:bun package-lock.json:npm npm-shrinkwrap.json:npm; do
    [ -f "${file%:*}" ] || continue
    [ -n "$manager" ] || manager=${file#*:}
    [ "${file#*:}" != "$manager" ] || [ -n "$lock" ] || lock=${file%:*}
  done
  manager=${manager:-npm}
  [ -z "$lock" ] || wanted=yes
  [ "$wanted" = yes ] || [ -n "$script" ] || return 0
  command -v "$manager" >/dev/null 2>&1 || ! command -v corepack >/dev/null 2>&1 || [ "$manager" = bun ] || via=corepack
  [ -n "$via" ] || need "$manager" "install it: $(node_advice)"
}

node_advice() {
  case $manager in
    npm) echo 'https://nodejs.org' ;;
    bun) echo 'https://bun.sh' ;;
    *) echo "corepack enable, or npm install -g $manager" ;;
  esac
}

# Exactly what the lock file says, never newer; without a lock file no new one is left in the tree.
node_install() {
  if [ "$wanted" = no ]; then
    say "$name: no dependencies"
    return
  fi
  set -- ${via:+"$via"} "$manager"
  case $manager:$lock in
    npm:) run "$@" install --no-package-lock --no-audit --no-fund ;;
    npm:*) run "$@" ci --no-audit --no-fund ;;
    pnpm:) run "$@" install --no-lockfile ;;
    pnpm:*) run "$@" install --frozen-lockfile ;;
    bun:) run "$@" install --no-save ;;
    bun:*) run "$@" install --frozen-lockfile ;;
    yarn:*)
      case $("$@" --version 2>/dev/null):$lock in
        [01].*:) run "$@" install --no-lockfile --non-interactive ;;
        [01].*) run "$@" install --frozen-lockfile --non-interactive ;;
        *:) run "$@" install --no-immutable ;;
        *) run "$@" install --immutable ;;
      esac
      ;;
  esac
  for folder in node_modules .pnp.cjs; do [ ! -e "$folder" ] || made=$folder; done
}

node_prove() {
  if [ -n "$script" ]; then
    run ${via:+"$via"} "$manager" run "$script"
  elif [ -n "$entry" ]; then
    run "$runtime" --check "./$entry"
  else
    run "$runtime" -e 0
  fi
}
