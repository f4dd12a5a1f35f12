#!/bin/sh
# `retrace train` when something goes wrong: train_faults_test.sh PATH_OF_RETRACE, run from the source tree. Signals, a
# reader that stands still, files that cannot grow, a loss that is not finite.
. tests/command_testing.sh

no_litter() { [ -z "$(find . -name '*.partial')" ] || fail "a temporary file is left: $1"; }

peaks="$golden/peaks.toml"
# start DIR ARGUMENTS...: trains for ever in the background, and waits until weights are there.
start() {
  dir=$1
  shift
  "$retrace" train "$peaks" --set training.max_epochs=100000000 --out "$dir" "$@" >out 2>err &
  process=$!
  while [ ! -s "$dir/weights.safetensors" ] && kill -0 $process 2>/dev/null; do sleep 0.1; done
}

# --- Weights are there after the first epoch, and the signals that end a session or a job end the run in good order.
# A test that was started with nohup cannot send SIGHUP: the run ignores it, as it should.
ignored=$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/$$/status)
hangup=HUP:129
[ $((0x$ignored & 1)) -eq 0 ] || { echo "SIGHUP is ignored here: not tested"; hangup=; }
for signal in $hangup USR1:138 XCPU:152; do
  start "signal-$signal"
  kill -s "${signal%:*}" $process
  wait $process
  code=$?
  [ $code -eq "${signal#*:}" ] || fail "signal $signal: exit code $code"
  has "stopped by SIG${signal%:*}" err
  has '"stop_reason":"stopped"' "signal-$signal/metrics.jsonl"
  [ "$(tail -n 1 "signal-$signal/metrics.jsonl" | grep -c '"event":"finished"')" -eq 1 ] || fail "signal $signal: not the last line"
done
# Two at once are one, as timeout and mpirun send them.
start together
kill -s TERM $process
kill -s TERM $process
wait $process
code=$?
[ $code -eq 143 ] || fail "SIGTERM twice: exit code $code"
has '"stop_reason":"stopped"' together/metrics.jsonl
# A second SIGINT, a moment later, ends the process at once, within an iteration of seconds; the checkpoint stays.
"$retrace" train "$jobs/digits.toml" --set network.width=128 --set training.mini_batch_size=512 \
  --set training.checkpoint_iterations=1 --out second >out 2>err &
process=$!
while [ ! -s second/checkpoints/step-1.safetensors ] && kill -0 $process 2>/dev/null; do sleep 0.02; done
kill -s INT $process
sleep 0.4
kill -s INT $process
wait $process
code=$?
[ $code -eq 130 ] || fail "a second SIGINT: exit code $code"
has 'press Ctrl-C again to stop at once' err
! grep -qF 'go on with' err || fail 'a second SIGINT waits for the end of the iteration'
! grep -qF '"event":"finished"' second/metrics.jsonl || fail 'a second SIGINT: the run is at its end'
[ -s second/checkpoints/step-1.safetensors ] || fail 'a second SIGINT: no checkpoint'
# nohup
(trap '' HUP && exec "$retrace" train "$peaks" --set training.max_epochs=100000000 --out nohup >out 2>err) &
process=$!
while [ ! -s nohup/weights.safetensors ] && kill -0 $process 2>/dev/null; do sleep 0.1; done
kill -s HUP $process
sleep 0.3
kill -0 $process 2>/dev/null || fail 'SIGHUP ends a run under nohup'
kill -s TERM $process
wait $process

# --- The first signal says what it waits for, at once, and breaks a validation off: all epochs are done, so 0.
"$retrace" train "$jobs/digits.toml" --set training.max_epochs=1 --set data.train_samples=128 --set network.width=64 \
  --json --out validation >out 2>err &
process=$!
until grep -qF '"event":"epoch"' validation/metrics.jsonl 2>/dev/null || ! kill -0 $process 2>/dev/null; do sleep 0.05; done
kill -s INT $process
wait $process
code=$?
[ $code -eq 0 ] || fail "SIGINT within the last validation: exit code $code"
has 'stopping after this iteration; press Ctrl-C again to stop at once' err
has '"validation_loss":null,"metrics":{}' out
has '"stop_reason":"max epochs completed"' out
[ -s validation/weights.safetensors ] || fail 'SIGINT within the last validation: no weights'

