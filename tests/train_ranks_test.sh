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

job="tests/golden/1/digits.toml --set training.shards=4 --json"
golden='"fingerprint":"d939a843e922b2f7"'

for workers in 1 2 3 4; do
  "$retrace" train $job --workers $workers --out "$out/w$workers" 2>/dev/null | grep -q "$golden" || fail "--workers $workers"
done
"$retrace" train $job --workers 3 --threads 2 --set training.acceleration=plain --out "$out/plain" 2>/dev/null |
  grep -q "$golden" || fail "--workers 3 --threads 2, plain"
status=0
"$retrace" train $job --workers 5 --out "$out/many" 2>"$out/error" || status=$?
[ $status -eq 2 ] && grep -q "set training.shards = 5 or more: this changes" "$out/error" || fail "5 workers share 4 shards"

if ! command -v mpirun >/dev/null || ! [ -e "$(dirname "$retrace")/libretrace_mpi.so" ]; then
  echo "train_ranks: the ranks are skipped: there is no mpirun, or the build found no MPI (make packages LIST=development)"
  exit 0
fi
# MPI keeps memory until the end, takes its locks in any order, and hands bytes from thread to thread unseen.
export ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS="detect_deadlocks=0 ignore_noninstrumented_modules=1"
ranks() {
  n=$1
  shift
  timeout 120 mpirun --allow-run-as-root --oversubscribe \
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

# With `auto` the ranks beyond the shards make mini-batches for the others; and a run goes on with other workers: it is
# stopped by SIGUSR1, which mpirun passes on, and goes on with more ranks, and then with a thread of one process.
golden_job=$job
noisy="tests/golden/1/autoencoder.toml --set training.shards=2 --json --no-report"
job=$noisy
alone=$("$retrace" train $noisy --workers auto --out "$out/noisy" 2>/dev/null | sed -n 's/.*\("fingerprint":"[0-9a-f]*"\).*/\1/p')
for n in 2 4; do
  ranks $n --workers auto --out "$out/loaded$n" >"$out/said" || fail "$n ranks, auto: $(cat "$out/error")"
  [ -n "$alone" ] && grep -qF "$alone" "$out/said" && grep -q '"workers":2' "$out/said" || fail "$n ranks, auto: $(cat "$out/said")"
done
status=0
ranks 3 --out "$out/many_ranks" >/dev/null || status=$?
[ $status -eq 2 ] && grep -q 'RT0220' "$out/error" || fail "3 ranks share 2 shards"
job="$golden_job --set training.max_epochs=60 --set training.checkpoint_iterations=5"
"$retrace" train $job --out "$out/whole" >"$out/said" 2>/dev/null || fail "the whole run"
whole=$(sed -n 's/.*\("fingerprint":"[0-9a-f]*"\).*/\1/p' "$out/said")
# stop_soon RUN N: SIGUSR1 for the command in the background when there is a checkpoint after the N-th step.
stop_soon() {
  for i in $(seq 600); do
    newest=$(ls "$1/checkpoints" 2>/dev/null | sed -n 's/^step-0*\([0-9]*\).*/\1/p' | sort -n | tail -n 1)
    [ "${newest:-0}" -gt "$2" ] && break
    sleep 0.02
  done
  kill -USR1 $process
  wait $process && fail "$1: it was not stopped"
  stopped=$(ls "$1/checkpoints" | sed -n 's/^step-0*\([0-9]*\).*/\1/p' | sort -n | tail -n 1)
}
mpirun --allow-run-as-root --oversubscribe -n 2 "$retrace" train $job --out "$out/joined" >/dev/null 2>"$out/error" &
process=$!
stop_soon "$out/joined" 10
mpirun --allow-run-as-root --oversubscribe -n 3 "$retrace" train --resume "$out/joined" >/dev/null 2>"$out/error" &
process=$!
first=$stopped
stop_soon "$out/joined" $((first + 10))
[ "$stopped" -gt "$first" ] || fail "three ranks did not go on: $first, $stopped"
"$retrace" train --resume "$out/joined" --workers 1 --json >"$out/said" 2>"$out/error" || fail "one thread goes on: $(cat "$out/error")"
[ -n "$whole" ] && grep -qF "$whole" "$out/said" || fail "2 ranks, 3 ranks and 1 thread: $(cat "$out/said")"
job=$golden_job

# A profile starts the ranks, with the arguments that the program has.
cat >"$out/profiles.toml" <<'PROFILES'
default = "here"
[here]
engine = "mpi"
workers = 3
options = ["--allow-run-as-root", "--oversubscribe"]
[desk]
engine = "local"
workers = 2
PROFILES
profile() { RETRACE_PROFILES="$out/profiles.toml" timeout 120 "$retrace" train $job "$@" 2>"$out/error"; }
profile --profile here --workers 3 --out "$out/profile" >"$out/said" || fail "a profile: $(cat "$out/error")"
[ "$(wc -l <"$out/said")" -eq 1 ] && grep -q '"workers":3' "$out/said" && grep -q "$golden" "$out/said" ||
  fail "a profile: $(cat "$out/said")"
status=0
profile --profile here --workers 4 >"$out/said" || status=$?
[ $status -eq 2 ] && grep -q 'cluster profile "here" has no pool of 4 workers' "$out/error" || fail "4 of 3 workers"
status=0
profile --profile her >"$out/said" || status=$?
[ $status -eq 2 ] && grep -q 'did you mean "here"?' "$out/error" || fail "a profile that is not there"
# What a profile starts can be looked at before.
profile --profile desk --workers auto --set training.shards=1 --set name=one --out "$out/one" >"$out/said" ||
  fail "a worker beyond the shards: $(cat "$out/error")"
grep -q '"workers":1' "$out/said" || fail "a worker beyond the shards: $(cat "$out/said")"
profile --profile desk --workers 1 --out "$out/desk1" >"$out/said" && grep -q '"workers":1' "$out/said" || fail "one of two workers"
for ranks in here desk; do
  RETRACE_PROFILES="$out/profiles.toml" timeout 120 "$retrace" cluster check $ranks --workers 2 >"$out/said" 2>"$out/error" ||
    fail "the check of a cluster: $(cat "$out/error")"
  grep -q '^1 ' "$out/said" && grep -q '^the workers have the same bits$' "$out/said" ||
    fail "the check of a cluster: $(cat "$out/said")"
done

# --- Ranks that differ end before the first step, with what differs in one text.
cat >"$out/tiny.toml" <<'JOB'
seed = 1
[network]
name = "digits"
[data]
train_samples = 64
test_samples = 64
[training]
max_epochs = 1
mini_batch_size = 32
shards = 2
JOB
# two CODE TEXT FIRST : SECOND: two ranks with these arguments end with this code; the text is said once.
two() {
  code=$1 text=$2
  shift 2
  first=
  while [ "$1" != : ]; do first="$first $1" && shift; done
  shift
  rm -rf "$out/run"
  status=0
  timeout 60 mpirun --allow-run-as-root --oversubscribe \
    -n 1 "$retrace" train "$out/tiny.toml" --out "$out/run" $first : -n 1 "${second:-$retrace}" $* \
    >"$out/said" 2>"$out/error" </dev/null || status=$?
  [ $status -eq "$code" ] || fail "$*: exit code $status instead of $code: $(cat "$out/error")"
  [ "$(cat "$out/said" "$out/error" | grep -cF -- "$text")" -eq 1 ] || fail "$*: not once '$text': $(cat "$out/error")"
  [ $code -eq 0 ] || ! [ -e "$out/run" ] || fail "$*: a run folder was made"
}
# Every key: tests/worker_differences_test.cpp.
for change in seed=2 network.name=autoencoder training.shards=4; do
  two 2 "worker 1 has ${change%%=*} = " : train "$out/tiny.toml" --out "$out/run" --set $change
done
grep -q 'error\[RT0605\]: the workers differ in the job or its data' "$out/error" || fail "no RT0605"
"$retrace" data digits --out "$out/a" >/dev/null && cp -r "$out/a" "$out/b" && cp -r "$out/a" "$out/c" || fail "no data"
labels=train-labels-idx1-ubyte
gzip -dc "$out/a/$labels.gz" >"$out/labels"  # a head of 8 bytes; the sixth and the seventh label become others
{ head -c 13 "$out/labels" && printf '\001\001' && tail -c +16 "$out/labels"; } | gzip >"$out/b/$labels.gz"
mnist="--set data.source=mnist --set network.heads=class"
two 2 'worker 1 has training set content = ' $mnist --set "data.path=$out/a" : train "$out/tiny.toml" $mnist \
  --set "data.path=$out/b"
two 0 '"stop_reason"' --json $mnist --set "data.path=$out/a" : train "$out/tiny.toml" $mnist --set "data.path=$out/c"

# --- A rank that cannot begin says why, though the first one is well.
two 2 'rank 1: error[RT0701]: retrace train has no flag --wrong' : train "$out/tiny.toml" --wrong
two 2 'rank 1: error[RT0412]' : train "$out/tiny.toml" --set training.nothing=1
two 66 'rank 1: error[RT0501]' : train "$out/none.toml"
two 66 'rank 1: error[RT0501]: worker 1: ' $mnist --set "data.path=$out/a" : train "$out/tiny.toml" $mnist --set "data.path=$out/none"
# A second rank that ends early is a matter of mpirun, which may end all with a code of its own: this one stays.
second=sleep
two 77 'error[RT0607]: not all 2 ranks began within 10 seconds' --timeout 3 : 50
second=

# --- What changes no bit may differ: speed, threads, the place of the data, the time-out, the name.
fingerprint() { sed -n 's/.*"fingerprint":"\([0-9a-f]*\)".*/\1/p' "$out/said"; }
alone=$("$retrace" train "$out/tiny.toml" --out "$out/alone" --json 2>/dev/null >"$out/said" && fingerprint)
for change in threads=3 training.acceleration=plain training.acceleration=default training.timeout=9 name=other; do
  two 0 '"stop_reason"' --json : train "$out/tiny.toml" --set $change
  [ -n "$alone" ] && [ "$(fingerprint)" = "$alone" ] || fail "other bits with $change on one rank"
done

# --- Ranks go on with what workers of one process began, as if they had been killed before the end.
"$retrace" train $job --workers 2 --set training.checkpoint_iterations=5 --out "$out/begun" >"$out/said" 2>"$out/error"
sed -i '$d' "$out/begun/metrics.jsonl"
timeout 120 mpirun --allow-run-as-root --oversubscribe -n 3 "$retrace" train --resume "$out/begun" --json \
  >"$out/said" 2>"$out/error" || fail "ranks do not go on: $(cat "$out/error")"
grep -q "$golden" "$out/said" || fail "ranks go on to other bits: $(cat "$out/said")"
grep -q '"event":"resumed","iteration":10' "$out/begun/metrics.jsonl" || fail "ranks do not go on at the step"

# --- A rank that is stopped is named after --timeout, with the place in the training.
mpirun --allow-run-as-root --oversubscribe -n 1 "$retrace" train "$out/tiny.toml" --set training.max_epochs=1000000 \
  --timeout 2 --out "$out/long" : -n 1 sh -c 'echo $$ >"$0"; exec "$@"' "$out/pid" "$retrace" train "$out/tiny.toml" \
  --set training.max_epochs=1000000 >"$out/said" 2>"$out/error" </dev/null &
mpirun=$!
for i in $(seq 300); do
  [ "$(grep -c epoch "$out/long/metrics.jsonl" 2>/dev/null || true)" -gt 2 ] 2>/dev/null && break
  sleep 0.1
done
start=$(date +%s)
kill -STOP "$(cat "$out/pid")"
status=0
wait $mpirun || status=$?
[ $status -eq 77 ] || fail "a stopped rank: exit code $status instead of 77: $(cat "$out/error")"
[ $(($(date +%s) - start)) -le 20 ] || fail "a stopped rank was noticed after $(($(date +%s) - start)) seconds"
grep -q 'error\[RT0611\]: worker 0: epoch [0-9]*, iteration [0-9]*: .*: not every worker came within 2 seconds' "$out/error" ||
  fail "a stopped rank: $(cat "$out/error")"
grep -q 'no call and no sign of life from worker 1' "$out/error" || fail "a stopped rank is not named: $(cat "$out/error")"
