"""The page docs/peers-ops.md."""

import torch

from ops.calls import OPS
from ops.differences import DIFFERENCES, NO_PEER
from ops.edges import EDGES


class Row:
    """What all calls of an op came to."""

    def __init__(self):
        self.calls, self.samples, self.refused = 0, 0, 0
        self.worst = {(part, type_): [0.0, 0.0] for part in "yd" for type_ in (torch.float32, torch.float64)}

    def add(self, finding):
        key = finding.part[0], finding.ours.dtype if finding.ours is not None else None
        if key in self.worst and finding.part != "translation":
            self.worst[key] = [max(old, new) for old, new in
                               zip(self.worst[key], (finding.worst if finding.text == "" else 0, finding.peer), strict=True)]

    def cells(self, part, bound):
        """Ours and PyTorch's in f32, ours in f64, what is allowed."""
        if bound.kind == "exact":
            return ["", "", "bits"]
        ours, peer = self.worst[part, torch.float32]
        return [f"{short(ours)} ({short(peer)})", short(self.worst[part, torch.float64][0]), bound.text()]


def short(units):
    return f"{units:.1f}" if units < 1000 else "> 1000"


def table(head, rows):
    lines = [head, ["---"] * len(head)] + rows
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def numbers_of(name):
    return ", ".join(str(i + 1) for i, one in enumerate(DIFFERENCES) if name in one.seen)


def op_rows(rows):
    found = []
    for name, one in sorted(OPS.items()):
        row = rows[name]
        found.append([name, one.peer_name, row.calls, row.samples or "", *row.cells("y", one.value),
                      *row.cells("d", one.gradient), numbers_of(name)])
    return found


def sample_rows(counts):
    return [[f"`{name}`", count[0], count[1], "; ".join(f"{reason} ({n})" for reason, n in count[2].most_common())]
            for name, count in sorted(counts.items())]


def page(rows, differing, counts):
    calls = sum(row.calls for row in rows.values())
    tested = sum(row.samples for row in rows.values())
    return f"""# Ops beside PyTorch's

Made by `make bench-agreement` (`bench/op_calls.cpp`, `bench/peers/op_agreement.py`) with PyTorch {torch.__version__.split('+')[0]}:
{calls:,} calls, which are drawn from a fixed seed but for {2 * len(EDGES)} (sizes 0, 1 and primes, options, NaN, infinities, signed zeros, ties), and
{tested:,} samples of PyTorch's own tests of its ops (`torch.testing`, `op_db`). Results and gradients of a weighted sum of them are
compared; every public function of `retrace/ops` takes part or is named at the end. {differing} calls differ.

## Units

The truth of an f32 call is PyTorch's in f64 for the same numbers; the columns are the largest distances from it, ours and in
brackets that of PyTorch's f32. With u = 2^-23 of f32 and 2^-52 of f64 a unit is

- bits: none; the bits are those of PyTorch in the same type, signs of zeros, too;
- ulp: a unit in the last place of the true value;
- local: element by element, u |y| + d, where d is how far PyTorch's f64 moves if each input is moved by u of it at random, the
  largest of three;
- terms: as local, plus u |x| for a value and u |dy| for a gradient, where y is the difference of such terms (1 - tanh^2);
- sum: u times what the op makes of the magnitudes of its inputs: of a sum, the sum of the |terms|;
- norm: as local, but the largest of the tensor, plus u times the terms that the result is the difference of.

The number behind the word is how many are allowed in f32, the second one in f64, where PyTorch's own error is in the distance, too. An
element that is PyTorch's of the same type is right in any case, and so is one within 2^-126 (`docs/numerics.md` 4). NaN and infinities
must stand where PyTorch has them, in f32 or in f64.

## Ops

{table(["op", "peer", "calls", "samples", "value f32", "f64", "allowed", "gradient f32", "f64", "allowed", "differences"],
       op_rows(rows))}
## Differences of definition

{table(["", "ops", "calls", "ours, and PyTorch's"], [[i + 1, ", ".join(f"`{name}`" for name in sorted(one.seen)), one.count, one.reason]
                                            for i, one in enumerate(DIFFERENCES)])}
## Samples of PyTorch's tests

Those of f32 and f64 (i32 or bool where an op has no floats) of each entry of `op_db` that has an op of ours; entries without one are
left out. PyTorch's own call of the sample must make what the peer above makes. Behind the numbers stands why samples are not
translated.

{table(["entry", "samples", "compared", "not compared"], sample_rows(counts))}
## Without a peer

{table(["function", "why"], [[f"`{name}`", reason] for name, reason in sorted(NO_PEER.items())])}"""
