#!/bin/sh
# The contract in numpy: reference_test.sh PATH_OF_RETRACE, whose folder holds tests/reference_values. What
# tests/reference_check.py compares. Exits 77 where there is no Python with numpy.
set -eu
build=$(dirname "$(realpath "$1")")
for python in python3 /usr/bin/python3; do
  "$python" -c 'import numpy, tomllib' 2>/dev/null || continue
  exec env PYTHONDONTWRITEBYTECODE=1 "$python" tests/reference_check.py "$1" "$build/tests/reference_values"
done
echo "reference_test: SKIPPED, there is no Python 3.11 with numpy (make packages LIST=test)"
exit 77
