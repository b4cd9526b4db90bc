
# ---- Go ----

go_tools() {
  need go 'install Go: https://go.dev/dl'
  # Go keeps what it downloads and builds in the home folder.
  [ -n "${HOME-}" ] || export GOPATH="$root/.forge/local/go" GOCACHE="$root/.forge/local/go-build" GOFLAGS=-modcacherw
}
go_version() { go version; }
go_files() { checksums -name go.mod -o -name go.sum -o -name go.work -o -name go.work.sum; }
go_install() { run go mod download; }

# With a go.work, the modules that it names.
go_check() {
  set -- ./...
  if [ -f go.work ]; then
    set --
    go list -m -f '{{.Dir}}' >"$kept/modules" 2>"$kept/log" || fail "$name: go.work: $(tail -n 1 "$kept/log")"
    here=$(pwd -P)
    while IFS= read -r folder; do
      case $folder in "$here"/*) folder=.${folder#"$here"} ;; esac
      set -- "$@" "$folder/..."
    done <"$kept/modules"
  fi
  run go build -o /dev/null "$@"
}
