"""Pointwise ops and their peers."""

import torch
import torch.nn.functional as F

from ops.calls import ANY, EXACT, FLOATS, NUMBERS, Bound, op

INTEGERS = (torch.int32, torch.uint8, torch.bool)
LOCAL = Bound("local", 4)


TERMS = Bound("terms", 4)


def ulp(units, units_f64=3):
    """As docs/numerics/elementary.md states; in f64 one more, of PyTorch's own."""
    return Bound("ulp", units, units_f64)


def unary(low=-8.0, high=8.0):
    return lambda r: ([r.values(r.shape(), low, high)], {})


# name: PyTorch's function, how far a value may be off, the range that is drawn, types
UNARY = {
    "abs": (torch.abs, EXACT, unary(), FLOATS + (torch.int32,)),
    "acos": (torch.acos, ulp(1.5, 5), unary(-1, 1), FLOATS),
    "acosh": (torch.acosh, ulp(4, 5), unary(1, 1000), FLOATS),
    "asin": (torch.asin, ulp(1.5, 5), unary(-1, 1), FLOATS),
    "asinh": (torch.asinh, ulp(4, 5), unary(-1000, 1000), FLOATS),
    "atan": (torch.atan, ulp(1.5, 5), unary(), FLOATS),
    "atanh": (torch.atanh, ulp(4, 5), unary(-1, 1), FLOATS),
    "bitwise_not": (torch.bitwise_not, EXACT, unary(), INTEGERS),
    "ceil": (torch.ceil, EXACT, unary(), FLOATS),
    "cos": (torch.cos, ulp(2), unary(-100, 100), FLOATS),
    "cosh": (torch.cosh, ulp(1, 5), unary(-90, 90), FLOATS),
    "erf": (torch.erf, ulp(1, 9), unary(), FLOATS),
    "exp": (torch.exp, ulp(1), unary(-110, 90), FLOATS),
    "expm1": (torch.expm1, ulp(1), unary(-20, 90), FLOATS),
    "floor": (torch.floor, EXACT, unary(), FLOATS),
    "gelu": (F.gelu, TERMS, unary(), FLOATS),
    "hard_sigmoid": (F.hardsigmoid, LOCAL, unary(), FLOATS),
    "hard_swish": (F.hardswish, LOCAL, unary(), FLOATS),
    "hard_tanh": (F.hardtanh, EXACT, unary(-2, 2), FLOATS),
    "isfinite": (torch.isfinite, EXACT, unary(), FLOATS),
    "isinf": (torch.isinf, EXACT, unary(), FLOATS),
    "isnan": (torch.isnan, EXACT, unary(), FLOATS),
    "log": (torch.log, ulp(1), unary(0, 10), FLOATS),
    "log1p": (torch.log1p, ulp(1, 5), unary(-1, 3), FLOATS),
    "log_sigmoid": (F.logsigmoid, ulp(1, 5), unary(-100, 100), FLOATS),
    "logical_not": (torch.logical_not, EXACT, unary(), ANY),
    "mish": (F.mish, LOCAL, unary(), FLOATS),
    "negate": (torch.neg, EXACT, unary(), FLOATS + (torch.int32,)),
    "relu": (F.relu, EXACT, unary(), FLOATS),
    "round": (torch.round, EXACT, unary(), FLOATS),
    "rsqrt": (torch.rsqrt, ulp(1.5), unary(0, 10), FLOATS),
    "selu": (F.selu, LOCAL, unary(), FLOATS),
    "sigmoid": (torch.sigmoid, ulp(1, 5), unary(-100, 100), FLOATS),
    "sign": (torch.sign, EXACT, unary(), FLOATS + (torch.int32,)),
    "silu": (F.silu, LOCAL, unary(), FLOATS),
    "sin": (torch.sin, ulp(2), unary(-100, 100), FLOATS),
    "sinh": (torch.sinh, ulp(2.2, 5), unary(-90, 90), FLOATS),
    "softplus": (F.softplus, ulp(1, 5), unary(-100, 100), FLOATS),
    "softsign": (F.softsign, LOCAL, unary(), FLOATS),
    "sqrt": (torch.sqrt, ulp(0.5, 1), unary(0, 10), FLOATS),
    "square": (torch.square, EXACT, unary(), FLOATS + (torch.int32,)),
    "tan": (torch.tan, ulp(2.5, 5), unary(-10, 10), FLOATS),
    "tanh": (torch.tanh, ulp(1, 5), unary(), FLOATS),
}
PEER_NAMES = {f.__name__: "torch.nn.functional." + f.__name__ for f in
              (F.gelu, F.hardsigmoid, F.hardswish, F.hardtanh, F.mish, F.relu, F.selu, F.silu, F.softsign)}


