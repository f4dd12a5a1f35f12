"""Compares our ops with PyTorch's: op_agreement.py BUILD_FOLDER [docs/peers-ops.md [SEED]].

Asks BUILD_FOLDER/bench/op_calls for 10,000 drawn calls, and for the samples of PyTorch's own tests, makes the same with
PyTorch, and writes the page. Ends with 1 if a call differs from PyTorch without a stated reason, if an op has neither
calls nor a line that says why, or if a stated reason is none any more.
"""

import collections
import pathlib
import re
import subprocess
import sys
import warnings

import torch

from ops import (  # noqa: F401 - they fill the tables
    array_samples, arrays, floors, layer_samples, layers, losses, norms, parts, pointwise, pointwise_samples, volumes)
from ops.calls import NAMES, OPS, ask, drawn_calls
from ops.compare import compare, type_of
from ops.differences import DIFFERENCES, NO_PEER, excused
from ops.edges import edge_calls
from ops.page import Row, page
from ops.samples import sample_calls

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CALLS = 10_000
DECLARED = re.compile(r"^(?:inline )?[A-Z:a-z<>]+ ([a-z_0-9]+)\(", re.MULTILINE)
SHOWN = 3  # of the calls of one kind that differ


def public_functions():
    """What the headers of the ops declare."""
    found = set()
    for folder in (ROOT / "retrace/ops").iterdir():
        header = folder / f"{folder.name}.h"
        if header.exists():
            found |= set(DECLARED.findall(header.read_text(encoding="utf-8")))
    return found


def incomplete(binary):
    """Texts of what is missing in the tables."""
    known = set(subprocess.run([binary], check=True, capture_output=True, text=True).stdout.split())
    public = public_functions()
    found = [f"{name} has neither calls nor a reason" for name in sorted(public - set(OPS) - set(NO_PEER))]
    found += [f"{name} is no public function" for name in sorted((set(OPS) | set(NO_PEER)) - public)]
    return found + [f"{name} is not in bench/op_calls" for name in sorted(set(OPS) - known)]


def describe(finding):
    call = finding.call
    inputs = ", ".join("-" if x is None else f"{NAMES[x.dtype]}{list(x.shape)}" for x in call.inputs)
    text = f"{call.op.name}({inputs}) {call.options} {call.what}: {finding.part}: {finding.text.splitlines()[0] if finding.text else ''}"
    if finding.wrong is not True and finding.ours is not None:
        at = tuple(torch.nonzero(finding.wrong)[0].tolist())
        text += f"at {list(at)} {finding.ours[at].item()} for {finding.theirs[at].item()}, {finding.worst:.3g} units"
    return text


def main():
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")  # of variances of one number
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build")
    binary = build / "bench/op_calls"
    faults = incomplete(binary)
    samples, counts = sample_calls()
    calls = drawn_calls(CALLS, int(sys.argv[3]) if len(sys.argv) > 3 else 7) + edge_calls() + samples
    rows, differing = {name: Row() for name in OPS}, collections.defaultdict(list)
    for call, made in zip(calls, ask(binary, calls), strict=True):
        row = rows[call.op.name]
        row.calls += call.what in ("drawn", "an edge")
        row.samples += call.what not in ("drawn", "an edge")
        for finding in compare(call, made):
            wrong = finding.wrong is not None and (finding.wrong is True or bool(torch.as_tensor(finding.wrong).any()))
            if not wrong:
                row.add(finding)
            elif not excused(finding):
                differing[call.op.name, finding.part, type_of(call)].append(finding)
    for found in differing.values():
        print(*("op-agreement: " + describe(finding) for finding in found[:SHOWN]), sep="\n")
    faults += [f"nothing differs any more: {one.ops} {one.part}: {one.reason}" for one in DIFFERENCES if not one.count]
    print(*("op-agreement: " + fault for fault in faults), sep="\n")
    count = len({id(finding.call) for found in differing.values() for finding in found})
    print(f"op-agreement: {len(calls)} calls, {count} that differ, {sum(one.count for one in DIFFERENCES)} times by definition")
    if len(sys.argv) > 2:
        pathlib.Path(sys.argv[2]).write_text(page(rows, count, counts), encoding="utf-8")
    sys.exit(1 if count or faults else 0)


main()
