"""Reductions, order, movement and indices, and their peers."""

import math

import torch
import torch.nn.functional as F

from ops.calls import ANY, EXACT, FLOATS, NUMBERS, Bound, op

SUM, GRADIENT = Bound("sum", 4), Bound("sum", 4)


def axes_of(x, options):
    axes = [axis % x.dim() for axis in options.get("axes", [])]
    return axes or list(range(x.dim()))


def reduced(x, options):
    """The reduced axes as one, the last; and the shape of the result."""
    axes = axes_of(x, options)
    kept = [i for i in range(x.dim()) if i not in axes]
    shape = [1 if i in axes else n for i, n in enumerate(x.shape)] if options.get("keep") else [x.shape[i] for i in kept]
    count = math.prod(x.shape[i] for i in axes)
    return x.permute(kept + axes).reshape([x.shape[i] for i in kept] + [count]), shape


def over_last(f):
    """A peer that reduces one axis."""
    def peer(inputs, options):
        x, shape = reduced(inputs[0], options)
        return f(x).reshape(shape)
    return peer


def integers_32(f):
    """Sums of integers are i32."""
    return lambda x: f(x) if x.is_floating_point() else f(x.to(torch.int64)).to(torch.int32)


def reduction(r):
    x = r.seldom_special(r.normal(r.shape(0, 4)))
    return [x], {"axes": r.axes(x.dim()), "keep": r.chance(0.4)}


def filled(draw):
    """No reduction of nothing."""
    def drawn(r):
        inputs, options = draw(r)
        while not inputs[0].numel():
            inputs, options = draw(r)
        return inputs, options
    return drawn


def factors(r):
    inputs, options = reduction(r)
    if r.type.is_floating_point and r.variant != 4:
        inputs[0] = r.seldom_special(1 + inputs[0] / 8)
    return inputs, options


def moments(inputs, options):
    x, shape = reduced(inputs[0], options)
    mean = x.mean(-1)
    return mean.reshape(shape), (x - mean.unsqueeze(-1)).square().sum(-1).reshape(shape)


def first_maximum(inputs, options):
    x, _ = reduced(inputs[0].long() if inputs[0].dtype == torch.bool else inputs[0], options)
    chosen = torch.zeros(x.shape, dtype=torch.bool).scatter_(-1, x.max(-1, keepdim=True).indices, True)
    axes = axes_of(inputs[0], options)
    order = [i for i in range(inputs[0].dim()) if i not in axes] + axes
    return chosen.reshape([inputs[0].shape[i] for i in order]).permute([order.index(i) for i in range(len(order))])


def shifted(r):
    """The mean is no small difference."""
    inputs, options = reduction(r)
    return [inputs[0] + 2], options


def norm(x):
    return torch.linalg.vector_norm(x, 2, -1)


REDUCTIONS = {
    "sum": ("torch.sum", integers_32(lambda x: x.sum(-1)), reduction, SUM, GRADIENT, ANY),
    "mean": ("torch.mean", lambda x: x.mean(-1), reduction, SUM, GRADIENT, FLOATS),
    "prod": ("torch.prod", integers_32(lambda x: x.prod(-1)), factors, Bound("sum", 16), Bound("sum", 16), NUMBERS),
    "max": ("torch.max of an axis", lambda x: x.max(-1).values, filled(reduction), EXACT, GRADIENT, ANY),
    "min": ("torch.min of an axis", lambda x: x.min(-1).values, filled(reduction), EXACT, GRADIENT, ANY),
    "argmax": ("torch.max of an axis", lambda x: x.max(-1).indices, filled(reduction), EXACT, EXACT, ANY),
    "argmin": ("torch.min of an axis", lambda x: x.min(-1).indices, filled(reduction), EXACT, EXACT, ANY),
    "any": ("torch.any", lambda x: x.bool().any(-1), reduction, EXACT, EXACT, ANY),
    "all": ("torch.all", lambda x: x.bool().all(-1), reduction, EXACT, EXACT, ANY),
    "logsumexp": ("torch.logsumexp", lambda x: x.logsumexp(-1), filled(reduction), Bound("norm", 8), Bound("norm", 32), FLOATS),
    "norm": ("torch.linalg.vector_norm", norm, reduction, SUM, Bound("norm", 16), FLOATS),
    "variance": ("torch.var, correction 0", lambda x: x.var(-1, correction=0), reduction, Bound("norm", 8), Bound("norm", 16),
                 FLOATS),
}
for name, (peer_name, f, draw, value, gradient, types) in REDUCTIONS.items():
    op(name, peer_name, over_last(f), draw, value, gradient, types=types)
