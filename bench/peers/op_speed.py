"""Times our ops and PyTorch's on calls of three sizes: op_speed.py BUILD_FOLDER [docs/op-speed.md [LABEL]].

Ours and PyTorch's run in turns, on two threads; of each call the least time of the rounds counts. LABEL leaves out the ops whose
labels do not hold it.
"""

import pathlib
import statistics
import sys
import time

import torch

from ops.calls import Bound, Call, Op, ask
from ops.sized import ROWS, SIZES

THREADS, ROUNDS = 2, 3


def tensor(shape, kind):
    if kind in "ic":
        return torch.randint(0, 64 if kind == "i" else 10, shape, dtype=torch.int32)
    if kind == "b":
        return torch.rand(shape) > 0.5
    if kind in "pu":
        return torch.rand(shape) * (1 if kind == "p" else 0.9) + (0.1 if kind == "p" else 0)
    return torch.randn(shape) * (0.1 if kind == "s" else 1)


def calls():
    """(row, size, call) of every row at every size."""
    torch.manual_seed(1)
    found = []
    for row in ROWS:
        if len(sys.argv) > 3 and sys.argv[3] not in row.label:
            continue
        for size in SIZES:
            inputs = [tensor(shape, row.kinds[i] if i < len(row.kinds) else "n") for i, shape in enumerate(row.shapes(size))]
            constant = () if row.gradient else tuple(range(len(inputs)))
            op = Op(row.op, "", row.peer, None, Bound("exact"), Bound("exact"), constant=constant)
            found.append((row, size, Call(op, inputs, row.options)))
    return found


def microseconds(f):
    for _ in range(3):
        f()
    start = time.perf_counter()
    f()
    count, all_ = max(1, int(2e-4 / max(time.perf_counter() - start, 1e-7))), []
    while sum(all_) * count < 0.04 or len(all_) < 5:
        start = time.perf_counter()
        for _ in range(count):
            f()
        all_.append((time.perf_counter() - start) / count)
    return sorted(all_)[len(all_) // 4] * 1e6


def of_pytorch(call):
    inputs, peer = call.inputs, call.op.peer
    with torch.no_grad():
        found = {"forward": microseconds(lambda: peer(*inputs))}
    wanted = [x.clone().requires_grad_() if want else x for x, want in zip(inputs, call.wanted(), strict=True)]
    if not any(call.wanted()):
        return found
    weights = torch.randn_like(peer(*wanted))

    def step():
        for x in wanted:
            x.grad = None
        peer(*wanted).backward(weights)

    return found | {"gradient": microseconds(step)}


def least(rounds):
    return [{part: min(one[i][part] for one in rounds) for part in rounds[0][i]} for i in range(len(rounds[0]))]


def page(found, ours, theirs):
    ratios = {}
    for (row, size, _), a, b in zip(found, ours, theirs, strict=True):
        for part in a:
            if part in b:
                ratios.setdefault(row.label, {})[part, size] = b[part] / a[part]
    every = [ratio for row in ratios.values() for ratio in row.values()]
    pairs = [(a, b["gradient"]) for a, b in zip(ours, theirs, strict=True) if "gradient" in b]
    slower = [sum(b < a[part] for a, b in pairs) for part in ("gradient", "gradient of a sum")]
    names = [f"{part} {size:.0e}".replace("+0", "") for part in ("forward", "gradient") for size in SIZES]
    out = ["# Ops beside PyTorch's, in time", "",
           f"Made by `scripts/bench_agreement speed` (`bench/peers/op_speed.py`) with PyTorch {torch.__version__.split('+')[0]}, eager, in f32 on "
           f"{THREADS} threads:", "how many times as long as ours PyTorch's call takes, by the number of elements. Ours are replayed by `accelerate`. A",
           "gradient is the result and, for given weights of it, the gradients for all float inputs: `vjp` here, `y.backward(weights)` there.", "",
           f"Of {len(every)} calls the median is {statistics.median(every):.1f}; {sum(ratio < 1 for ratio in every)} are slower than PyTorch's.",
           f"Of the {len(pairs)} gradients {slower[0]} are; where ours make the value of the weighted sum, too, {slower[1]} are.", "",
           "| op | " + " | ".join(names) + " |", "| --- |" + " ---: |" * len(names)]
    for label, row in ratios.items():
        cells = [f"{row[part, size]:.2g}" if (part, size) in row else "" for part in ("forward", "gradient") for size in SIZES]
        out.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(out) + "\n"


def main():
    torch.set_num_threads(THREADS)
    build = pathlib.Path(sys.argv[1])
    found, ours, theirs = calls(), [], []
    for _ in range(ROUNDS):
        ours.append(ask(build / "bench/op_calls", [call for _, _, call in found], THREADS))
        theirs.append([of_pytorch(call) for _, _, call in found])
    for (row, _, _), one in zip(found, ours[0], strict=True):
        if "error" in one:
            sys.exit(f"op-speed: {row.label}: {one['error']}")
    text = page(found, least(ours), least(theirs))
    if len(sys.argv) > 2 and sys.argv[2] != "-":
        pathlib.Path(sys.argv[2]).write_text(text, encoding="utf-8")
    else:
        print(text)


main()
