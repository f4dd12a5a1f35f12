#!/bin/sh
# `retrace train --restarts`: restarts_test.sh PATH_OF_RETRACE, run from the source tree. Processes that are
# killed; each time the training goes on, to the bits of one that nothing happened to. rank_faults_test.sh has ranks.
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

# --- Killed when all is written, and before the result is told, since nobody reads it: it is told, and the run stays.
mkfifo pipe
exec 8<>pipe
timeout 2 dd if=/dev/zero bs=4096 count=1000 >&8 2>err
# shellcheck disable=SC2086
"$retrace" train $job --json --restarts 1 --out told --threads 1 >&8 2>err &
process=$!
for i in $(seq 300); do [ -e told/report.html ] && break; sleep 0.05; done
sleep 0.2
kill -9 $(trainers told $process | tail -n 1)
timeout 60 dd bs=1M count=1 <&8 >/dev/null 2>&1  # there is room in the pipe
wait $process || fail "killed after its end: exit code $?"
exec 9>&8
printf '\n' >&9
timeout 20 sed '/"fingerprint"/q' <&8 | tr -d '\0' >out
exec 8>&- 9>&-
cp err said
has 'the training was lost (exit code 137), after the end of its run' said
has "\"fingerprint\":\"$whole\"" out
expect 0 '' compare whole told

# --- Killed before its first checkpoint: --continue begins anew.
# shellcheck disable=SC2086
"$retrace" train $job --set training.checkpoint_iterations=0 --quiet --out early >out 2>err &
process=$!
for i in $(seq 300); do [ -e early/job.toml ] && break; sleep 0.02; done
kill -9 $process
wait $process 2>/dev/null
# shellcheck disable=SC2086
expect 0 '' train $job --set training.checkpoint_iterations=0 --out early --continue
expect 0 '' compare whole early
# shellcheck disable=SC2086
expect 0 'is at its end' train $job --set training.checkpoint_iterations=0 --out early --continue

# --- What cannot be done is said at once.
expect 2 'a folder of a known name' train "$jobs/digits.toml" --restarts 1
expect 2 'restarts must be a number' train "$jobs/digits.toml" --restarts many --out x

finish
