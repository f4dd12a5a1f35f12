#!/bin/sh
# The saved run of contract 1 (tests/golden/1/run): it can be read, a new run of its job is equal to it, and its weights
# predict what they did. The argument is the command.
set -eu
retrace=$1
golden=tests/golden/1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

fail() {
  echo "golden_run: $1" >&2
  exit 1
}

"$retrace" train "$golden/run/job.toml" --out "$out/run" >"$out/said" 2>&1 || fail "train: $(cat "$out/said")"
"$retrace" compare "$golden/run" "$out/run" >"$out/said" 2>&1 || fail "compare: $(cat "$out/said")"

# The first 16 test images, as an IDX file.
"$retrace" data digits --out "$out/digits" >/dev/null
{
  printf '\000\000\010\003\000\000\000\020\000\000\000\034\000\000\000\034'
  gzip -dc "$out/digits/t10k-images-idx3-ubyte.gz" | tail -c +17 | head -c 12544
} >"$out/images"
"$retrace" predict "$golden/run" --input "$out/images" --out "$out/predictions.csv" >"$out/said" 2>&1 || fail "predict: $(cat "$out/said")"
cmp "$golden/predictions.csv" "$out/predictions.csv" || fail "other predictions"
echo "golden_run: equal"
