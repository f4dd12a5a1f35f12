"""Translations of the samples of ops that move elements, and of those that take indices (samples.py)."""

import torch

from ops.samples import axes_of, index, need, one_axis, translation


@translation("broadcast_to", "expand")
def broadcast(x, *shape):
    shape = shape[0] if isinstance(shape[0], (tuple, list)) else shape
    need(-1 not in shape, "sizes that stay")
    return "broadcast", [x], {"shape": list(shape)}


@translation("tile", "repeat")
def tile(x, *counts):
    counts = counts[0] if counts and isinstance(counts[0], (tuple, list)) else counts
    return "tile", [x], {"counts": list(counts)}


@translation("repeat_interleave")
def repeat_interleave(x, repeats, dim=None, **_):
    need(isinstance(repeats, int), "a count for each element")
    return "repeat_interleave", [x.reshape(-1) if dim is None else x], {"axes": [dim or 0], "count": repeats}


@translation("reshape", "view")
def reshape(x, *shape):
    return "reshape", [x], {"shape": list(shape[0] if isinstance(shape[0], (tuple, list)) else shape)}


@translation("flatten")
def flatten(x, start_dim=0, end_dim=-1):
    need((start_dim, end_dim) == (1, -1), "from another axis: reshape")
    return "flatten", [x], {}


@translation("squeeze")
def squeeze(x, dim=None):
    axes = axes_of(x, dim)
    need(dim is None or axes, "no axes, or those of a number")
    return "squeeze", [x], {"axes": axes}


@translation("unsqueeze")
def unsqueeze(x, dim):
    return "unsqueeze", [x], {"axes": [dim]}


@translation("permute")
def permute(x, dims):
    need(len(dims) > 0, "a number")
    return "transpose", [x], {"permutation": [axis % x.dim() for axis in dims]}


@translation("transpose")
def transpose(x, a, b):
    need(x.dim() > 0, "an axis of a number")
    order = list(range(x.dim()))
    order[a], order[b] = order[b], order[a]
    return "transpose", [x], {"permutation": order}


@translation("mT")
def matrix_transpose(x):
    return "transpose", [x], {"permutation": []}


@translation("flip")
def flip(x, dims):
    need(len(dims) > 0, "no axis")
    return "flip", [x], {"axes": list(dims)}


@translation("roll")
def roll(x, shifts, dims=None):
    need(isinstance(shifts, int) and isinstance(dims, int), "several axes, or none")
    return "roll", [x], {"axes": [dims], "shift": shifts}


def triangle(name):
    return lambda x, diagonal=0: (name, [x], {"diagonal": diagonal})


translation("tril")(triangle("tril"))
translation("triu")(triangle("triu"))


@translation("diagonal")
def diagonal(x, offset=0, dim1=0, dim2=1):
    return "diagonal", [x.movedim((dim1, dim2), (-2, -1)).contiguous()], {"offset": offset}


@translation("diag_embed")
def diag_embed(x, offset=0, dim1=-2, dim2=-1):
    need((dim1, dim2) == (-2, -1), "other axes")
    return "diag_embed", [x], {"offset": offset}


@translation("cat", "concat")
def concatenate(tensors, dim=0):
    return "concatenate", list(tensors), {"axes": [dim]}


@translation("stack")
def stack(tensors, dim=0):
    return "stack", list(tensors), {"axes": [dim]}


@translation("split", "split_with_sizes")
def split(x, sizes, dim=0):
    if isinstance(sizes, int):
        n = x.shape[dim]
        sizes = [min(sizes, n - i) for i in range(0, n, sizes)]
    return "split", [x], {"axes": [dim], "sizes": list(sizes)}


@translation("tensor_split")
def tensor_split(x, at, dim=0):
    at = at.tolist() if torch.is_tensor(at) else at
    n = x.shape[dim]
    if isinstance(at, int) and n % at == 0:
        return "split", [x], {"axes": [dim], "parts": at}
    if isinstance(at, int):  # the first parts are the larger ones
        at = [i * (n // at) + min(i, n % at) for i in range(1, at)]
    bounds = [0, *at, n]
    need(bounds == sorted(bounds), "indices that are not in order, or behind the end")
    return "split", [x], {"axes": [dim], "sizes": [b - a for a, b in zip(bounds, bounds[1:], strict=False)]}


@translation("unbind")
def unbind(x, dim=0):
    return "unstack", [x], {"axes": [dim]}


@translation("select")
def select(x, dim, at):
    return "select", [x], {"axes": [dim], "index": at}


@translation("slice")
def slice_(x, dim=0, start=None, end=None, step=1):
    begin, stop, steps = [0] * x.dim(), list(x.shape), [1] * x.dim()
    begin[dim], stop[dim], _ = slice(start, end).indices(x.shape[dim])
    steps[dim] = step
    return "slice", [x], {"begin": begin, "end": stop, "step": steps}


@translation("nn.functional.pad")
def pad(x, count, mode="constant", value=0.0):
    need(mode in ("constant", "reflect", "replicate"), "the mode " + mode)
    need(min(count) >= 0, "negative margins: slice")
    pairs = [(count[i], count[i + 1]) for i in range(0, len(count), 2)]
    need(len(set(pairs)) == 1, "axes with margins of their own: one pad for each")
    return "pad", [x], {"axes": [-1 - i for i in range(len(pairs))], "before": pairs[0][0], "after": pairs[0][1], "mode": mode,
                        "value": value or 0.0}


@translation("index_select")
def index_select(x, dim, at):
    return "take", [x, index(at)], one_axis(x, dim)


@translation("gather")
def gather(x, dim, at, **_):
    return "take_along_axis", [x, index(at)], one_axis(x, dim)


@translation("take_along_dim")
def take_along_dim(x, at, dim=None):
    need(dim is not None, "no axis")
    shape = list(torch.broadcast_shapes([1 if i == dim % x.dim() else n for i, n in enumerate(x.shape)],
                                        [1 if i == dim % x.dim() else n for i, n in enumerate(at.shape)]))
    need(all(i == dim % x.dim() or n == x.shape[i] == at.shape[i] for i, n in enumerate(shape)), "axes that are stretched")
    return "take_along_axis", [x, index(at)], {"axes": [dim]}


@translation("scatter_add")
def scatter_add(x, dim, at, source):
    need(list(at.shape) == list(source.shape), "a part of the source")
    return "scatter_add", [x, index(at), source], one_axis(x, dim)


@translation("nn.functional.embedding")
def embedding(table, at, **options):
    need(not options, "options: " + ", ".join(options))
    return "embedding", [index(at), table], {}


@translation("nn.functional.one_hot")
def one_hot(x, num_classes=-1):
    need(num_classes > 0, "the number of classes that are there")
    return "one_hot", [index(x)], {"classes": num_classes}, lambda y: y.float()
