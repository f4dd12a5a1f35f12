#!/bin/sh
# `retrace train` under a Slurm of one machine, which the test starts: slurm_test.sh PATH_OF_RETRACE, run from the source
# tree. srun by itself and by a cluster profile, with the golden fingerprint of 4 shards.
source=$(pwd)
. tests/command_testing.sh

skip() {
  echo "slurm: skipped: $1"
  exit 77
}
. "$source/tests/slurm_testing.sh"

job="$golden/digits.toml --set training.shards=4 --json"
fingerprint='"fingerprint":"d939a843e922b2f7"'
# shellcheck disable=SC2086
timeout 60 srun --mpi=pmix --overcommit -n 2 "$retrace" train $job --out two >out 2>err || fail 'srun -n 2'
has "$fingerprint" out
[ "$(wc -l <out)" -eq 1 ] || fail 'srun -n 2: not one line'

export RETRACE_PROFILES="$work/profiles.toml"
cat >profiles.toml <<'PROFILES'
[queue]
engine = "slurm"
workers = 4
options = ["--overcommit"]
PROFILES
for n in 3 4; do
  # shellcheck disable=SC2086
  timeout 60 "$retrace" train $job --profile queue --workers $n --out "profile-$n" >out 2>err || fail "$n workers of a profile"
  has "$fingerprint" out
  has "\"workers\":$n" out
done
# In an allocation, as in a script of sbatch.
# shellcheck disable=SC2086
timeout 60 salloc --quiet --overcommit -n 2 "$retrace" train $job --profile queue --workers 2 --out allocated >out 2>err ||
  fail 'a profile in an allocation'
has "$fingerprint" out

# --- In the queue: handed over, waited for, done.
# shellcheck disable=SC2086
timeout 120 "$retrace" train $job --profile queue --workers 2 --submit --wait --out queued >out 2>err || fail 'a job in the queue'
has '"exit_code":0' out
has "$fingerprint" queued.log
has '"workers":2' queued.log

# SIGTERM for the script, as before the end of its time, or for the ranks, as where Slurm takes their nodes back: the ranks
# leave a checkpoint, and the job waits in the queue again (for two minutes). Started again it goes on to the same bits.
long="$golden/digits.toml --set training.shards=4 --set training.max_epochs=200 --set training.checkpoint_seconds=0"
again="$long --set training.checkpoint_iterations=1 --profile queue --submit --out twice"
# shellcheck disable=SC2086
"$retrace" train $long --out whole --json >out 2>err || fail 'the whole run'

# interrupt NUMBER [--batch]: the NUMBER-th start gets SIGTERM behind an epoch, its script where --batch stands.
interrupt() {
  # shellcheck disable=SC2086
  "$retrace" train $again --workers 2 --json >out 2>err || fail 'a long job in the queue'
  number=$(sed -n 's/.*"job_id":"\([0-9]*\)".*/\1/p' out)
  for i in $(seq 600); do
    [ "$(grep -c '^golden-digits' twice.log 2>/dev/null)" = "$1" ] && tail -n 1 twice.log | grep -q '^epoch' && break
    sleep 0.05
  done
  # shellcheck disable=SC2086
  scancel ${2-} --signal=TERM "$number" || fail "no signal for job $number"
  for i in $(seq 300); do
    state=$(scontrol show job --oneliner "$number" | sed -n 's/.* JobState=\([A-Z]*\) .* Restarts=\([0-9]*\) .*/\1 \2/p')
    [ "$state" = 'PENDING 1' ] && break
    sleep 0.1
  done
  [ "$state" = 'PENDING 1' ] || fail "a job that was ended is not in the queue again: $state; $(tail -n 5 twice.log)"
  [ "$(grep -c 'stopped by SIGTERM; go on with' twice.log)" -eq "$1" ] || fail "no checkpoint: $(tail -n 5 twice.log)"
  scancel "$number"
}
interrupt 1 --batch
interrupt 2
# shellcheck disable=SC2086
timeout 600 "$retrace" train $again --workers 3 --wait >out 2>err || fail 'a job that goes on'
expect 0 '' compare whole twice

finish
