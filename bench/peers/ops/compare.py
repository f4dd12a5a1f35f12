"""How far a call of ours is from PyTorch's in f64.

Units, with u = 2^-23 of f32 and 2^-52 of f64:
  exact   the bits of PyTorch in the same type
  ulp     units in the last place of the true value
  local   element by element, u |y| + d: d is how far PyTorch's f64 moves where each input moves by u of it at random
  terms   as local, but u (|y| + |t|) + d with t = x of a value, the cotangent of a gradient: y is the difference of such terms
  sum     u times what the same op makes of magnitudes: of a sum the sum of |terms|
  norm    as local, but the largest of the tensor, and u times the terms that y is the difference of (floors.py)
In gradients of pointwise ops |y| and d are sums over what was stretched.
"""

import dataclasses
import math

import numpy as np
import torch

from ops.calls import NAMES

UNIT = {torch.float32: 2.0**-23, torch.float64: 2.0**-52}
TINY = 2.0**-126  # results below it may be +0 (docs/numerics.md 4), in both types
MOVES = 3


@dataclasses.dataclass
class Finding:
    """What one tensor of a call came to."""

    call: object
    part: str  # y0, y1, ... results; d0, d1, ... gradients for inputs
    worst: float = 0.0   # in units
    peer: float = 0.0    # of PyTorch in the same type
    wrong: object = None  # the elements that differ, bool; True: all
    text: str = ""
    ours: object = None
    theirs: object = None


def weights(y, j, magnitudes):
    w = ((37 * torch.arange(y.numel(), dtype=torch.int64) + 11 * j) % 19 - 9.5) / 8
    return (w.abs() if magnitudes else w).to(y.dtype).reshape(y.shape)


def leaf(x, type_, moved, magnitudes):
    if x is None or not x.is_floating_point():
        return x
    x = x.to(type_)
    if magnitudes:
        x = x.abs()
    if moved is not None:
        x = x * (1 + moved[1] * (2 * torch.randint(0, 2, x.shape, generator=moved[0]) - 1))
    return x.clone()


def peer_makes(call, type_, moved=None, magnitudes=False):
    """Results, and gradients of their weighted sum (None: not wanted), those of pointwise ops per element."""
    inputs = [leaf(x, type_, moved, magnitudes) for x in call.inputs]
    if call.op.pointwise:
        inputs = [x.clone() for x in torch.broadcast_tensors(*inputs)]
    wanted = call.wanted()
    for x, want in zip(inputs, wanted, strict=True):
        if want:
            x.requires_grad_()
    results = call.op.peer(inputs, call.options)
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    loss = sum((y * weights(y, j, magnitudes)).sum() for j, y in enumerate(results) if y.is_floating_point())
    leaves = [x for x, want in zip(inputs, wanted, strict=True) if want]
    found = [torch.zeros_like(x) for x in leaves]
    if torch.is_tensor(loss) and loss.requires_grad and leaves:
        found = [torch.zeros_like(x) if g is None else g
                 for x, g in zip(leaves, torch.autograd.grad(loss, leaves, allow_unused=True), strict=True)]
    gradients = [found.pop(0) if want else None for want in wanted]
    return [y.detach() for y in results], gradients


def in_shape(call, gradients):
    return [g if g is None or not call.op.pointwise else g.sum_to_size(x.shape)
            for g, x in zip(gradients, call.inputs, strict=True)]


def scales(call, bound, part, truth, unit, state):
    """One unit of each element, in the type of the truth."""
    kind, index = bound.kind, int(part[1:])
    place = 0 if part[0] == "y" else 1
    if kind == "ulp":
        exponent = torch.frexp(truth.abs().clamp(min=TINY))[1]
        return torch.ldexp(torch.full_like(truth, unit), exponent - 1)
    if kind == "sum":
        if "magnitudes" not in state:
            state["magnitudes"] = peer_makes(call, torch.float64, magnitudes=True)
        return unit * in_shape_part(call, state["magnitudes"], place, index).abs()
    raw = state["truth"][place][index]
    if "moved" not in state:
        generator = torch.Generator().manual_seed(1)
        state["moved"] = [peer_makes(call, torch.float64, moved=(generator, unit)) for _ in range(MOVES)]
    moved = torch.stack([(one[place][index] - raw).abs().nan_to_num(0, 0, 0) for one in state["moved"]]).amax(0)
    scale = unit * raw.abs() + moved
    if kind == "terms" and state["truth"][0][0].is_floating_point():
        scale = scale + unit * (call.inputs[0].double() if place == 0 else weights(state["truth"][0][0], 0, True)).abs()
    if call.op.pointwise and place == 1:
        big = raw.isfinite() & (raw.abs() > torch.finfo(call.inputs[index].dtype).max)  # terms that overflow in f32
        scale = torch.where(big, torch.finfo(raw.dtype).max, scale).sum_to_size(call.inputs[index].shape)
    if kind == "norm" and scale.numel():
        floor = call.op.floor(call).get(part, 0.0) if call.op.floor else 0.0
        scale = torch.full_like(scale, scale.nan_to_num(0, 0, 0).max() + unit * floor)
    return scale


