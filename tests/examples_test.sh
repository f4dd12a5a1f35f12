#!/bin/sh
# The examples that train on pools: examples_test.sh PATH_OF_RETRACE, run from the source tree, with the examples built
# beside it. One fingerprint by threads, ranks, a profile, Slurm; from a folder of images and from object storage.
source=$(pwd)
. tests/command_testing.sh
examples=$(dirname "$retrace")/examples

skip() {
  echo "examples: skipped: $1"
  exit 77
}
for example in cifar10_cluster parallel_loop; do
  [ -x "$examples/$example" ] || skip "$example is not built (make examples)"
done
command -v mpirun >/dev/null || skip 'there is no mpirun (package openmpi-bin)'
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 RETRACE_PROFILES="$work/profiles.toml"
cat >profiles.toml <<'PROFILES'
[lab]
engine = "mpi"
workers = 6
options = ["--oversubscribe"]
[queue]
engine = "slurm"
workers = 2
options = ["--overcommit"]
PROFILES

# run COMMAND...: it prints one line, whose fingerprints, without their names, go to `bits`.
run() {
  timeout 120 "$@" >out 2>err || fail "$*: exit code $?"
  [ "$(wc -l <out)" -eq 1 ] || fail "$*: not one line"
  grep -o '"[0-9a-f]\{16\}"' out >bits || fail "$*: no fingerprint"
}
# same NAME COMMAND...: with the fingerprints of the first that ran under that name.
same() {
  first=bits.$1
  shift
  run "$@"
  [ -e "$first" ] || cp bits "$first"
  cmp -s bits "$first" || fail "$*: other bits than $(head -n 1 "$first")"
}

loop="$examples/parallel_loop --quick --json" cluster="$examples/cifar10_cluster --quick --json"
ranks='mpirun --oversubscribe -n 3'
# shellcheck disable=SC2086
same loop $loop --workers 1
# shellcheck disable=SC2086
same loop $loop --workers 2
# shellcheck disable=SC2086
same loop $ranks $loop
has '"workers=3"' out
for n in 1 2 3; do
  # shellcheck disable=SC2086
  same digits $cluster --workers $n
done
# shellcheck disable=SC2086
same digits $ranks $cluster
has '"workers":3' out
# shellcheck disable=SC2086
same digits $cluster --profile lab --workers 2
has '"workers":2' out
# Of six ranks four have a shard each, and two read for them.
# shellcheck disable=SC2086
same digits $cluster --profile lab

# --- Folders of images, on the disk and in object storage.
python3 - <<'PYTHON'
import os, random, struct, zlib
def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
def png(rows):
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 32, 32, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))) + chunk(b"IEND", b""))
draw = random.Random(1)
for part, count in (("train", 32), ("test", 8)):
    for label in range(4):
        folder = f"images/{part}/class {label}"
        os.makedirs(folder)
        for i in range(count):
            with open(f"{folder}/{i}.png", "wb") as file:
                file.write(png([bytes((draw.randrange(64) + 48 * label) for _ in range(96)) for _ in range(32)]))
PYTHON
# shellcheck disable=SC2086
same images $cluster --data images --workers 1
# shellcheck disable=SC2086
same images $ranks $cluster --data images
. "$source/tests/s3_testing.sh"
if [ -n "$server" ]; then
  tell load "data photographs/ $work/images" >/dev/null
  # shellcheck disable=SC2086
  same images $cluster --data s3://data/photographs --workers 2
  # shellcheck disable=SC2086
  same images $ranks $cluster --data s3://data/photographs
  # shellcheck disable=SC2086
  same images $cluster --data s3://data/photographs --profile lab --workers 2
else
  echo "examples: object storage skipped: $(tail -n 1 server.err) (package python3-botocore)"
fi

# --- Under Slurm.
skip() {
  echo "examples: Slurm skipped: $1"
  finish
  exit
}
. "$source/tests/slurm_testing.sh"
# shellcheck disable=SC2086
same loop srun --mpi=pmix --overcommit -n 2 $loop
has '"workers=2"' out
# shellcheck disable=SC2086
same digits srun --mpi=pmix --overcommit -n 2 $cluster
# shellcheck disable=SC2086
same digits $cluster --profile queue --workers 2

finish
