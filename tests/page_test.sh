#!/bin/sh
# The live page: page_test.sh PATH_OF_RETRACE, run from the source tree. What a server refuses, and a browser that watches a
# run and stops it; runs that were killed.
source=$(pwd)
. tests/command_testing.sh

"$retrace" monitor --port 0 . >out 2>err &
process=$!
for i in $(seq 50); do [ -s out ] || ! kill -0 $process 2>/dev/null && break; sleep 0.1; done
kill $process 2>/dev/null
wait $process
if grep -q 'built without its live page' err; then
  echo 'page: skipped: built without the page (packages libboost1.81-dev and libjs-dygraphs)'
  exit 77
fi
expect 66 'folder of runs' monitor nowhere
expect 2 'port must be a number' monitor --port many .
expect 2 'no page can be served' monitor --host 192.0.2.1 --port 0 .

python3 "$source/tests/page_attacks.py" "$retrace" "$jobs/digits.toml" || fail 'attacks'
mkdir killed
(cd killed && python3 "$source/tests/killed_runs.py" "$retrace" "$jobs/digits.toml" "${RETRACE_KILLS:-10}") || fail 'killed runs'
python3 "$source/tests/page_browser.py" "$retrace" "$jobs/digits.toml" || fail 'the browser'

finish
