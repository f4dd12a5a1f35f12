#!/bin/sh
# `retrace train --restarts`: restarts_test.sh PATH_OF_RETRACE, run from the source tree. Processes and ranks that are
# killed or stand still; each time the training goes on, to the bits of one that nothing happened to.
. tests/command_testing.sh

job="$jobs/digits.toml --set data.train_samples=320 --set data.test_samples=32 --set network.width=8
  --set training.shards=3 --set training.checkpoint_iterations=2 --set training.max_epochs=30"
# shellcheck disable=SC2086
"$retrace" train $job --out whole --json >out 2>err || fail 'the whole run'
whole=$(sed -n 's/.*"fingerprint":"\([0-9a-f]*\)".*/\1/p' out)
newest() { ls -t "$1/checkpoints" 2>/dev/null | head -n 1; }
# wait_for_checkpoint RUN OLD: until there is another one than OLD.
wait_for_checkpoint() {
  for i in $(seq 300); do
    found=$(newest "$1")
    [ -n "$found" ] && [ "$found" != "$2" ] && break
    sleep 0.05
  done
}
# wait_for_start N: until err says so often that a training was lost.
wait_for_start() {
  for i in $(seq 300); do
    [ "$(grep -c 'the training was lost' err)" -ge "$1" ] && break
    sleep 0.05
  done
}
# trainers: the processes that train now, but the one that watches over them and the launcher.
trainers() { pgrep -f "^$retrace train .*--out $1 " | grep -vx "$2"; pgrep -f "^$retrace train .*--resume $1\$"; }
same() {
  wait $process || fail "$1: exit code $?"
  cp err said
  has "\"fingerprint\":\"$whole\"" out
  expect 0 '' compare whole "$1"
}

# --- One process, killed twice.
# shellcheck disable=SC2086
"$retrace" train $job --json --restarts 3 --out one --threads 1 >out 2>err &
process=$!
wait_for_checkpoint one ''
kill -9 $(trainers one $process | tail -n 1)
wait_for_start 1
wait_for_checkpoint one "$(newest one)"
kill -9 $(trainers one $process | tail -n 1)
same one
[ "$(grep -c 'the training was lost (exit code 137): start' said)" -eq 2 ] || fail "two kills, and $(grep -c 'was lost' said) starts"

# --- With snapshots alone: the last one was written a few steps before the kill; none is left at the end.
for try in 1 2 3 4 5; do
  rm -rf snapshots
  # shellcheck disable=SC2086
  "$retrace" train $job --set training.checkpoint_iterations=0 --set training.checkpoint_seconds=0 \
    --set training.snapshot_iterations=1 --json --restarts 1 --out snapshots --threads 1 >out 2>err &
  process=$!
  while ! ls snapshots/checkpoints/snapshot-* >/dev/null 2>&1 && kill -0 $process; do sleep 0.02; done
  steps=$(wc -l <snapshots/steps.jsonl)
  kill -9 $(trainers snapshots $process | tail -n 1) 2>/dev/null && break
  wait $process  # it was at its end before
done
same snapshots
after=$(sed -n 's/.*goes on after iteration \([0-9]*\).*/\1/p' said)
[ "${after:-0}" -ge "$steps" ] || fail "steps were lost: it goes on after $after, $steps were logged"
[ -z "$(ls snapshots/checkpoints/snapshot-* 2>/dev/null)" ] || fail 'a snapshot is left'

# --- The number of starts has an end, and the exit code is then that of the last one.
# shellcheck disable=SC2086
"$retrace" train $job --restarts 0 --out none --threads 1 >out 2>err &
process=$!
wait_for_checkpoint none ''
kill -9 $(trainers none $process | tail -n 1)
wait $process
code=$?
[ $code -eq 137 ] || fail "no restarts: exit code $code"

# --- Signals that end a training in good order end it.
# shellcheck disable=SC2086
"$retrace" train $job --restarts 3 --out stopped --threads 1 >out 2>err &
process=$!
wait_for_checkpoint stopped ''
kill $process
wait $process
code=$?
[ $code -eq 143 ] || fail "SIGTERM: exit code $code"
has 'stopped by SIGTERM' err

# --- Three ranks: at a random moment a random one is killed or stands still, also while all begin or a file is written.
# RETRACE_RANK_FAULTS: how often. The same seeds have the same faults; their moments depend on the machine.
faults=${RETRACE_RANK_FAULTS:-4}
# random SEED N: a number below N.
random() { awk -v seed="$1" -v n="$2" 'BEGIN { srand(seed); for (i = 0; i < 5; ++i) rand(); printf "%d", rand() * n }'; }
if command -v mpirun >/dev/null && [ -e "$(dirname "$retrace")/libretrace_mpi.so" ]; then
  export RETRACE_PROFILES="$work/profiles.toml"
  cat >profiles.toml <<'PROFILES'
[here]
engine = "mpi"
workers = 3
options = ["--allow-run-as-root", "--oversubscribe"]
PROFILES
  lost=0
  for seed in $(seq "$faults"); do
    rm -rf ranks
    # shellcheck disable=SC2086
    "$retrace" train $job --json --profile here --timeout 3 --restarts 3 --out ranks --threads 1 >out 2>err &
    process=$!
    # Every second time soon after a checkpoint, so that some reach a training on any machine.
    if [ $((seed % 2)) -eq 1 ]; then wait_for_checkpoint ranks ''; else sleep "$(random "$seed" 3).$(random "$((seed + 1000))" 10)"; fi
    signal=$([ "$(random "$((seed + 2000))" 3)" -eq 0 ] && echo STOP || echo KILL)
    victim=$(trainers ranks $process | sort -R --random-source="$retrace" | tail -n 1)
    [ -n "$victim" ] && kill -s $signal "$victim" 2>/dev/null
    same ranks
    lost=$((lost + $(grep -c 'the training was lost' said)))
    [ $failures -eq 0 ] || { fail "seed $seed: SIG$signal"; break; }
  done
  echo "restarts_test: $faults faults of ranks, $lost starts"
  [ "$lost" -gt 0 ] || fail 'no fault reached a training'
fi

# --- What cannot be done is said at once.
expect 2 'a folder of a known name' train "$jobs/digits.toml" --restarts 1
expect 2 'restarts must be a number' train "$jobs/digits.toml" --restarts many --out x

finish
