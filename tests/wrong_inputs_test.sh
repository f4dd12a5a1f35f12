#!/bin/sh
# Wrong inputs as users give them, with the whole texts of the messages: wrong_inputs_test.sh PATH_OF_RETRACE. What
# tests/wrong_inputs.py runs. Exits 77 where there is no Python.
set -eu
command -v python3 >/dev/null || {
  echo "wrong_inputs_test: SKIPPED, there is no Python 3 (make packages LIST=test)"
  exit 77
}
exec env PYTHONDONTWRITEBYTECODE=1 python3 tests/wrong_inputs.py "$1"
