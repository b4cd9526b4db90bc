
# ---- Node ----

# The package manager is the one that package.json or else the lock file names; without either it is npm.
node_tools() {
  runtime=node
  if ! command -v node >/dev/null 2>&1 && command -v bun >/dev/null 2>&1; then runtime=bun; fi
  need "$runtime" 'install Node.js: https://nodejs.org'
  answers=$(ask_package 2>&1) || fail "$name: package.json: $answers"
  { read -r manager; read -r wanted; read -r script; read -r entry; } <<ANSWERS
$answers
ANSWERS
  lock=''
  for file in pnpm-lock.yaml:pnpm yarn.lock:yarn bun.lock:bun bun.lockb:bun package-lock.json:npm npm-shrinkwrap.json:npm; do
    [ -f "${file%:*}" ] || continue
    manager=${manager:-${file#*:}} wanted=yes
    [ "${file#*:}" != "$manager" ] || lock=${lock:-${file%:*}}
  done
  manager=${manager:-npm}
  advice="npm install -g $manager"
  [ "$manager" != npm ] || advice='https://nodejs.org'
  [ "$wanted$script" = no ] || need "$manager" "install it: $advice"
}

# A line each: the package manager, whether there are dependencies, the script and else the file that shows that it works.
ask_package() {
  # shellcheck disable=SC2016 # what looks like a shell expansion belongs to JavaScript
  "$runtime" -e '
    const fs = require("fs");
    try {
      const pkg = JSON.parse(fs.readFileSync("package.json", "utf8").replace(/^\uFEFF/, ""));
      const kinds = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "workspaces"];
      const { smoke, test = "" } = pkg.scripts ?? {};
      // In a cycle forge runs the tests. Those of planned work fail before it.
      const hasTest = test !== "" && !/no test specified/.test(test) && process.env.FORGE_ROLE !== "builder";
      const script = smoke ? "smoke" : hasTest ? "test" : "";
      const isCode = (file) => /\.[cm]?js$/.test(file ?? "") && fs.existsSync(file);
      console.log(/^(npm|pnpm|yarn|bun)@/.exec(pkg.packageManager ?? "")?.[1] ?? "");
      console.log(kinds.some((kind) => Object.keys(pkg[kind] ?? {}).length > 0) ? "yes" : "no");
      console.log(`${script}\n${[pkg.main, "index.js"].find(isCode) ?? ""}`);
    } catch (error) {
      console.error(error.message.split("\n")[0]);
      process.exitCode = 1;
    }
  '
}

node_version() { "$runtime" --version; }

node_files() {
  checksums -name package.json -o -name package-lock.json -o -name npm-shrinkwrap.json -o -name 'pnpm-*.yaml' \
    -o -name yarn.lock -o -name 'bun.lock*' -o -name .npmrc -o -name '.yarnrc*'
}

# Exactly what the lock file says, never newer; without a lock file no new one is left in the tree.
node_install() {
  case $wanted:$manager:$lock in
    no:*) say "$name: no dependencies" ;;
    *:npm:) run npm install --no-package-lock --no-audit --no-fund ;;
    *:npm:*) run npm ci --no-audit --no-fund ;;
    *:pnpm:) run pnpm install --no-lockfile ;;
    *:pnpm:*) run pnpm install --frozen-lockfile ;;
    *:bun:) run bun install --no-save ;;
    *:bun:*) run bun install --frozen-lockfile ;;
    *:yarn:*)
      case $(yarn --version 2>/dev/null):$lock in
        [01].*:) run yarn install --no-lockfile --non-interactive ;;
        [01].*) run yarn install --frozen-lockfile --non-interactive ;;
        *:) run yarn install --no-immutable ;;
        *) run yarn install --immutable ;;
      esac
      ;;
  esac
  for folder in node_modules .pnp.cjs; do [ ! -e "$folder" ] || made=$folder; done
}

node_check() {
  if [ -n "$script" ]; then
    run "$manager" run "$script"
  elif [ -n "$entry" ]; then
    run "$runtime" --check "./$entry"
  else
    say "$name: nothing to check"
  fi
}
