
# ---- Go ----

# Go keeps what it downloads and builds in the home folder; without one (a service, a container) that is here.
go_tools() {
  need go 'install Go: https://go.dev/dl'
  [ -z "${HOME-}" ] || return 0
  [ -n "${GOPATH-}${GOMODCACHE-}" ] || GOPATH=$root/.forge/local/go
  [ -n "${GOCACHE-}${XDG_CACHE_HOME-}" ] || GOCACHE=$root/.forge/local/go-build
  # Else its folders could not be removed.
  GOFLAGS="${GOFLAGS-} -modcacherw"
  export GOPATH GOCACHE GOFLAGS
}
go_version() { go version; }
go_files() { checksums -name go.mod -o -name go.sum -o -name go.work -o -name go.work.sum; }
go_look() { :; }
go_install() { run go mod download; }

# With a go.work, the modules that it names.
go_prove() {
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