op("first_maximum", "torch.max of an axis", first_maximum, filled(reduction), EXACT, EXACT, types=ANY)
op("moments", "torch.mean, torch.var by the count", moments, shifted, Bound("norm", 16), Bound("norm", 16))


def along(r):
    x = r.seldom_special(r.normal(r.shape(1, 4)))
    return [x], {"axes": [r.axis(x.dim())]}


def running(f):
    def peer(inputs, options):
        x, axis = inputs[0], options["axes"][0]
        x = x if x.is_floating_point() else x.long()
        y = f(x.flip(axis), axis).flip(axis) if options["reverse"] else f(x, axis)
        return y if y.is_floating_point() else y.to(torch.int32)
    return peer


def cumulative(r):
    inputs, options = along(r)
    return inputs, options | {"reverse": r.chance(0.5)}


op("cumsum", "torch.cumsum", running(torch.cumsum), cumulative, Bound("sum", 8), Bound("sum", 8), types=ANY)
op("cumprod", "torch.cumprod", running(torch.cumprod), cumulative, Bound("sum", 8), Bound("sum", 8), types=NUMBERS)


# --- Order


def sort(inputs, options):
    x = inputs[0]
    return torch.sort(x, dim=options.get("axes", [-1])[0], descending=options["descending"], stable=True)


def top_k(inputs, options):
    """torch.topk says nothing of equal elements: the first of a stable order."""
    axis = options.get("axes", [-1])[0]
    found = torch.sort(inputs[0], dim=axis, descending=True, stable=True)
    return [part.narrow(axis, 0, options["k"]) for part in found]


def order(r):
    inputs, options = along(r)
    return inputs, (options if r.chance(0.7) else {}) | {"descending": r.chance(0.5)}


def largest(r):
    inputs, options = along(r)
    return inputs, options | {"k": r.whole(0, inputs[0].shape[options["axes"][0]])}


op("sort", "torch.sort, stable", lambda i, o: tuple(sort(i, o)), order, EXACT, EXACT, types=ANY)
op("argsort", "torch.argsort, stable", lambda i, o: sort(i, o).indices, order, EXACT, EXACT, types=ANY)
op("top_k", "torch.sort, stable, descending", top_k, largest, EXACT, EXACT, types=ANY)


def quantile(inputs, options):
    """torch.quantile, whose sort is not stable: of equal elements any may have the gradient."""
    x, shape = reduced(inputs[0], options)
    line = torch.sort(x, dim=-1, stable=True).values
    position = options.get("q", 0.5) * (x.shape[-1] - 1)
    low, last = math.floor(position), line[..., -1]
    y = torch.lerp(line[..., low], line[..., math.ceil(position)], position - low) if position > low else line[..., low]
    return torch.where(last.isnan(), last, y).reshape(shape)


def line(r):
    inputs, options = filled(along)(r)
    return inputs, (options if r.chance(0.8) else {}) | {"keep": r.chance(0.4)}


def part_of_line(r):
    inputs, options = line(r)
    return inputs, options | {"q": r.pick((0.0, 0.1, 0.25, 0.5, 0.875, 1.0))}


op("quantile", "torch.sort, stable, and torch.lerp", quantile, part_of_line, Bound("norm", 4), Bound("norm", 4))
op("median", "the same, q = 0.5", quantile, line, Bound("norm", 4), Bound("norm", 4))


# --- Shapes


def stretched(r):
    full = r.shape(0, 4)
    shape = [1 if r.chance(0.4) else n for n in full]
    return [r.normal(shape[r.whole(0, len(shape)):] if r.chance(0.4) else shape)], {"shape": full}


def tiled(r):
    x = r.normal(r.shape(0, 3, 300))
    return [x], {"counts": [r.pick((0, 1, 2, 3)) if r.chance(0.1) else r.whole(1, 3) for _ in range(r.whole(0, 4))]}


