"""Translations of the samples of pointwise ops, reductions and orders (samples.py)."""

import torch

from ops.samples import axes_of, need, one_axis, translation

SAME_NAME = ("abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "ceil", "cos", "cosh",
             "erf", "exp", "expm1", "floor", "isfinite", "isinf", "isnan", "log", "log1p", "logical_and", "logical_not",
             "logical_or", "logical_xor", "maximum", "minimum", "pow", "remainder", "rsqrt", "sigmoid", "sign", "sin", "sinh",
             "sqrt", "square", "tan", "tanh", "add")
OTHER_NAME = {"sub": "subtract", "mul": "multiply", "div": "divide", "true_divide": "divide", "eq": "equal", "ne": "not_equal",
              "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "neg": "negate", "clone": "identity",
              "round": "round", "nn.functional.relu": "relu", "nn.functional.selu": "selu", "nn.functional.silu": "silu",
              "nn.functional.mish": "mish", "nn.functional.hardsigmoid": "hard_sigmoid", "nn.functional.hardswish": "hard_swish",
              "nn.functional.logsigmoid": "log_sigmoid", "nn.functional.softsign": "softsign"}


def pointwise(name):
    def translate(x, *others, **options):
        need(not options, "options: " + ", ".join(options))
        need(all(torch.is_tensor(other) and other.dtype == x.dtype for other in others), "numbers, or types that differ")
        return name, [x, *others], {}
    return translate


for torch_name, name in [(name, name) for name in SAME_NAME] + list(OTHER_NAME.items()):
    translation(torch_name, variants=("", "no_rounding_mode"))(pointwise(name))


@translation("where")
def where(x, condition, other):
    need(condition.dtype == torch.bool and other.dtype == x.dtype, "numbers, or types that differ")
    return "where", [condition, x, other], {}


@translation("clamp")
def clamp(x, low=None, high=None, **_):
    need(all(limit is None or torch.is_tensor(limit) and limit.dtype == x.dtype for limit in (low, high)),
         "numbers, or types that differ")
    if low is None or high is None:
        return ("minimum", [x, high], {}) if low is None else ("maximum", [x, low], {})
    return "clamp", [x, low, high], {}


@translation("addcmul")
def addcmul(x, a, b, value=1):
    need(value == 1, "a factor")
    return "multiply_add", [a, b, x], {}


@translation("nn.functional.gelu")
def gelu(x, approximate="none"):
    return "gelu" if approximate == "none" else "gelu_tanh", [x], {}


@translation("nn.functional.softplus")
def softplus(x, beta=1, threshold=20):
    need(beta == 1, "beta and a threshold")
    return "softplus", [x], {}


@translation("nn.functional.leaky_relu")
def leaky_relu(x, negative_slope=0.01, **_):
    return "leaky_relu", [x], {"number": negative_slope}


@translation("nn.functional.elu")
def elu(x, alpha=1.0, **more):
    need(not {"scale", "input_scale"} & set(more), "scales")
    return "elu", [x], {"number": alpha}


@translation("nn.functional.prelu")
def prelu(x, weight):
    if weight.numel() == 1 or x.dim() < 2:
        need(weight.numel() == 1, "channels of one axis")
        return "leaky_relu", [x, weight.reshape([])], {}
    return "leaky_relu", [x.movedim(1, -1).contiguous(), weight], {}, lambda y: y.movedim(1, -1)


@translation("nn.functional.relu6")
def relu6(x, **_):
    return "clipped_relu", [x], {"number": 6.0}


@translation("nn.functional.hardtanh")
def hardtanh(x, min_val=-1.0, max_val=1.0, **_):
    need((min_val, max_val) == (-1.0, 1.0), "other limits: clamp")
    return "hard_tanh", [x], {}


def cast(type_):
    return lambda x, **_: ("cast", [x], {"type": type_})


for torch_name, type_ in {"float": "f32", "double": "f64", "int": "i32", "byte": "u8", "bool": "bool"}.items():
    translation(torch_name)(cast(type_))


# --- Reductions and order


def reduction(name):
    def translate(x, dim=None, keepdim=False, dtype=None):
        need(dtype is None, "another type")
        return name, [x], {"axes": axes_of(x, dim), "keep": keepdim}
    return translate


for torch_name, name in {"sum": "sum", "mean": "mean", "prod": "prod", "amax": "max", "amin": "min", "argmax": "argmax",
                         "argmin": "argmin", "any": "any", "all": "all", "logsumexp": "logsumexp"}.items():
    translation(torch_name)(reduction(name))


@translation("var")
def variance(x, dim=None, unbiased=None, correction=None, keepdim=False):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    need(correction == 0 or unbiased is False, "the variance of a sample")
    return "variance", [x], {"axes": axes_of(x, dim), "keep": keepdim}


def extreme(name):
    def translate(x, *others, **options):
        if others and torch.is_tensor(others[0]):
            return pointwise(name + "imum")(x, *others)
        return reduction(name)(x, *others, **options)
    return translate


translation("max")(extreme("max"))
translation("min")(extreme("min"))


@translation("linalg.vector_norm")
def vector_norm(x, ord=2, dim=None, keepdim=False, dtype=None):
    need(ord == 2 and dtype is None, "other norms")
    return "norm", [x], {"axes": axes_of(x, dim), "keep": keepdim}


def running(name):
    def translate(x, dim, dtype=None):
        need(dtype is None, "another type")
        return name, [x], one_axis(x, dim) | {"reverse": False}
    return translate


translation("cumsum")(running("cumsum"))
translation("cumprod")(running("cumprod"))


def ordered(name):
    def translate(x, dim=-1, descending=False, stable=None):
        return name, [x], one_axis(x, dim) | {"descending": descending}
    return translate


translation("sort")(ordered("sort"))
translation("argsort")(ordered("argsort"))


@translation("topk")
def topk(x, k, dim=-1, largest=True, sorted=True):
    need(largest, "the smallest")
    return "top_k", [x], one_axis(x, dim) | {"k": k}
