#!/bin/sh
# Ranks of mpirun as a group: mpi_test.sh PATH_OF_RETRACE, whose folder holds tests/mpi_ranks. What arrives, which errors
# name whom, how soon, and with which exit code all end. Exits 77 where there is no mpirun.
set -u
ranks=$(dirname "$(realpath "$1")")/tests/mpi_ranks
for needed in mpirun "$ranks"; do
  command -v "$needed" >/dev/null || {
    echo "mpi_test: SKIPPED, there is no $needed (make packages LIST=development, then configure anew)"
    exit 77
  }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
# MPI keeps memory until the end, takes its locks in any order, and hands bytes from thread to thread unseen.
export ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS="detect_deadlocks=0 ignore_noninstrumented_modules=1"

fail() {
  echo "FAILED: $*" >&2
  echo "  output: $(head -c 2000 "$work/out")" >&2
  failures=$((failures + 1))
}

# ranks N CODES SECONDS CASE: N ranks end with one of these exit codes within this time.
ranks() {
  start=$(date +%s%N)
  timeout -k 5 120 mpirun --allow-run-as-root --oversubscribe -n "$1" "$ranks" "$4" >"$work/out" 2>&1 </dev/null
  found=$?
  took=$((($(date +%s%N) - start) / 1000000))
  case " $2 " in *" $found "*) ;; *) fail "$4 with $1 ranks: exit code $found instead of $2" ;; esac
  [ $took -le $(($3 * 1000)) ] || fail "$4 with $1 ranks: $took ms"
}
# says TEXT TIMES: so many lines hold the text.
says() { [ "$(grep -cF -- "$1" "$work/out")" -eq "$2" ] || fail "not $2 times: $1"; }
# all_within MILLISECONDS: every error came that soon.
all_within() {
  sed -n 's/^rank [0-9]*, \([0-9]*\) ms: .*/\1/p' "$work/out" | while read -r ms; do
    [ "$ms" -le "$1" ] || echo late
  done | grep -q late && fail "an error came later than after $1 ms"
}

# --- What is sent arrives.
for n in 1 2 3; do
  ranks $n 0 60 exchange
  ranks $n 0 60 large
  ranks $n 0 30 views
  ranks $n 0 60 messages
  ranks $n 0 30 queues
done
"$ranks" barriers >"$work/out" 2>&1 || fail 'one rank without mpirun'
# A run that ranks trained is computed again by ranks.
for n in 1 2 3; do
  mkdir "$work/$n"
  RUN_FOLDER=$work/$n ranks $n 0 60 replay
done
cmp -s "$work/1/run/weights.safetensors" "$work/3/run/weights.safetensors" || fail 'replay: ranks change bits'
ranks 3 0 20 place
says 'hint: ' 1
if [ "$(nproc)" -gt 1 ] && mpirun --allow-run-as-root --bind-to core -n 1 true >/dev/null 2>&1; then
  mpirun --allow-run-as-root --bind-to core -n 1 "$ranks" place >"$work/out" 2>&1 || fail 'a bound rank'
  says "hint: each rank is bound to 1 of $(nproc) cores: mpirun --bind-to none lets it use more" 1
  mpirun --allow-run-as-root --bind-to none -n 1 "$ranks" place >"$work/out" 2>&1 || fail 'a free rank'
  says 'hint: each' 0
fi

# --- Ranks beyond the shards make samples for those that compute: the same bits, and the network on every rank.
"$ranks" loaders >"$work/alone" 2>&1 || fail 'one rank alone'
for n in 2 3 4 5; do
  ranks $n 0 60 loaders
  says "$(sed 's/.*fingerprint/fingerprint/' "$work/alone")" $n
  says 'rank has made samples' $n
done
ranks 3 '65 77' 20 failing_loader
says 'the sample is damaged' 3
ranks 4 77 30 silent_loader
grep -q 'no sign of life from worker 2$' "$work/out" || fail 'a loader that stands still is not named'

