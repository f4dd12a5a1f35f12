#!/bin/sh
# scripts/packages among stand-ins for dpkg-query, id, sudo and apt-get: what it asks for, installs and says.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
export LOG="$work/log" INSTALLED="$work/installed" USER_ID=0 SUDO=absent APT=good

mkdir "$work/plain" "$work/debian"
for tool in sh dirname grep awk env; do ln -s "$(command -v $tool)" "$work/plain/$tool"; done
stand_in() { # stand_in NAME SCRIPT
  printf '#!/bin/sh\n%s\n' "$2" >"$work/debian/$1"
  chmod +x "$work/debian/$1"
}
stand_in true "exit 0"
stand_in id 'echo "$USER_ID"'
stand_in apt-get 'echo "apt-get $*" >>"$LOG"; case "$APT $1" in "good "* | "old install") ;; *) exit 100 ;; esac'
stand_in dpkg-query 'for name in "$@"; do grep -qx -- "$name" "$INSTALLED" && printf "installed %s " "$name"; done; exit 1'

fail() {
  echo "FAILED: $*: $(cat "$work/said" "$LOG")" >&2
  failures=$((failures + 1))
}
# expect CODE TEXT LIST: the exit code and a text among what is said.
expect() {
  : >"$LOG"
  PATH="$tools" sh scripts/packages "$3" >"$work/said" 2>&1 </dev/null
  found=$?
  [ $found -eq "$1" ] || fail "exit code $found instead of $1"
  [ -z "$2" ] || grep -qF -- "$2" "$work/said" || fail "not said: $2"
}
logged() { grep -qF -- "$1" "$LOG" || fail "not called: $1"; }
untouched() { [ ! -s "$LOG" ] || fail 'a package tool was called'; }

packages=$(grep -hv '^#' scripts/package-lists/demo | awk '{print $1}')
first=$(echo "$packages" | head -n 1)

# --- Not Debian: the libraries, and 69.
tools="$work/plain"
expect 69 'This is not Debian or Ubuntu' demo
[ "$(grep -c '^  ' "$work/said")" -eq "$(echo "$packages" | wc -l)" ] || fail 'not a line a library'
expect 2 'is not a list' everything

# --- Nothing missing: silence, and no package tool.
tools="$work/debian:$work/plain"
echo "$packages" >"$INSTALLED"
expect 0 '' demo
[ ! -s "$work/said" ] || fail 'something is said where nothing is missing'
untouched

# --- One missing: installed as root, also after a failed update.
echo "$packages" | grep -vx -- "$first" >"$INSTALLED"
install="apt-get install --yes --no-install-recommends --no-remove $first"
expect 0 "Missing packages: $first" demo
logged 'apt-get update'
logged "$install"
APT=old
expect 0 'trying to install all the same' demo
logged "$install"
APT=broken
expect 1 "could not install: $first" demo
APT=good

# --- Somebody else: a sudo that asks no password; without one, a line to type.
USER_ID=1000
expect 1 "type as root: apt-get install --no-install-recommends $first" demo
untouched
stand_in sudo '[ "$SUDO" = free ] || exit 1; echo "sudo $*" >>"$LOG"; shift; exec "$@"'
expect 1 "type as root: apt-get install --no-install-recommends $first" demo
untouched
SUDO=free
expect 0 "Missing packages: $first" demo
logged 'sudo -n env DEBIAN_FRONTEND=noninteractive apt-get install'
logged "$install"

[ $failures -eq 0 ] || { echo "$failures failures" >&2; exit 1; }
echo "packages_test: all passed"