def reshaped(r):
    shape = r.shape(1, 4)
    target = list(shape)
    for _ in range(r.whole(0, 3)):
        if len(target) > 1 and r.chance(0.5):
            i = r.whole(0, len(target) - 2)
            target[i:i + 2] = [target[i] * target[i + 1]]
        else:
            target.insert(r.whole(0, len(target)), 1)
    target = target[:6] if len(target) <= 6 else [math.prod(shape)]
    if r.chance(0.4) and 0 not in target:
        target[r.whole(0, len(target) - 1)] = -1
    return [r.normal(shape)], {"shape": target}


def ones(r):
    shape = [1 if r.chance(0.5) else n for n in r.shape(0, 4)]
    axes = [i for i, n in enumerate(shape) if n == 1 and r.chance(0.6)]
    return [r.normal(shape)], {"axes": axes}


def new_axes(r):
    x = r.normal(r.shape(0, 3))
    return [x], {"axes": sorted({r.whole(0, x.dim()) for _ in range(r.whole(1, 2))})}


def unsqueeze(inputs, options):
    x = inputs[0]
    for axis in options["axes"]:
        x = x.unsqueeze(axis)
    return x


def permuted(r):
    x = r.normal(r.shape(2, 5))
    return [x], {"permutation": [int(i) for i in r.generator.permutation(x.dim())] if r.chance(0.8) else []}


def with_number(name, low, high, rank=1):
    def draw(r):
        x = r.normal(r.shape(rank, 4))
        return [x], {"axes": [r.axis(x.dim())], name: r.whole(low, high)}
    return draw


def flat_order(r):
    x = r.normal(r.shape(0, 4))
    return [x], {"axes": r.axes(x.dim())}


def matrices(name, rank=2):
    def draw(r):
        return [r.seldom_special(r.normal(r.shape(rank, 4)))], {name: r.whole(-4, 4)}
    return draw


def flatten(inputs, _):
    x = inputs[0]
    return x.reshape(x.shape[0], math.prod(x.shape[1:])) if x.dim() > 1 else x


def transpose(inputs, options):
    return inputs[0].permute(options["permutation"]) if options["permutation"] else inputs[0].transpose(-1, -2)


MOVED = {
    "broadcast": ("torch.broadcast_to", lambda i, o: torch.broadcast_to(i[0], o["shape"]), stretched),
    "tile": ("torch.tile", lambda i, o: torch.tile(i[0], o["counts"]), tiled),
    "repeat_interleave": ("torch.repeat_interleave", lambda i, o: i[0].repeat_interleave(o["count"], o["axes"][0]),
                          with_number("count", 0, 3)),
    "reshape": ("torch.reshape", lambda i, o: i[0].reshape(o["shape"]), reshaped),
    "flatten": ("torch.reshape", flatten, lambda r: ([r.normal(r.shape(1, 4))], {})),
    "squeeze": ("torch.squeeze", lambda i, o: i[0].squeeze(tuple(o["axes"])) if o["axes"] else i[0].squeeze(), ones),
    "unsqueeze": ("torch.unsqueeze", unsqueeze, new_axes),
    "transpose": ("torch.permute", transpose, permuted),
    "flip": ("torch.flip", lambda i, o: i[0].flip(axes_of(i[0], o)), flat_order),
    "roll": ("torch.roll", lambda i, o: i[0].roll(o["shift"], o["axes"][0]), with_number("shift", -9, 9)),
    "tril": ("torch.tril", lambda i, o: i[0].tril(o["diagonal"]), matrices("diagonal")),
    "triu": ("torch.triu", lambda i, o: i[0].triu(o["diagonal"]), matrices("diagonal")),
    "diagonal": ("torch.diagonal", lambda i, o: i[0].diagonal(o["offset"], -2, -1), matrices("offset")),
    "diag_embed": ("torch.diag_embed", lambda i, o: i[0].diag_embed(o["offset"]),
                   lambda r: ([r.normal(r.shape(1, 3, 300))], {"offset": r.whole(-4, 4)})),
}
for name, (peer_name, f, draw) in MOVED.items():
    op(name, peer_name, f, draw, EXACT, GRADIENT, types=ANY)
