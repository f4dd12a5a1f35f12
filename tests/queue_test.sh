#!/bin/sh
# `retrace train --submit`: queue_test.sh PATH_OF_RETRACE, run from the source tree. The script that is written, what
# sbatch is told, and how a job is waited for; sbatch, srun, scancel and scontrol are scripts of the test. tests/slurm_test.sh
# has real ones.
. tests/command_testing.sh

mkdir bin
cat >bin/sbatch <<'SBATCH'
#!/bin/sh
echo "sbatch $*" >>"$TRACE"
[ -z "$REFUSE" ] || { echo "sbatch: error: $REFUSE" >&2; exit 1; }
for script; do :; done
SLURM_JOB_ID=42 sh "$script" >"$(sed -n 's/^#SBATCH --output="\(.*\)"/\1/p' "$script")" 2>&1
echo $? >"$TRACE.code"
echo '42;cluster'
SBATCH
cat >bin/srun <<'SRUN'
#!/bin/sh
echo "srun $*" >>"$TRACE"
while [ "${1#/}" = "$1" ]; do shift; done
echo $$ >"$TRACE.training"
exec "$@"
SRUN
cat >bin/scancel <<'SCANCEL'
#!/bin/sh
echo "scancel $*" >>"$TRACE"
kill -TERM "$(cat "$TRACE.training")"
SCANCEL
cat >bin/scontrol <<'SCONTROL'
#!/bin/sh
echo "scontrol $*" >>"$TRACE"
[ "$1" = show ] || exit 0
# The first time it is still there.
[ "$(grep -c 'scontrol show' "$TRACE")" -gt 1 ] || { echo "JobId=42 JobState=PENDING ExitCode=0:0"; exit 0; }
code=$(cat "$TRACE.code")
[ "$code" -eq 0 ] && echo "JobId=42 JobState=COMPLETED ExitCode=0:0" || echo "JobId=42 JobState=FAILED ExitCode=$code:0"
SCONTROL
chmod +x bin/*
export PATH="$work/bin:$PATH" TRACE="$work/trace" REFUSE= RETRACE_PROFILES="$work/profiles.toml"
cat >profiles.toml <<'PROFILES'
default = "queue"
[queue]
engine = "slurm"
workers = 1
options = ["-p", "long", "--time=8:00:00"]
[own]
engine = "slurm"
workers = 1
submit = "own.sh"
[bad]
engine = "slurm"
submit = "bad.sh"
[desk]
workers = 1
PROFILES
cat >own.sh <<'OWN'
#!/bin/sh
#SBATCH --output="{log}"
# {name} on {workers} in {folder}
{command}
OWN
echo 'echo nothing' >bad.sh
job="$golden/digits.toml"

"$retrace" train "$job" --out alone --json >out 2>err || fail 'alone'
whole=$(sed -n 's/.*\("fingerprint":"[0-9a-f]*"\).*/\1/p' out)

# --- It is handed over, and done; the script says how it goes on.
"$retrace" train "$job" --profile queue --submit --wait --workers 1 --out 'a run/one' --json >out 2>err || fail 'in the queue'
has '"job_id":"42"' out
has '"exit_code":0' out
[ "$(wc -l <out)" -eq 1 ] || fail 'not one line'
has "$(echo "$whole" | sed 's/"/\\"/g')" out
has "$whole" 'a run/one.log'
for line in '#SBATCH --ntasks=1' '#SBATCH --requeue' '#SBATCH --signal=B:TERM@60' '#SBATCH -p long' '#SBATCH --time=8:00:00' \
  '#SBATCH --job-name="golden-digits"' "#SBATCH --output=\"$work/a run/one.log\"" 'scontrol requeue'; do
  has "$line" 'a run/one.sbatch'
done
has "srun --mpi=pmix -n 1 -p long --time=8:00:00 $retrace train $job --out a run/one --json --continue" trace
grep -q -e --submit -e --profile -e --workers trace && fail 'a rank would hand itself over again'
expect 0 'is at its end' train "$job" --submit --out 'a run/one'

# --- SIGTERM leaves a checkpoint, and the job goes into the queue again; there it goes on to the same bits.
long="$job --set training.max_epochs=${RETRACE_EPOCHS:-200} --set training.checkpoint_seconds=0"
# shellcheck disable=SC2086
"$retrace" train $long --out whole --json >out 2>err || fail 'a long run'
whole=$(sed -n 's/.*\("fingerprint":"[0-9a-f]*"\).*/\1/p' out)
rm trace
# shellcheck disable=SC2086
"$retrace" train $long --submit --out twice --set training.checkpoint_iterations=1 >out 2>err &
process=$!
for i in $(seq 300); do [ -n "$(ls twice/checkpoints 2>/dev/null)" ] && break; sleep 0.02; done
kill -TERM "$(pgrep -f "^sh $work/twice.sbatch")" || fail 'there is no script'
wait $process || fail 'a training that is stopped in the queue'
has 'job 42 in the queue: golden-digits on 1 worker' out
has 'stopped by SIGTERM; go on with' twice.log
has 'scancel --signal=TERM 42' trace
has 'scontrol requeue 42' trace
[ "$(cat trace.code)" -eq 0 ] || fail "a job that goes into the queue again: exit code $(cat trace.code)"
SLURM_JOB_ID=42 sh twice.sbatch >out 2>err || fail 'the script, started again'
expect 0 '' compare whole twice

# --- An error of the training is that of the job.
"$retrace" train "$job" --set data.source=mnist --set network.heads=class --data none --submit --wait --out lost >out 2>err
code=$?
[ $code -eq 66 ] || fail "a training that fails in the queue: exit code $code"
has 'RT0501' err

# --- A script of one's own.
expect 0 'job 42' train "$job" --profile own --submit --out own
has "# golden-digits on 1 in $work" own.sbatch
expect 2 'a script for sbatch does not say where the training is started' train "$job" --profile bad --submit --out x

# --- What cannot be done is said at once.
expect 2 'add --out DIR' train "$job" --submit
expect 2 'cluster profile "desk" with the engine "local"' train "$job" --profile desk --submit --out x
expect 2 'has no pool of 2 workers' train "$job" --submit --workers 2 --out x
expect 2 'add --submit' train "$job" --wait --out x
expect 2 'leave --restarts out' train "$job" --submit --restarts 2 --out x
expect 2 '' train "$job" --set training.nothing=1 --submit --out x
REFUSE='invalid partition'
expect 69 'Slurm does not take the training' train "$job" --submit --out x
has 'invalid partition' err
search=$PATH PATH=/nowhere
"$retrace" train "$job" --submit --out x >out 2>err
code=$?
PATH=$search
[ $code -eq 69 ] || fail "no sbatch: exit code $code"
has 'there is no sbatch' err
[ ! -e x ] || fail 'a run folder was made'

finish
