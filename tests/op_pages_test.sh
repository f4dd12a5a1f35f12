#!/bin/sh
# docs/ops.md and the pages that it names are as headers, examples and cases say: op_pages_test.sh PATH_OF_RETRACE. Exits 77
# where build/tests/test_ops is not built, or another build than the one of build/ is tested.
set -eu
build=$(dirname "$(realpath "$1")")
[ "$build" = "$(pwd -P)/build" ] && [ -x build/tests/test_ops ] || {
  echo "op_pages: skipped: there is no build/tests/test_ops"
  exit 77
}
scripts/op_pages
echo "op_pages: passed"