def softplus(x):
    """PyTorch's softplus is x from 20 on."""
    return torch.logaddexp(x, torch.zeros_like(x))


def unary_peer(f):
    return lambda inputs, _: f(inputs[0])


for name, (f, bound, draw, types) in UNARY.items():
    peer_name = PEER_NAMES.get(f.__name__, "torch." + f.__name__)
    if name == "softplus":
        f, peer_name = softplus, "torch.logaddexp(x, 0)"
    near_ends = 256 if name in ("acosh", "atanh") else 8  # PyTorch's 1 - x^2 cancels there
    op(name, peer_name, unary_peer(f), draw, bound, Bound("terms", 4, near_ends), pointwise=True, types=types)
op("gelu_tanh", "torch.nn.functional.gelu, tanh", lambda i, _: F.gelu(i[0], approximate="tanh"), unary(), TERMS,
   Bound("terms", 64), pointwise=True)
op("identity", "torch.clone", lambda i, _: i[0].clone(), unary(), EXACT, EXACT, types=ANY)
op("stop_gradient", "torch.Tensor.detach", lambda i, _: i[0].detach(), unary(), EXACT, EXACT, types=ANY)


def pair(low=-8.0, high=8.0, number=False):
    """Two tensors that broadcast, or one and a number."""
    def draw(r):
        shapes = r.broadcast_shapes(2)
        first = r.values(shapes[0], low, high)
        if number and r.type.is_floating_point and r.chance(0.3):
            return [first], {"number": r.pick((0.25, 1.5, 2, 3, -1, 0.0))}
        second = r.values(shapes[1], low, high)
        if r.chance(0.2) and shapes[0] == shapes[1]:
            second = first.clone()  # ties
        return [first, second], {}
    return draw


def second(inputs, options):
    if len(inputs) > 1:
        return inputs[1]
    return torch.full((), options["number"], dtype=inputs[0].dtype)


def binary_peer(f):
    return lambda inputs, options: f(inputs[0], second(inputs, options))


def divide(a, b):
    return torch.div(a, b) if a.is_floating_point() else torch.div(a, b, rounding_mode="trunc")


def divisors(draw):
    """Integers of the second are not 0."""
    def drawn(r):
        inputs, options = draw(r)
        if len(inputs) > 1 and not r.type.is_floating_point:
            inputs[1] = torch.where(inputs[1] == 0, torch.ones_like(inputs[1]), inputs[1])
        return inputs, options
    return drawn


BINARY = {
    "add": (torch.add, EXACT, pair(), NUMBERS),
    "subtract": (torch.sub, EXACT, pair(), NUMBERS),
    "multiply": (torch.mul, EXACT, pair(), NUMBERS),
    "divide": (divide, EXACT, divisors(pair()), NUMBERS),
    "equal": (torch.eq, EXACT, pair(), ANY),
    "not_equal": (torch.ne, EXACT, pair(), ANY),
    "less": (torch.lt, EXACT, pair(), ANY),
    "less_equal": (torch.le, EXACT, pair(), ANY),
    "greater": (torch.gt, EXACT, pair(), ANY),
    "greater_equal": (torch.ge, EXACT, pair(), ANY),
    "logical_and": (torch.logical_and, EXACT, pair(), ANY),
    "logical_or": (torch.logical_or, EXACT, pair(), ANY),
    "logical_xor": (torch.logical_xor, EXACT, pair(), ANY),
    "bitwise_and": (torch.bitwise_and, EXACT, pair(), INTEGERS),
    "bitwise_or": (torch.bitwise_or, EXACT, pair(), INTEGERS),
    "bitwise_xor": (torch.bitwise_xor, EXACT, pair(), INTEGERS),
    "atan2": (torch.atan2, ulp(1.5, 5), pair(number=True), FLOATS),
    "maximum": (torch.maximum, EXACT, pair(number=True), ANY),
    "minimum": (torch.minimum, EXACT, pair(number=True), ANY),
    "pow": (torch.pow, ulp(2), pair(-4, 6, number=True), FLOATS),
    "remainder": (torch.remainder, LOCAL, divisors(pair(number=True)), NUMBERS),
}
for name, (f, bound, draw, types) in BINARY.items():
    op(name, "torch." + ("div" if f is divide else f.__name__), binary_peer(f), draw, bound, pointwise=True, types=types)