# --- A reader of standard error that stands still stops nothing: a full pipe whose other end is open.
mkfifo pipe
sleep 600 <pipe &
reader=$!
exec 9>pipe
timeout 2 dd if=/dev/zero bs=4096 count=1000 >&9 2>err
timeout 60 "$retrace" train "$peaks" --set training.max_epochs=50 --json --out blocked >out 2>&9 9>&-
code=$?
[ $code -eq 0 ] || fail "a blocked standard error: exit code $code"
has '"iterations":200' out
"$retrace" train "$peaks" --set training.max_epochs=100000000 --json --out blocked-2 >out 2>&9 9>&- &
process=$!
while [ ! -s blocked-2/weights.safetensors ] && kill -0 $process 2>/dev/null; do sleep 0.1; done
kill -s INT $process
wait $process
code=$?
[ $code -eq 130 ] || fail "SIGINT with a blocked standard error: exit code $code"
has '"stop_reason":"stopped"' out
"$retrace" trian 2>&9 9>&-
[ $? -eq 2 ] || fail 'an error text with a blocked standard error'
kill $reader
exec 9>&-

# --- Files that cannot grow: 74, no litter, what was complete stays; before that nothing stays.
(ulimit -f 16 && exec "$retrace" train "$jobs/digits.toml" --set data.train_samples=128 --set data.test_samples=32 \
  --set training.max_epochs=2 --out small >out 2>err)
code=$?
[ $code -eq 74 ] || fail "weights that do not fit: exit code $code"
has 'weights.safetensors' err
has 'bytes free' err
has 'bytes for the weights of epoch 1' err
has 'ulimit -f' err
[ ! -e small ] || fail 'a run without weights blocks its own repetition'
(ulimit -f 8 && exec "$retrace" train "$peaks" --set training.max_epochs=100000000 --out grown >out 2>err)
code=$?
[ $code -eq 74 ] || fail "a log that cannot grow: exit code $code"
[ -s grown/weights.safetensors ] || fail 'a log that cannot grow: no weights'
"$retrace" compare grown/weights.safetensors grown/weights.safetensors >out 2>err || fail 'a log that cannot grow: damaged weights'
# ThreadSanitizer writes a file before the command begins.
if (ulimit -f 0 && "$retrace" --version) >/dev/null 2>&1; then
  (ulimit -f 0 && exec "$retrace" train "$peaks" --out none >/dev/null 2>&1)
  code=$?
  [ $code -eq 74 ] || fail "a folder that cannot hold a file: exit code $code"
  [ ! -e none ] || fail 'a folder without a run is left'
fi
no_litter 'ulimit -f'

# --- A loss that is not finite: 3, and what is kept. JSON has null where there is no number.
# Without the options of Adam.
grep -v "gradient_decay\|epsilon" "$peaks" >sgdm.toml
"$retrace" train sgdm.toml --set training.solver=sgdm --set training.initial_learn_rate=1e6 --set training.max_epochs=50 \
  --json --out diverged >out 2>err
code=$?
[ $code -eq 3 ] || fail "a diverged training: exit code $code"
has '"stop_reason":"the loss is not finite"' out
"$retrace" train sgdm.toml --set training.solver=sgdm --set training.initial_learn_rate=1e6 --set training.max_epochs=50 \
  --set training.shards=2 --workers 2 --json --out diverged-2 >out 2>err
[ $? -eq 3 ] || fail 'a diverged training of two workers'
if command -v mpirun >/dev/null && [ -e "$(dirname "$retrace")/libretrace_mpi.so" ]; then
  ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS="detect_deadlocks=0 ignore_noninstrumented_modules=1" timeout 120 mpirun --allow-run-as-root --oversubscribe -n 2 \
    "$retrace" train sgdm.toml --set training.shards=2 \
    --set training.solver=sgdm --set training.initial_learn_rate=1e6 --set training.max_epochs=50 --json >out 2>err
  code=$?
  [ $code -eq 3 ] || fail "a diverged training of two ranks: exit code $code"
  [ "$(wc -l <out)" -eq 1 ] || fail 'a diverged training of two ranks: not one line'
fi
has 'at the learning rate 990000' err
has 'set a smaller training.initial_learn_rate' err
! grep -qiE '"(-?inf|nan)|: ?-?(nan|inf)' out diverged/metrics.jsonl 2>/dev/null || fail 'a text stands where a number was'

# --- What is wrong with the environment is found before a folder is made.
for variable in RETRACE_PASSES_OFF=none_of_them RETRACE_MEMORY_LIMIT=many; do
  env "$variable" "$retrace" train "$peaks" --out early >out 2>err
  [ $? -eq 2 ] || fail "$variable is accepted"
  [ ! -e early ] || fail "$variable: a folder is left"
done
"$retrace" train "$peaks" --out early >out 2>err || fail 'the corrected command with the same --out'
mkdir full && echo >full/file
"$retrace" train "$jobs/mnist.toml" --set data.path=absent --out full >out 2>err
[ $? -eq 2 ] || fail 'the run folder is looked at after the data'

finish
