#!/bin/sh
# `retrace train --restarts` among faults: rank_faults_test.sh PATH_OF_RETRACE, run from the source tree. Three ranks, on one
# machine and on three hosts; at a random moment a random one is killed or stands still, the link to its host is cut, or a
# disk is full. RETRACE_RANK_FAULTS: how many (16); the same seeds have the same faults. tests/rank_faults.py looks at each.
tests=$(realpath tests)
. tests/command_testing.sh
. "$tests/hosts_testing.sh"

skip() {
  echo "rank_faults: skipped: $1"
  exit 77
}
command -v mpirun >/dev/null && [ -e "$(dirname "$retrace")/libretrace_mpi.so" ] || skip 'there is no mpirun, or the build found no MPI'
command -v python3 >/dev/null || skip 'there is no python3'
trap 'hosts_down; umount disk "shm-${name}b" 2>/dev/null; rm -rf "$work"' EXIT
cat >profiles.toml <<'PROFILES'
[here]
engine = "mpi"
workers = 3
options = ["--allow-run-as-root", "--oversubscribe"]
PROFILES

kinds="kill stop"
if hosts_up; then kinds="$kinds link"; else echo "rank_faults: SKIPPED links that are cut: $(cat hosts.err)"; fi
mkdir disk
if mount -t tmpfs -o size=4m none disk 2>err; then kinds="$kinds disk"; else echo "rank_faults: SKIPPED full disks: $(cat err)"; fi
case $kinds in *link*disk) mount -t tmpfs -o size=8m none "shm-${name}b" ;; esac

job="$jobs/digits.toml --set data.train_samples=320 --set data.test_samples=32 --set network.width=8 --set training.shards=3
  --set training.snapshot_iterations=1 --set training.checkpoint_seconds=0 --set training.max_epochs=30"
# shellcheck disable=SC2086
"$retrace" train $job --out whole --json >whole-out 2>err || fail 'the whole run'
# shellcheck disable=SC2086
python3 "$tests/rank_faults.py" "$retrace" "${RETRACE_RANK_FAULTS:-16}" "$kinds" "$hosts" $job || failures=$((failures + 1))

finish
