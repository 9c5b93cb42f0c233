# What .ci/run and .ci/nightly share: each installs the programs that its tests need, runs its steps, and prints the counts.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CI=true
# The tools that are installed are required: without one, its tests fail instead of being skipped.
export REQUIRE_TOOLS=1
rm -f .test-report*.json

failed=0
missing=()
# Usage: needs <program> <Debian package>…
needs() { command -v "$1" >/dev/null || missing+=("${@:2}"); }
# Installs the missing packages.
install() {
  [ ${#missing[@]} -eq 0 ] && return
  timeout 120 apt-get update -q
  for package in "${missing[@]}"; do timeout 300 apt-get install -y -q --no-install-recommends "$package"; done
}
step() {
  printf '\n== %s\n' "$*"
  local began=$SECONDS
  "$@" || { failed=1; printf '== FAILED: %s\n' "$*"; }
  printf '== %s s: %s\n' $((SECONDS - began)) "$*"
}
# Runs commands at the same time, and prints the output of each when all have ended.
together() {
  local folder pids=() began=$SECONDS at
  folder=$(mktemp -d)
  for at in "$@"; do
    $at >"$folder/${#pids[@]}" 2>&1 &
    pids+=($!)
  done
  for at in "${!pids[@]}"; do
    wait "${pids[at]}" || { failed=1; printf '== FAILED: %s\n' "${@:at+1:1}" >>"$folder/$at"; }
    printf '\n== %s\n' "${@:at+1:1}"
    cat "$folder/$at"
  done
  printf '== %s s\n' $((SECONDS - began))
  rm -r "$folder"
}
# Usage: finish <report>… The counts come from the test reports. A suite that failed to load has no counts, but fails the run.
finish() {
  printf '\n'
  node .ci/count.mjs "$@" || failed=1
  exit "$failed"
}