# --- Who does not come is named, and all end.
for case in missing missing_large missing_stopped; do
  ranks 3 77 20 $case
  # Who notices it first may be ended by mpirun before it says so: then those who heard of it quote it.
  grep -q 'error\[RT0611\]: [a-z]*: not every worker came within 1 seconds' "$work/out" || fail "$case: no RT0611"
  grep 'no sign of life' "$work/out" | grep -qv 'no call and no sign of life from worker 2$' && fail "$case: others are blamed"
  says 'warning: worker 0 has waited for worker 2 in ' 1
done
ranks 3 77 20 missing_message
grep -qE 'error\[RT0611\]: (receive|barrier): not every worker came within 1 seconds' "$work/out" || fail 'missing_message: no RT0611'
says 'warning: worker 1 has waited for worker 2 in receive' 1
# Who computes is waited for.
ranks 3 0 20 computing_1
says 'warning: worker 0 has waited for worker 2 in barrier' 1

# At the end of the program, too; but one that answers has the time that it takes.
ranks 3 77 20 stopped_at_end_1
ranks 3 0 20 late_1

# A rank that never comes to MPI, of a program that ends well.
timeout -k 5 60 mpirun --allow-run-as-root --oversubscribe -n 1 "$ranks" barriers_1 : -n 1 true >"$work/out" 2>&1 </dev/null
found=$?
[ $found -eq 77 ] || fail "mpirun with a rank of 'true': exit code $found instead of 77"
says 'error[RT0607]: not all 2 ranks began within 10 seconds' 1

# --- Who is elsewhere is named, by those who see it first; the others hear of it.
ranks 3 77 20 different
says 'the workers are in different collectives' 3
all_within 1000
grep -qE 'sum here, broadcast in worker|broadcast here, sum in worker 1' "$work/out" || fail 'no names of collectives'
ranks 3 77 20 ended
says 'the end of the program' 2
all_within 1000
ranks 3 '70 77' 20 sizes
says 'a message arrives with its size' 3
all_within 1000

# --- A failure reaches everybody.
for case in failing failed_before failing_thread; do
  ranks 3 77 20 $case
  says 'error[RT0610]: worker 1 failed' 2
  all_within 1200
done
ranks 3 '65 77' 20 failing_item
grep -q 'item 20: no such file' "$work/out" || fail 'no name of the item that failed'
ranks 3 77 10 aborting
ranks 3 137 10 killed

# --- Networks that are trained side by side: the same bits from any number of ranks, and again after one was killed.
"$ranks" trainings >"$work/alone" 2>&1 || fail 'trainings without mpirun'
[ "$(wc -w <"$work/alone")" -eq 20 ] || fail 'not 20 fingerprints'
ranks 2 137 20 trainings_killed
for n in 2 3; do
  ranks $n 0 30 trainings
  cmp -s "$work/out" "$work/alone" || fail "trainings on $n ranks have other fingerprints"
done

# --- Without the module, or with that of another MPI.
RETRACE_MPI_MODULE=/nowhere "$ranks" barriers >"$work/out" 2>&1
[ $? -eq 69 ] || fail 'an absent module: not exit code 69'
says 'error[RT0613]' 1
PMI_SIZE=4 PMI_RANK=2 "$1" train jobs/digits.toml >"$work/out" 2>&1
[ $? -eq 69 ] || fail "a rank of another MPI's launcher: not exit code 69"
says "error[RT0606]: this is one of 4 processes of MPICH's or Intel MPI's mpiexec" 1
OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0 "$ranks" barriers >"$work/out" 2>&1
[ $? -eq 69 ] || fail 'a launcher that this MPI does not know: not exit code 69'
says 'mpirun started 4 ranks' 1

[ $failures -eq 0 ] || { echo "$failures failures" >&2; exit 1; }
echo "mpi_test: all passed"
