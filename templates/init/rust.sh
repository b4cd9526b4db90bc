
# ---- Rust ----

rust_tools() {
  need cargo 'install Rust: https://rustup.rs'
  locked=''
  [ ! -f Cargo.lock ] || locked=--locked
  # What is built must not show up as new files.
  git check-ignore -q target/ 2>/dev/null
  [ "$?" -ne 1 ] || export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/.forge/local/target}"
}
rust_version() { cargo --version; }
rust_files() { checksums -name Cargo.toml -o -name Cargo.lock -o -name 'rust-toolchain*'; }
rust_install() { run cargo fetch ${locked:+"$locked"}; }
rust_check() { run cargo check --workspace ${locked:+"$locked"}; }
