"""Times our ops and those of PyTorch (eager and compiled) and JAX on calls of three sizes:
op_speed.py BUILD_FOLDER [docs/op-speed.md [LABEL]].

All run in turns, on two threads; of each call the least time of the rounds counts. What torch.compile makes is timed at the
largest size alone, since compiling takes it seconds a call. LABEL leaves out the ops whose labels do not hold it.
"""

import os
import pathlib
import statistics
import sys

THREADS, ROUNDS = 2, 3
os.environ["JAX_PLATFORMS"] = "cpu"
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])  # before JAX starts its threads

import jax  # noqa: E402
import torch  # noqa: E402

from ops.calls import Bound, Call, Op, ask  # noqa: E402
from ops.jax_forms import FORMS  # noqa: E402
from ops.sized import ROWS, SIZES  # noqa: E402
from ops.speed import Compiled, Eager, Jax, same_result  # noqa: E402

PEERS = {"eager": Eager, "c": Compiled, "j": Jax}
PARTS = ("forward", "gradient")


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


def has(peer, size, call):
    return peer == "eager" or (size == SIZES[-1] if peer == "c" else call.op.name in FORMS)


def check_peers(found):
    """Ends with an error if two peers compute different things."""
    for row, size, call in found:
        if size == SIZES[0] and has("j", size, call) and not same_result(Eager(call).result(), Jax(call).result()):
            sys.exit(f"op-speed: {row.label}: JAX's form computes something else than PyTorch's")


def of_peer(peer, found):
    """The times of one peer: of each call {part: time}, empty where it has none."""
    return [PEERS[peer](call).times() if has(peer, size, call) else {} for _, size, call in found]


def least(rounds):
    return [{part: min(one[i][part] for one in rounds) for part in rounds[0][i]} for i in range(len(rounds[0]))]


def ratios(found, ours, peers):
    """{(label, part, size): {peer: its time in units of ours}}"""
    return {(row.label, part, size): {peer: times[i][part] / ours[i][part] for peer, times in peers.items() if part in times[i]}
            for i, (row, size, _) in enumerate(found) for part in PARTS if part in ours[i]}


def summary(name, of):
    return f"| {name} | {len(of)} | {statistics.median(of):.1f} | {sum(one < 1 for one in of)} |"


def cell(of):
    if not of:
        return ""
    peer = min(of, key=of.get)
    return f"{of[peer]:.2g}" + ("" if peer == "eager" else f" {peer}")


def page(found, ours, peers):
    every = {key: of for key, of in ratios(found, ours, peers).items() if of}
    columns = [(part, size) for part in PARTS for size in SIZES]
    names = [f"{part} {size:.0e}".replace("+0", "") for part, size in columns]
    titles = {"eager": f"PyTorch {torch.__version__.split('+')[0]}, eager", "c": "PyTorch, compiled, at the largest size",
              "j": f"JAX {jax.__version__}, jit"}
    pairs = [(ours[i], peers["eager"][i]["gradient"]) for i in range(len(found)) if "gradient" in peers["eager"][i]]
    sums = sum(theirs < one["gradient of a sum"] for one, theirs in pairs)
    out = ["# Ops beside those of PyTorch and JAX, in time", "",
           f"Made by `scripts/bench_agreement speed` (`bench/peers/op_speed.py`), in f32 on {THREADS} threads: how many times as long as ours a peer's",
           "call takes, by the number of elements. Ours are replayed by `accelerate`. A gradient is the result and, for given weights of it, the",
           "gradients for all float inputs: `vjp` here, `y.backward(weights)` in PyTorch, `jax.vjp` in one `jit`.", "",
           "| peer | calls | median | faster than ours |", "| --- | ---: | ---: | ---: |"]
    out += [summary(titles[peer], [of[peer] for of in every.values() if peer in of]) for peer in peers]
    out += [summary("the fastest of them", [min(of.values()) for of in every.values()]), "",
            f"Of the {len(pairs)} gradients in eager PyTorch {sums} are faster than ours where ours make the value of the weighted sum, too.", "",
            "By the fastest peer: `c` is PyTorch compiled, `j` is JAX, and no letter is PyTorch eager.", "",
            "| op | " + " | ".join(names) + " |", "| --- |" + " ---: |" * len(names)]
    for label in dict.fromkeys(row.label for row, _, _ in found):
        out.append(f"| {label} | " + " | ".join(cell(every.get((label, *column), {})) for column in columns) + " |")
    return "\n".join(out) + "\n"


def main():
    torch.set_num_threads(THREADS)
    build = pathlib.Path(sys.argv[1])
    found, ours, peers = calls(), [], {peer: [] for peer in PEERS}
    check_peers(found)
    for _ in range(ROUNDS):
        ours.append(ask(build / "bench/op_calls", [call for _, _, call in found], THREADS))
        for peer in PEERS:
            peers[peer].append(of_peer(peer, found))
    for (row, _, _), one in zip(found, ours[0], strict=True):
        if "error" in one:
            sys.exit(f"op-speed: {row.label}: {one['error']}")
    text = page(found, least(ours), {peer: least(rounds) for peer, rounds in peers.items()})
    if len(sys.argv) > 2 and sys.argv[2] != "-":
        pathlib.Path(sys.argv[2]).write_text(text, encoding="utf-8")
    else:
        print(text)


main()