def slopes(r):
    """A tensor, and a number, nothing, or one slope for each channel."""
    x = r.values(r.shape(1, 4))
    if r.chance(0.5):
        return [x], {"number": r.pick((0.01, 0.2, 1.0, 1.5))}
    return [x, r.positive([x.shape[-1]])], {}


def clipped(r):
    return [r.values(r.shape(0, 4))], {"number": r.pick((0.5, 1.0, 6.0, 20.0))}


op("elu", "torch.nn.functional.elu", lambda i, o: F.elu(i[0]) * 1 if len(i) < 2 and o["number"] == 1 else torch.where(
    i[0] > 0, i[0], second(i, o) * torch.expm1(torch.where(i[0] > 0, 0, i[0]))), slopes, LOCAL, Bound("terms", 4, 8),
   pointwise=True)
op("leaky_relu", "torch.nn.functional.leaky_relu, prelu",
   lambda i, o: F.leaky_relu(i[0], o["number"]) if len(i) < 2 else torch.where(i[0] > 0, i[0], i[1] * torch.where(i[0] > 0, 0, i[0])), slopes, LOCAL,
   pointwise=True)
op("clipped_relu", "torch.nn.functional.hardtanh", lambda i, o: F.hardtanh(i[0], 0.0, o["number"]), clipped, EXACT,
   pointwise=True)


def three(r):
    return [r.values(shape) for shape in r.broadcast_shapes(3)], {}


def limits(r):
    shapes = r.broadcast_shapes(3)
    x, low, high = r.values(shapes[0]), r.normal(shapes[1]), r.normal(shapes[2])
    if r.chance(0.3):  # ties
        low = r.pick((x, high)).clone()
    return [x, low, high], {}


def choice(r):
    shapes = r.broadcast_shapes(3)
    return [r.mask(shapes[0], 0.5), r.values(shapes[1]), r.values(shapes[2])], {}


def casts(r):
    to = r.pick(("f32", "f64", "i32", "u8", "bool"))
    x = r.values(r.shape(), -3e9 if to == "i32" else -300, 3e9 if to == "i32" else 300)
    return [x], {"type": to}


def cast(inputs, options):
    """Of floats to integers PyTorch's is undefined beyond the range: here they saturate first."""
    x, to = inputs[0], {"f32": torch.float32, "f64": torch.float64, "i32": torch.int32, "u8": torch.uint8,
                        "bool": torch.bool}[options["type"]]
    if x.is_floating_point() and to in (torch.int32, torch.uint8):
        limits_ = torch.iinfo(to)
        return x.double().nan_to_num(0).clamp(limits_.min, limits_.max).to(to)
    return x.to(to)


op("multiply_add", "torch.addcmul, rounded once", lambda i, _: torch.addcmul(i[2], i[0], i[1]), three, LOCAL,
   pointwise=True)
op("clamp", "torch.clamp", lambda i, _: torch.clamp(i[0], i[1], i[2]), limits, EXACT, pointwise=True, types=NUMBERS)
op("where", "torch.where", lambda i, _: torch.where(i[0], i[1], i[2]), choice, EXACT, pointwise=True, types=ANY)
op("cast", "torch.Tensor.to", cast, casts, EXACT, EXACT, types=ANY)