def in_shape_part(call, made, place, index):
    return (made[0] if place == 0 else in_shape(call, made[1]))[index]


def kinds(x):
    """NaN, infinities and finite numbers."""
    return torch.where(x.isnan(), 2, torch.where(x.isinf(), torch.where(x > 0, 1, -1), 0))


def compare_floats(finding, bound, ours, theirs, truth, scale, unit):
    """Fills the finding: worst, peer, wrong."""
    if bound.kind == "exact":
        same = (ours == theirs) & (ours.signbit() == theirs.signbit()) | ours.isnan() & theirs.isnan()
        finding.wrong = ~same
        return
    narrow = truth.to(ours.dtype)
    odd = (kinds(ours) != kinds(theirs)) & (kinds(ours) != kinds(narrow))
    if bound.kind == "ulp":
        odd |= (ours == 0) & (theirs == 0) & (ours.signbit() != theirs.signbit())

    def distance(x):
        off = ((x.double() - truth).abs() - TINY).clamp(min=0)
        return torch.where(x.isfinite() & truth.isfinite() & narrow.isfinite(),
                           torch.where(off == 0, 0.0, off / scale), 0.0).nan_to_num(math.inf)

    off, peer = distance(ours), distance(theirs)
    over = scale.isfinite() & (scale / unit > torch.finfo(ours.dtype).max)  # where a sum overflows depends on its order
    over |= (scale >= torch.finfo(scale.dtype).max) & (unit > UNIT[torch.float64])
    off, odd = torch.where(over, 0.0, off), odd & ~over
    finding.worst = off.max().item() if off.numel() else 0.0
    finding.peer = peer.max().item() if peer.numel() else 0.0
    finding.wrong = odd | ((ours != theirs) & (off > bound.of(ours.dtype)))


def compare_part(call, part, ours, theirs, truth, bound, state):
    finding = Finding(call, part, ours=ours, theirs=theirs)
    if ours is None or list(ours.shape) != list(theirs.shape):
        finding.wrong, finding.text = True, f"shape {ours is not None and list(ours.shape)} for {list(theirs.shape)}"
    elif not ours.dtype.is_floating_point:
        finding.wrong = torch.as_tensor(ours.long() != theirs.long())
    elif ours.dtype != theirs.dtype:
        finding.wrong, finding.text = True, f"type {NAMES[ours.dtype]} for {theirs.dtype}"
    else:
        unit = UNIT[ours.dtype]
        scale = None if bound.kind == "exact" else scales(call, bound, part, truth, unit, state)
        compare_floats(finding, bound, ours, theirs, truth, scale, unit)
    return finding


def type_of(call):
    return next((x.dtype for x in call.inputs if x is not None and x.is_floating_point()), torch.float32)


def compare(call, made):
    """The findings of a call; one with the part "call" where one side refuses it."""
    try:
        theirs = peer_makes(call, type_of(call))
    except Exception as error:  # of any kind: PyTorch's own, too
        if "error" in made:
            return [Finding(call, "both", text=made["error"])]
        return [Finding(call, "call", wrong=True, text=f"PyTorch refuses: {type(error).__name__}: {error}")]
    if "error" in made:
        return [Finding(call, "call", wrong=True, text="retrace refuses: " + made["error"])]
    state = {"truth": peer_makes(call, torch.float64)}
    truth = state["truth"][0], in_shape(call, state["truth"][1])
    theirs = theirs[0], in_shape(call, theirs[1])
    if len(made["results"]) != len(theirs[0]):
        return [Finding(call, "call", wrong=True, text=f"{len(made['results'])} results for {len(theirs[0])}")]
    found = [compare_part(call, f"y{j}", y, theirs[0][j], truth[0][j], call.op.value, state)
             for j, y in enumerate(made["results"])]
    found += [compare_part(call, f"d{i}", d, theirs[1][i], truth[1][i], call.op.gradient, state)
              for i, d in enumerate(made["gradients"]) if d is not None]
    if call.direct is not None:
        found.append(directly(call, truth[0]))
    return found


def directly(call, truth):
    """Whether our translation of a sample means what PyTorch's op does."""
    finding = Finding(call, "translation", wrong=False)
    direct = call.direct if isinstance(call.direct, (tuple, list)) else [call.direct]
    for ours, theirs in zip(truth, direct, strict=False):
        if list(ours.shape) != list(theirs.shape):
            finding.wrong, finding.text = True, f"shape {list(ours.shape)} for {list(theirs.shape)}"
        elif not np.allclose(ours.double(), theirs.double(), rtol=1e-9, atol=1e-12, equal_nan=True):
            finding.wrong, finding.text = True, "the peer here is not the op of the sample"
    return finding
