#!/bin/sh
# `retrace train --resume`: resume_test.sh PATH_OF_RETRACE, run from the source tree. Runs that are killed at any time,
# stopped by signals, or whose disk is full go on to the bits of the run that nothing happened to.
. tests/command_testing.sh

# Ten steps an epoch.
epochs=${RETRACE_EPOCHS:-24}
last=step-${epochs}0
job="$jobs/digits.toml --set data.train_samples=320 --set data.test_samples=32 --set training.max_epochs=$epochs
  --set training.shards=3 --set network.width=8 --set training.checkpoint_seconds=0"
# What metrics.jsonl says, without times and the processes that wrote it.
told() { grep -v '"event":"\(started\|resumed\)"' "$1/metrics.jsonl" | sed 's/"seconds":[^,}]*//'; }
# same RUN: to the bit as `whole`, without a gap or a line twice.
same() {
  "$retrace" compare whole "$1" >out 2>err || fail "$1 is another result"
  cmp -s whole/fingerprints.txt "$1/fingerprints.txt" || fail "$1: other fingerprints.txt"
  cmp -s whole/steps.jsonl "$1/steps.jsonl" || fail "$1: steps.jsonl has a gap, a line twice or another value"
  cmp -s whole/weights.safetensors "$1/weights.safetensors" || fail "$1: other weights.safetensors"
  told "$1" >told
  told whole | cmp -s - told || fail "$1: metrics.jsonl has a gap, a line twice or another value"
  [ -z "$(find "$1" -name '*.partial')" ] || fail "$1: a temporary file is left"
}

# shellcheck disable=SC2086
"$retrace" train $job --set training.checkpoint_iterations=5 --out whole >out 2>err || fail 'the whole run'
[ -s whole/checkpoints/$last.safetensors ] || fail 'the whole run: no checkpoint'
[ "$(ls whole/checkpoints | wc -l)" -eq 2 ] || fail 'not two checkpoints are kept'

# --- One line for a script that is started several times: it begins the run, goes on with it, and has nothing left to do.
# shellcheck disable=SC2086
"$retrace" train $job --set training.checkpoint_iterations=1 --out again --continue --quiet >out 2>err &
process=$!
for i in $(seq 300); do [ -n "$(ls again/checkpoints 2>/dev/null)" ] && break; sleep 0.02; done
kill -s KILL $process
wait $process 2>/dev/null
# shellcheck disable=SC2086
"$retrace" train $job --set training.checkpoint_iterations=1 --out again --continue --workers 2 --quiet >out 2>err ||
  fail 'a run that goes on by --continue'
same again
# shellcheck disable=SC2086
expect 0 'is at its end' train $job --out again --continue
expect 2 'a run that goes on keeps' train "$jobs/digits.toml" --out again --continue
expect 2 'add --out DIR' train "$jobs/digits.toml" --continue

# --- Killed ten times (RETRACE_KILLS), each time a pseudo-random while after its first step or, every third time, after its beginning;
# often within a checkpoint: there is one after every step. Other threads and workers go on.
seed=${RETRACE_TEST_SEED:-1}
echo "resume_test: seed $seed"
state=$seed
# Sets `random` to 0 ... $1 - 1.
draw() {
  state=$(((state * 1103515245 + 12345) % 2147483648))
  random=$((state / 65536 % $1))
}
# Waits until the process has made a step: another checkpoint than the newest one of before.
wait_for_step() {
  while [ "$(ls -t "killed-$run/checkpoints" 2>/dev/null | head -n 1)" = "$newest" ] && kill -0 $process 2>/dev/null; do
    sleep 0.02
  done
}
run=0 kills=0 begun=no
while [ $kills -lt "${RETRACE_KILLS:-10}" ]; do
  draw 3
  workers=$((random + 1))
  draw 2
  threads=$((random + 1))
  if [ $begun = no ]; then
    run=$((run + 1)) newest=
    # shellcheck disable=SC2086
    "$retrace" train $job --set training.checkpoint_iterations=1 --out "killed-$run" --quiet >out 2>err &
    process=$!
    wait_for_step
    begun=yes
  else
    newest=$(ls -t "killed-$run/checkpoints" | head -n 1)
    "$retrace" train --resume "killed-$run" --workers $workers --threads $threads --json --quiet >out 2>err &
    process=$!
    draw 3
    [ $random -eq 0 ] || wait_for_step
  fi
  draw 20
  pause=$(printf '0.%02d' $random)
  sleep "$pause"
  kill -s KILL $process 2>/dev/null
  wait $process 2>/dev/null
  code=$?
  case $code in
    137)
      kills=$((kills + 1))
      # Killed after its last step: it is whole, and nobody goes on with it. What the end of it had begun stays.
      if grep -qF '"event":"finished"' "killed-$run/metrics.jsonl" 2>err; then
        find "killed-$run" -name '*.partial' -delete
        same "killed-$run"
        begun=no
      fi
      ;;
    0) same "killed-$run"; begun=no ;;
    *) fail "killed-$run, $pause seconds, $workers workers, $threads threads: exit code $code"; break ;;
  esac
