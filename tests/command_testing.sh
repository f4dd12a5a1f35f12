# What scripts that run the command share; sourced with PATH_OF_RETRACE, from the source tree. They run in a folder of
# their own, and end with `finish`. `out` and `err` are the outputs of the last command.
set -u
retrace=$(realpath "$1")
# shellcheck disable=SC2034  # read by the scripts
jobs=$(realpath jobs) golden=$(realpath tests/golden/1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
  echo "FAILED: $*" >&2
  echo "  standard output: $(head -c 600 out)" >&2
  echo "  standard error:  $(tail -c 600 err)" >&2
  failures=$((failures + 1))
}

# has TEXT FILE
has() { grep -qF -- "$1" "$2" || fail "no text '$1' in $2"; }

# expect CODE TEXT ARGUMENTS...: the exit code, and a text in either output.
expect() {
  code=$1 text=$2
  shift 2
  "$retrace" "$@" >out 2>err
  found=$?
  [ $found -eq "$code" ] || fail "retrace $*: exit code $found instead of $code"
  [ -z "$text" ] || cat out err | grep -qF -- "$text" || fail "retrace $*: no text '$text'"
  [ "$code" -eq 0 ] || [ "$code" -eq 76 ] || [ ! -s out ] || grep -q '^{"error":' out ||
    fail "retrace $*: a failing command wrote to standard output"
}

finish() {
  [ $failures -eq 0 ] || { echo "$failures failures" >&2; exit 1; }
  echo "$(basename "$0" .sh): all passed"
}
