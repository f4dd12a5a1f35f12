#!/bin/sh
# `retrace train --tensorboard DIR`: tensorboard_test.sh PATH_OF_RETRACE, run from the source tree. TensorBoard's own reader,
# where its Python package is installed, finds what steps.jsonl and metrics.jsonl have; our reader finds it always (test_report).
. tests/command_testing.sh

job="$jobs/digits.toml --set data.train_samples=320 --set data.test_samples=32 --set network.width=8 --set training.checkpoint_iterations=4"
# shellcheck disable=SC2086
expect 0 '' train $job --set training.max_epochs=2 --out run --tensorboard events/a --quiet
[ ! -s err ] || fail 'a quiet training says something'
ls events/a/events.out.tfevents.* >out || fail 'no event file'
# A second training in the folder, stopped in the middle and resumed, leaves the curves of one.
# shellcheck disable=SC2086
"$retrace" train $job --set training.max_epochs=24 --out long --tensorboard events/b --quiet >out 2>err &
process=$!
for i in $(seq 500); do [ -n "$(ls long/checkpoints 2>/dev/null)" ] && break; sleep 0.02; done
kill -s TERM $process
wait $process 2>/dev/null
expect 0 '' train --resume long --tensorboard events/b --quiet
[ "$(ls events/b | wc -l)" -eq 2 ] || fail 'a training that goes on has no file of its own'
touch file
# shellcheck disable=SC2086
expect 74 'file/events' train $job --out other --tensorboard file/events
[ ! -e other ] || fail 'a run was begun'

if ! python3 -c 'import tensorboard' 2>/dev/null; then
  echo "tensorboard_test: TensorBoard's own reader is not installed (pip install tensorboard): it was not tried"
  finish
  exit
fi
cat >compare.py <<'PYTHON'
import json
import struct
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

run, events = sys.argv[1:]
f32 = lambda value: struct.unpack("<f", struct.pack("<f", value))[0]
expected = {}
for line in open(run + "/steps.jsonl"):
    step = json.loads(line)
    expected.setdefault("loss", []).append((step["iteration"], f32(step["loss"])))
    expected.setdefault("learn_rate", []).append((step["iteration"], f32(step["learn_rate"])))
for line in open(run + "/metrics.jsonl"):
    event = json.loads(line)
    if event["event"] == "epoch" and event["complete"]:
        expected.setdefault("epoch_loss", []).append((event["iteration"], f32(event["loss"])))
    if event["event"] == "validation":
        expected.setdefault("validation_loss", []).append((event["iteration"], f32(event["validation_loss"])))
        for name, value in event["metrics"].items():
            expected.setdefault("validation/" + name, []).append((event["iteration"], f32(value)))
reader = EventAccumulator(events, size_guidance={"scalars": 0}, purge_orphaned_data=True)
reader.Reload()
found = {tag: [(one.step, one.value) for one in reader.Scalars(tag)] for tag in reader.Tags()["scalars"]}
if found != expected:
    sys.exit(f"other scalars: {[(tag, len(found.get(tag, [])), len(expected.get(tag, []))) for tag in {*found, *expected}]}")
print(sum(map(len, found.values())), "scalars")
PYTHON
for pair in run:a long:b; do
  python3 compare.py "${pair%:*}" "events/${pair#*:}" >out 2>err || fail "TensorBoard reads other scalars of ${pair%:*}"
  echo "tensorboard_test: $(tail -n 1 out)"
done
finish
