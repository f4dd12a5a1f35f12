#!/bin/sh
# The command with s3://: object_storage_test.sh PATH_OF_RETRACE, run from the source tree. Data, runs that are written
# there, killed and resumed, and what is said. The server is tests/s3_server.py.
source=$(pwd)
. tests/command_testing.sh

. "$source/tests/s3_testing.sh"
[ -n "$server" ] || {
  echo "object_storage: skipped: $(tail -n 1 server.err) (package python3-botocore)"
  exit 77
}
fingerprint() { sed -n 's/.*"fingerprint":"\([0-9a-f]*\)".*/\1/p' out; }

# --- What is missing or wrong is said before anything is done, without a secret.
tell put "bucket x
1" >/dev/null
digits="$golden/digits.toml"
env -u AWS_SECRET_ACCESS_KEY "$retrace" train "$digits" --out s3://bucket/run >out 2>err
[ $? -eq 2 ] || fail 'half of the keys'
has 'one half of the keys' err
expect 2 'is a bucket, not a run in it' train "$digits" --out s3://bucket
expect 2 'names no bucket' train "$digits" --out s3://B/run
expect 66 'there is no run at "s3://bucket/none"' train --resume s3://bucket/none
expect 66 'the bucket of "s3://absent" does not exist' train "$digits" --out s3://absent/run

# --- Data there are data here: IDX files, which are copied. tests of retrace/data and retrace/train have images.
"$retrace" data digits --out idx >out 2>err || fail 'IDX files'
tell load "data mnist/ $work/idx" >/dev/null
mnist="$golden/digits.toml --set data.source=mnist --set network.heads=class --json"
# shellcheck disable=SC2086
"$retrace" train $mnist --data idx --out of-disk >out 2>err || fail 'IDX files on the disk'
whole=$(fingerprint)
# shellcheck disable=SC2086
"$retrace" train $mnist --data s3://data/mnist --out of-bucket >out 2>err || fail 'IDX files in a bucket'
[ "$(fingerprint)" = "$whole" ] || fail "other bits from a bucket: $(cat out)"
expect 0 '' predict of-disk --input idx/t10k-images-idx3-ubyte.gz --out disk.csv
expect 0 '' predict of-disk --input s3://data/mnist/t10k-images-idx3-ubyte.gz --out bucket.csv
cmp -s disk.csv bucket.csv || fail 'other predictions from a bucket'
expect 66 'there is no "mnist/x" in the bucket "s3://data"' predict of-disk --input s3://data/mnist/x --out x.csv
expect 66 'nothing at "s3://data/none"' train "$golden/digits.toml" --set data.source=mnist --set network.heads=class \
  --data s3://data/none

# --- A run in object storage is the run.
"$retrace" train "$digits" --out here --json >out 2>err || fail 'a run on the disk'
whole=$(fingerprint)
"$retrace" train "$digits" --out s3://bucket/runs/there --json >out 2>err || fail 'a run in object storage'
[ "$(fingerprint)" = "$whole" ] || fail "other bits in object storage: $(cat out)"
has '"run_dir":"s3://bucket/runs/there"' out
expect 0 '' compare here s3://bucket/runs/there
rm -r cache
expect 0 '' compare here s3://bucket/runs/there
expect 0 'equal' replay s3://bucket/runs/there
expect 0 'accuracy' test s3://bucket/runs/there
expect 2 'there is something at "s3://bucket/runs/there" already' train "$digits" --out s3://bucket/runs/there

# --- Killed, and resumed where nothing is on the disk; the second time where the disk has more.
job="$jobs/digits.toml --set data.train_samples=320 --set data.test_samples=32 --set network.width=8
  --set training.checkpoint_iterations=5 --set training.max_epochs=200"
# shellcheck disable=SC2086
"$retrace" train $job --out plain --json >out 2>err || fail 'the whole run'
whole=$(fingerprint)
# kill_after N ARGUMENTS...: kills a training when the storage has checkpoints of it, for the N-th time. Scalar kernels: it must
# not be at its end by then, on any machine.
kill_after() {
  wanted=$1
  shift
  RETRACE_SIMD=scalar "$retrace" train "$@" --quiet >out 2>err &
  process=$!
  for i in $(seq 300); do
    [ "$(tell seen '' | grep -c 'PUT /bucket/killed/checkpoints/')" -gt 0 ] && wanted=$((wanted - 1))
    [ $wanted -le 0 ] && break
    kill -0 $process 2>/dev/null || break
    sleep 0.1
  done
  kill -9 $process 2>/dev/null
  wait $process 2>/dev/null
}
tell faults '[{"match": "PUT /bucket/killed/steps", "status": 503, "count": 3}]' >/dev/null
# shellcheck disable=SC2086
kill_after 1 $job --out s3://bucket/killed
rm -r cache
kill_after 1 --resume s3://bucket/killed
"$retrace" train --resume s3://bucket/killed --threads 1 --json >out 2>err || fail 'a killed run does not go on'
[ "$(fingerprint)" = "$whole" ] || fail "other bits after two kills: $(cat out)"
rm -r cache
expect 0 '' compare plain s3://bucket/killed
grep -rqF -e 'secret/of' -e 'secret%2Fof' here plain cache out err && fail 'a secret was written'

finish
