"""What the checks share: the project's files and how a finding is told."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = ("base cloud monitor device distributed tensor trace ops autodiff plan run "
          "nn optim data train report experiment web cli").split()
CODE = (".h", ".cpp", ".cu")


def files(*endings):
    """The project's files (tracked, or new and not ignored) with one of these endings, sorted."""
    listing = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             cwd=ROOT, check=True, capture_output=True, text=True).stdout
    names = sorted(set(name for name in listing.split("\0") if name))
    return [name for name in names if name.endswith(endings) and (ROOT / name).is_file()]


def lines(name):
    return (ROOT / name).read_text(encoding="utf-8").split("\n")


INCLUDE = re.compile(r'^#include "(retrace/[^"]+)"', re.M)


def header_text(name):
    """The text of a header, also of one that CMake made in build/generated."""
    for folder in (ROOT, ROOT / "build/generated"):
        if (folder / name).is_file():
            return (folder / name).read_text(encoding="utf-8")
    sys.exit(f"there is no {name}: cmake --preset release makes the generated headers")


def public_headers():
    """The headers that retrace/retrace.h reaches, sorted: those that are installed."""
    found, waiting = set(), ["retrace/retrace.h"]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += INCLUDE.findall(header_text(name))
    return sorted(found)


def finish(findings):
    """Prints the findings, and exits 1 if there are any."""
    for finding in findings:
        print(finding, file=sys.stderr)
    sys.exit(1 if findings else 0)
