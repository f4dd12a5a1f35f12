#!/bin/sh
# `retrace train` on three hosts, which are network namespaces of this machine, joined by a bridge: hosts_test.sh
# PATH_OF_RETRACE, run from the source tree. One rank on each, started by a cluster profile; and a link that is cut.
tests=$(realpath tests)
. tests/command_testing.sh
. "$tests/hosts_testing.sh"

skip() {
  echo "hosts: skipped: $1"
  exit 77
}
command -v mpirun >/dev/null && [ -e "$(dirname "$retrace")/libretrace_mpi.so" ] || skip "there is no mpirun, or the build found no MPI"
trap 'hosts_down; rm -rf "$work"' EXIT
hosts_up || skip "no network namespaces: $(cat hosts.err)"

# Bytes that came over the link of a host.
received() { cat "/sys/class/net/$1/statistics/rx_bytes"; }
before=$(received "${name}b")
# shellcheck disable=SC2086
timeout 100 "$retrace" train "$golden/digits.toml" --set training.shards=4 --profile three --json --out run >out 2>err ||
  fail 'three hosts'
has '"workers":3' out
has '"fingerprint":"d939a843e922b2f7"' out
[ $(($(received "${name}b") - before)) -gt 1000000 ] || fail 'the gradients of the second host did not come over its link'

# --- A link that is cut: the run ends, says which worker was lost, and goes on to the bits of one that was not.
job="$jobs/digits.toml --set data.train_samples=320 --set data.test_samples=32 --set network.width=8
  --set training.shards=4 --set training.checkpoint_iterations=5 --set training.max_epochs=60"
# shellcheck disable=SC2086
"$retrace" train $job --out whole --json >out 2>err || fail 'the whole run'
whole=$(sed -n 's/.*"fingerprint":"\([0-9a-f]*\)".*/\1/p' out)
# It stays cut: the training goes on with the two hosts that are left, and says so.
# shellcheck disable=SC2086
timeout 100 "$retrace" train $job --profile three --timeout 2 --restarts 2 --json --out cut >out 2>err &
process=$!
for i in $(seq 300); do
  [ -n "$(ls cut/checkpoints 2>/dev/null)" ] && break
  sleep 0.1
done
ip link set "${name}c" down
wait $process || fail "a link was cut, and the training ended with exit code $?"
has "worker 2 gave no sign of life on ${name}c: start 2 of 3, from its newest checkpoint, without ${name}c, on 2 workers" err
has '"workers":2' out
has "\"fingerprint\":\"$whole\"" out
[ "$(grep -c 'was lost' err)" -eq 1 ] || fail 'one link was cut, and the training began more than twice'

# --- A host that is gone before the ranks begin: nobody can say so, and the hosts are asked.
# shellcheck disable=SC2086
timeout 100 "$retrace" train $job --profile three --timeout 2 --restarts 2 --json --out never >out 2>err ||
  fail 'a host was gone from the beginning'
has "start 2 of 3, from its beginning, without ${name}c, on 2 workers" err
has "\"fingerprint\":\"$whole\"" out
link_up "${name}c"

# --- The host of worker 0, and the only state in files is that of the first steps: another host has kept a copy.
snapshots="$job --set training.checkpoint_iterations=0 --set training.checkpoint_seconds=0 --set training.snapshot_iterations=1"
# shellcheck disable=SC2086
timeout 100 "$retrace" train $snapshots --profile three --timeout 2 --restarts 2 --json --out first >out 2>err &
process=$!
for i in $(seq 300); do
  [ "$(cat first/steps.jsonl 2>/dev/null | wc -l)" -ge 30 ] && break
  sleep 0.1
done
ip link set "${name}a" down
steps=$(wc -l <first/steps.jsonl)
wait $process || fail "the link of the first host was cut, and the training ended with exit code $?"
link_up "${name}a"
has "worker 0 gave no sign of life on ${name}a: start 2 of 3, from its newest checkpoint, without ${name}a, on 2 workers" err
has 'which the host of worker 0 has kept' err
after=$(sed -n 's/.*goes on from the snapshot of iteration \([0-9]*\).*/\1/p' err)
[ "${after:-0}" -ge $((steps - 1)) ] || fail "steps were lost: it goes on after $after, $steps were logged"
has "\"fingerprint\":\"$whole\"" out
expect 0 '' compare whole first
for host in "${name}b" "${name}c"; do
  [ -z "$(ls "shm-$host")" ] || fail "a copy is left on $host: $(ls "shm-$host")"
done

finish
