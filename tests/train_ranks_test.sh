#!/bin/sh
# `retrace train` by ranks of mpirun and by workers of one process: the golden fingerprint of 4 shards, whoever computes.
# The argument is the command.
set -eu
retrace=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

fail() {
  echo "train_ranks: $1" >&2
  exit 1
}

job="jobs/golden/digits.toml --set training.shards=4 --json"
golden='"fingerprint":"3e626ff1b38341cd"'

for workers in 1 2 3 4; do
  "$retrace" train $job --workers $workers --out "$out/w$workers" 2>/dev/null | grep -q "$golden" || fail "--workers $workers"
done
"$retrace" train $job --workers 3 --threads 2 --set training.acceleration=plain --out "$out/plain" 2>/dev/null |
  grep -q "$golden" || fail "--workers 3 --threads 2, plain"
status=0
"$retrace" train $job --workers 5 --out "$out/many" 2>"$out/error" || status=$?
[ $status -eq 2 ] && grep -q "set training.shards = 5 or more in the job" "$out/error" || fail "5 workers share 4 shards"

if ! command -v mpirun >/dev/null || ! [ -e "$(dirname "$retrace")/libretrace_mpi.so" ]; then
  echo "train_ranks: the ranks are skipped: there is no mpirun, or the build found no MPI (make packages LIST=development)"
  exit 0
fi
# MPI keeps memory until the end, and takes its locks in any order.
ranks() {
  n=$1
  shift
  ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=detect_deadlocks=0 timeout 120 mpirun --allow-run-as-root --oversubscribe \
    -n "$n" "$retrace" train $job "$@" 2>"$out/error"
}
for n in 1 2 3 4; do
  ranks $n --out "$out/m$n" >"$out/said" || fail "mpirun -n $n: $(cat "$out/error")"
  [ "$(wc -l <"$out/said")" -eq 1 ] || fail "mpirun -n $n: not one line"
  grep -q "$golden" "$out/said" || fail "mpirun -n $n: $(cat "$out/said")"
  [ -f "$out/m$n/weights.safetensors" ] || fail "mpirun -n $n wrote no run"
done
ranks 2 --threads 2 --set training.acceleration=default --out "$out/default" | grep -q "$golden" || fail "ranks of 2 threads"
status=0
ranks 2 --workers 2 --out "$out/both" >/dev/null || status=$?
[ $status -eq 2 ] && [ "$(grep -c 'RT0705' "$out/error")" -eq 1 ] || fail "--workers under mpirun is said once"
status=0
ranks 2 --set data.path=absent --out "$out/absent" >/dev/null || status=$?
[ $status -ne 0 ] || fail "a failing rank is no success"
