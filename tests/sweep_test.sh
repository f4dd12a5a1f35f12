#!/bin/sh
# `retrace sweep`: sweep_test.sh PATH_OF_RETRACE, run from the source tree. A sweep that is killed at any time, with other
# numbers of trials at once, workers and threads, ends with the table of one that nothing happened to.
. tests/command_testing.sh

trials=${RETRACE_SWEEP_TRIALS:-12}
kills=${RETRACE_SWEEP_KILLS:-3}
cat >job.toml <<'EOF'
[network]
name = "digits"
width = 4
[data]
train_samples = 256
test_samples = 64
[training]
max_epochs = 6
mini_batch_size = 32
shards = 2
checkpoint_seconds = 0
checkpoint_iterations = 4
EOF
cat >search.toml <<EOF
job = "job.toml"
strategy = "bayesian"
trials = $trials
seed = 3
constraints = ["training.mini_batch_size * network.width <= 300"]

[parameters]
training.initial_learn_rate = {low = 1e-4, high = 1e-1, log = true}
training.mini_batch_size = [16, 32, 64]
network.width = {low = 2, high = 8}

[pruning]
name = "median"
least_trials = 2
EOF
# The table without times: numbers, states, parameters, seeds, values, fingerprints.
table() { "$retrace" experiments "$1" --csv 2>err | cut -d, -f1-9,11; }

"$retrace" sweep search.toml --out whole --quiet 2>err || fail 'the whole sweep'
table whole >expected
[ "$(wc -l <expected)" -eq $((trials + 1)) ] || fail 'not one line for each trial'
grep -q finished expected || fail 'no trial finished'
grep -q pruned expected || fail 'no trial was pruned'
cat expected

state=${RETRACE_TEST_SEED:-1}
draw() {
  state=$(((state * 1103515245 + 12345) % 2147483648))
  random=$((state / 65536 % $1))
}
# killed NAME FLAGS...: a sweep that is killed a pseudo-random while after each beginning.
killed() {
  name=$1 count=0
  shift
  while [ $count -lt "$kills" ]; do
    "$retrace" sweep search.toml --out "$name" --quiet "$@" >out 2>err &
    process=$!
    draw 90
    sleep "$(printf '0.%02d' $((random + 5)))"
    kill -s KILL $process 2>/dev/null
    wait $process 2>/dev/null
    code=$?
    [ $code -eq 137 ] || break
    count=$((count + 1))
  done
  echo "$name: $count kills"
  "$retrace" sweep search.toml --out "$name" --quiet "$@" >out 2>err || fail "$name: exit code $?"
  table "$name" >found
  cmp -s expected found || fail "$name: another table: $(diff expected found | head -5)"
}
killed sequence
killed sequence-2 --workers 2 --threads 1
killed simultaneous --simultaneous 2
killed simultaneous-2 --simultaneous 2 --workers 2

# --- A signal ends it in good order; the same command goes on.
"$retrace" sweep search.toml --out stopped >out 2>err &
process=$!
until [ -n "$(ls stopped/trials/0002/checkpoints 2>/dev/null)" ] || ! kill -0 $process 2>/dev/null; do sleep 0.02; done
kill -s INT $process
wait $process
code=$?
[ $code -eq 75 ] || fail "SIGINT: exit code $code"
has 'go on with: retrace sweep search.toml' err
expect 0 'best: trial' sweep search.toml --out stopped
table stopped | cmp -s expected - || fail 'stopped: another table'

# --- A run of a trial is the training of its job.
best=$("$retrace" experiments whole | sed -n 's/^best: trial \([0-9]*\),.*/\1/p')
run=whole/trials/$(printf '%04d' "$best")
"$retrace" train "$run/job.toml" --out alone --quiet >out 2>err || fail 'the job of the best trial'
expect 0 'equal' compare "$run" alone

# --- What is wrong is said.
sed 's/learn_rate/learn_rat/' search.toml >wrong.toml
expect 2 'did you mean "training.initial_learn_rate"' sweep wrong.toml
sed 's/^strategy.*/stratgy = "grid"/' search.toml >wrong.toml
expect 2 'did you mean "strategy"' sweep wrong.toml
sed 's/^seed = 3/seed = 4/' search.toml >wrong.toml
expect 2 'the study is of another experiment' sweep wrong.toml --out whole
sed 's/^trials/objective = "acuracy"\ntrials/' search.toml >wrong.toml
expect 2 'does not measure the objective' sweep wrong.toml --out none
expect 66 'file of an experiment' sweep nowhere.toml
expect 66 'study' experiments nowhere
printf 'text' >whole/study.sqlite
expect 65 'study' experiments whole
finish