done
if [ $begun = yes ]; then
  "$retrace" train --resume "killed-$run" --workers 3 --threads 1 --json >out 2>err || fail "killed-$run cannot be resumed"
  has '"stop_reason":"max epochs completed"' out
  same "killed-$run"
fi
# Equal steps of equal runs leave equal bytes, however they came there.
cmp -s whole/checkpoints/$last.safetensors "killed-$run/checkpoints/$last.safetensors" ||
  fail 'the checkpoints of one step differ'

# --- Signals leave a checkpoint of the last iteration; the text says how to go on.
for signal in INT:130 TERM:143 USR1:138; do
  dir="stopped-${signal%:*}"
  # shellcheck disable=SC2086
  "$retrace" train $job --out "$dir" >out 2>err &
  process=$!
  until grep -qF '"event":"validation"' "$dir/metrics.jsonl" 2>/dev/null || ! kill -0 $process 2>/dev/null; do sleep 0.02; done
  kill -s "${signal%:*}" $process
  wait $process
  code=$?
  [ $code -eq "${signal#*:}" ] || fail "signal $signal: exit code $code"
  has "go on with: retrace train --resume $dir" err
done

# --- A checkpoint that cannot be written ends nothing, and the one before it stays. It is four times as large as the
# weights.
stop=$(basename stopped-INT/checkpoints/step-*)
(ulimit -f 512 && exec "$retrace" train --resume stopped-INT --set training.checkpoint_iterations=50 >out 2>err)
code=$?
[ $code -eq 0 ] || fail "a checkpoint that cannot be written: exit code $code"
has 'the training goes on without the checkpoint of iteration' err
has "that of iteration $(echo "$stop" | tr -cd '0-9') stays" err
[ "$(ls -A stopped-INT/checkpoints)" = "$stop" ] || fail 'a checkpoint that cannot be written: the one before is gone'
same stopped-INT

# --- A full disk, where one can be made: the training says what could not be written, what was complete stays, and with
# space it goes on. The shell of the small disk ends with 77 where nobody may mount one.
cat >small_disk.sh <<'EOF'
mkdir disk && mount -t tmpfs -o size=4m none disk 2>err || exit 77
# shellcheck disable=SC2086
"$retrace" train $job --set training.checkpoint_iterations=5 --out disk/run >out 2>err &
process=$!
until [ -n "$(ls disk/run/checkpoints 2>/dev/null)" ] || ! kill -0 $process 2>/dev/null; do sleep 0.01; done
dd if=/dev/zero of=disk/filler bs=4096 2>/dev/null
wait $process
code=$?
cp -r disk/run full
[ $code -eq 74 ] || exit $code
rm disk/filler
"$retrace" train --resume disk/run >out 2>>err || exit 1
cp -r disk/run emptied
exit 74
EOF
if command -v unshare >/dev/null && unshare -rm true 2>err; then
  export retrace job
  unshare -rm sh small_disk.sh
  code=$?
  [ $code -eq 77 ] || {
    [ $code -eq 74 ] || fail "a full disk: exit code $code"
    has 'No space left on device' err
    has 'make room' err
    [ -n "$(ls full/checkpoints)" ] || fail 'a full disk: no checkpoint is left'
    [ -z "$(find full -name '*.partial')" ] || fail 'a full disk: a temporary file is left'
    same emptied
  }
else
  code=77
fi
[ $code -ne 77 ] || echo 'resume_test: SKIPPED a full disk: no small disk can be mounted here'

# --- A damaged checkpoint is passed over, one of another job refused.
cp -r stopped-TERM damaged
cp whole/checkpoints/$last.safetensors damaged/checkpoints
printf 'x' | dd of=damaged/checkpoints/$last.safetensors bs=1 seek=5000 conv=notrunc 2>err
expect 0 "$last.safetensors\" is damaged" train --resume damaged
same damaged
cp -r stopped-TERM other
sed -i 's/^seed = 1/seed = 2/' other/job.toml
expect 65 'is not what was written: job.toml has' train --resume other
rm other/manifest.json
expect 65 'is of another job or of other data' train --resume other
has 'seed is 1, not 2' err
expect 0 'goes on after iteration' train --resume stopped-TERM --workers 2
same stopped-TERM

# --- What cannot be resumed says so.
expect 2 'is at its end' train --resume whole
expect 66 'no run folder' train --resume damaged/checkpoints
expect 66 'nowhere' train --resume nowhere
rm -r other/checkpoints
expect 66 'train anew' train --resume other
expect 2 'keeps training.max_epochs' train --resume stopped-USR1 --set training.max_epochs=$((epochs + 1))
expect 2 '--resume' train "$jobs/digits.toml" --resume stopped-USR1
expect 2 '--resume' train

finish
