"""Calls of common sizes, to be timed, and PyTorch's form of each, which does no work but the op's.

Ours have the channels last; PyTorch sees the same memory as images in its format channels_last.
"""

import dataclasses
import math
from collections.abc import Callable

import torch
import torch.nn.functional as F

SIZES = (1000, 30_000, 1_000_000)  # elements of the first input, about


@dataclasses.dataclass
class Sized:
    label: str
    op: str
    shapes: Callable  # of the number of elements: a shape for each input
    peer: Callable
    kinds: str = ""  # of each input: n normal, p positive, u 0 to 0.9, i whole 0 to 63, c classes 0 to 9, b bool; n where none is named
    options: dict = dataclasses.field(default_factory=dict)
    gradient: bool = True


ROWS = []


def add(label, shapes, peer, kinds="", op=None, gradient=True, **options):
    ROWS.append(Sized(label, op or label.split(",")[0], shapes, peer, kinds, options, gradient))


def flat(count=1):
    return lambda n: [[n]] * count


def rows(columns, count=1):
    return lambda n: [[max(1, n // columns), columns]] * count


def images(n):
    return [[max(1, n // 8192), 16, 16, 32]]


def first(x):
    """The channels first, by the same memory."""
    return x.movedim(-1, 1)


UNARY = {name: getattr(torch, name) for name in
         "abs acos asin atan cos cosh erf exp expm1 relu round sigmoid sign sin sinh square tan tanh".split()}
UNARY |= {"negate": torch.neg, "elu": F.elu, "gelu": F.gelu, "hard_sigmoid": F.hardsigmoid, "hard_swish": F.hardswish,
          "log_sigmoid": F.logsigmoid, "mish": F.mish, "selu": F.selu, "silu": F.silu, "softplus": F.softplus,
          "gelu_tanh": lambda x: F.gelu(x, approximate="tanh")}
for unary, function in UNARY.items():
    add(unary, flat(), function, "u" if unary in ("acos", "asin") else "n", gradient=unary not in ("round", "sign"),
        **{"number": 1} if unary == "elu" else {})
for unary in ("log", "log1p", "rsqrt", "sqrt"):
    add(unary, flat(), getattr(torch, unary), "p")
for binary, function in {"add": torch.add, "multiply": torch.mul, "maximum": torch.maximum, "atan2": torch.atan2,
                         "subtract": torch.sub}.items():
    add(binary, flat(2), function)
for binary, function in {"divide": torch.div, "pow": torch.pow, "remainder": torch.remainder}.items():
    add(binary, flat(2), function, "pp")
add("less", flat(2), torch.lt, gradient=False)
add("where", flat(3), torch.where, "bnn")
add("add, a row", lambda n: [[max(1, n // 64), 64], [64]], torch.add)
add("multiply, a column", lambda n: [[max(1, n // 64), 64], [max(1, n // 64), 1]], torch.mul)
add("cast, to i32", flat(), lambda x: x.to(torch.int32), gradient=False, type="i32")

REDUCTIONS = {
    "sum": torch.sum, "mean": torch.mean, "max": torch.amax, "argmax": torch.argmax, "logsumexp": torch.logsumexp,
    "norm": lambda x, axis: torch.linalg.vector_norm(x, dim=axis), "variance": lambda x, axis: torch.var(x, axis, correction=0)}
for reduction, function in REDUCTIONS.items():
    differentiable = reduction != "argmax"
    add(reduction + ", all", flat(), lambda x, f=function: f(x, 0), gradient=differentiable, axes=[0])
    for columns in (10, 86, 1000):
        add(f"{reduction}, rows of {columns}", rows(columns), lambda x, f=function: f(x, 1), gradient=differentiable, axes=[1])
    add(f"{reduction}, columns", rows(64), lambda x, f=function: f(x, 0), gradient=differentiable, axes=[0])
    add(f"{reduction}, middle", lambda n: [[max(1, n // 192), 3, 64]], lambda x, f=function: f(x, 1), gradient=differentiable, axes=[1])
for columns in (10, 86, 1000):
    of = f", rows of {columns}"
    add("softmax" + of, rows(columns), lambda x: torch.softmax(x, 1), axes=[1])
    add("cumsum" + of, rows(columns), lambda x: torch.cumsum(x, 1), axes=[1])
    add("sort" + of, rows(columns), lambda x: torch.sort(x, 1).values, axes=[1])
    add("top_k" + of, rows(columns), lambda x: torch.topk(x, 5, 1).values, axes=[1], k=5)
    add("layer_norm" + of, lambda n, c=columns: [[max(1, n // c), c], [c], [c]], lambda x, a, b: F.layer_norm(x, a.shape, a, b))
    add("rms_norm" + of, lambda n, c=columns: [[max(1, n // c), c], [c]], lambda x, a: F.rms_norm(x, a.shape, a, 1e-6))
    add("softmax_cross_entropy" + of, lambda n, c=columns: [[max(1, n // c), c], [max(1, n // c)]],
        lambda x, t: F.cross_entropy(x, t.long()), "nc")
add("softmax, middle", lambda n: [[max(1, n // 640), 10, 64]], lambda x: torch.softmax(x, 1), axes=[1])
add("cumsum, columns", rows(64), lambda x: torch.cumsum(x, 0), axes=[0])

add("transpose", lambda n: [[int(math.sqrt(n))] * 2], lambda x: x.t().contiguous(), permutation=[1, 0])
add("transpose, channels first", images, lambda x: x.permute(0, 3, 1, 2).contiguous(), permutation=[0, 3, 1, 2])
add("transpose, heads", lambda n: [[max(1, n // 8192), 64, 4, 32]], lambda x: x.permute(0, 2, 1, 3).contiguous(), permutation=[0, 2, 1, 3])
add("concatenate", rows(32, 2), lambda a, b: torch.cat([a, b], 1), axes=[1])
add("flip", rows(64), lambda x: torch.flip(x, (1,)), axes=[1])
add("roll", flat(), lambda x: torch.roll(x, 7, 0), axes=[0], shift=7)
add("pad", images, lambda x: F.pad(x, (0, 0, 1, 1)), axes=[2], before=1, after=1)
add("pad, reflect", rows(64), lambda x: F.pad(x[None], (1, 1), mode="reflect")[0], axes=[1], before=1, after=1, mode="reflect")
add("tile", flat(), lambda x: x.tile(2), counts=[2])
add("repeat_interleave", flat(), lambda x: x.repeat_interleave(2), axes=[0], count=2)
add("tril", lambda n: [[int(math.sqrt(n))] * 2], torch.tril)
add("gather_rows", lambda n: [[64, 64], [max(1, n // 64)]], lambda table, i: table[i], "ni")
add("take_along_axis", rows(64, 2), lambda x, i: torch.gather(x, 1, i.long()), "ni", axes=[1])
add("scatter_add", rows(64, 3), lambda x, i, s: x.scatter_add(1, i.long(), s), "nin", axes=[1])
add("mean_squared_error", flat(2), F.mse_loss)
add("huber", flat(2), F.huber_loss)
add("binary_cross_entropy", flat(2), F.binary_cross_entropy_with_logits, "nu")

CHANNELS = [[32], [32]]
add("batch_norm", lambda n: images(n) + CHANNELS, lambda x, a, b: F.batch_norm(first(x), None, None, a, b, True))
add("group_norm", lambda n: images(n) + CHANNELS, lambda x, a, b: F.group_norm(first(x), 4, a, b), groups=4)
add("max_pool2d", images, lambda x: F.max_pool2d(first(x), 2), size=[2, 2])
add("average_pool2d", images, lambda x: F.avg_pool2d(first(x), 2), size=[2, 2])
add("global_average_pool2d", images, lambda x: first(x).mean((2, 3)))
add("adaptive_average_pool2d", images, lambda x: F.adaptive_avg_pool2d(first(x), (7, 5)), size=[7, 5])
add("adaptive_max_pool2d", images, lambda x: F.adaptive_max_pool2d(first(x), (7, 5)), size=[7, 5])
add("resize2d, bilinear", images, lambda x: F.interpolate(first(x), scale_factor=2, mode="bilinear"), factor=2, method="bilinear")
add("conv2d, 3x3", lambda n: images(n) + [[3, 3, 32, 32]], lambda x, w: F.conv2d(first(x), w.permute(3, 2, 0, 1), padding=1), padding="same")
add("conv2d, 3x3 of each channel", lambda n: images(n) + [[3, 3, 1, 32]],
    lambda x, w: F.conv2d(first(x), w.permute(3, 2, 0, 1), padding=1, groups=32), padding="same", groups=32)
add("conv1d", lambda n: [[max(1, n // 3200), 100, 32], [5, 32, 32]],
    lambda x, w: F.conv1d(first(x), w.permute(2, 1, 0), padding=2), padding="same")
add("linear", lambda n: [[max(1, n // 64), 64], [64, 64], [64]], F.linear, flatten=True)
add("matmul", lambda n: [[int(math.sqrt(n))] * 2] * 2, torch.matmul)
add("matmul, of 32 x 32", lambda n: [[max(1, n // 1024), 32, 32]] * 2, torch.matmul)
for length in (64, 512):
    add(f"attention, {length} positions", lambda n, p=length: [[max(1, n // (128 * p)), 4, p, 32]] * 3,
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), causal=True)


def recurrence(name):
    def peer(x, w, r, *biases):
        biases = biases if len(biases) == 2 else (biases[0], torch.zeros_like(biases[0]))
        h = torch.zeros(1, x.shape[0], r.shape[1])
        return getattr(torch, name)(x, (h, h) if name == "lstm" else h, [w, r, *biases], True, 1, 0.0, True, False, True)[0]
    return peer


for cell, (name, gates, biases) in {"lstm": ("lstm", 4, 1), "gru": ("gru", 3, 2), "rnn": ("rnn_tanh", 1, 1)}.items():
    add(cell, lambda n, g=gates, b=biases: [[32, min(100, max(1, n // 2048)), 64], [g * 128, 64], [g * 128, 128]] + [[g * 128]] * b,
        recurrence(name), "nss")
