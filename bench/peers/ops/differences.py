"""Where the definitions differ, each with its reason, and ops that have no peer.

A difference excuses the elements that it names, and nothing else; one that excuses nothing any more is an error.
"""

import dataclasses
import re
from collections.abc import Callable

import torch


@dataclasses.dataclass
class Difference:
    ops: tuple
    part: str  # a pattern of the part of a finding
    where: object  # of a finding, the elements; or a pattern of the text where one side refuses a call
    reason: str
    count: int = 0
    seen: set = dataclasses.field(default_factory=set)


DIFFERENCES = []


def differ(ops, part, where, reason):
    DIFFERENCES.append(Difference(tuple(ops.split()), part, where, reason))


def each(test):
    """Elements of a pointwise op where test(inputs...) holds; where something was stretched, sums with such a term."""
    def where(finding):
        inputs = [x for x in finding.call.inputs if x is not None]
        number = finding.call.options.get("number")
        if number is not None and len(inputs) == 1:
            inputs.append(torch.tensor(number, dtype=inputs[0].dtype))
        mask = torch.as_tensor(test(*torch.broadcast_tensors(*inputs)))
        return mask.double().sum_to_size(finding.ours.shape) > 0
    return where


def outside(s):
    """Squares that f32 does not hold with all digits."""
    return (s > 1e38) | (s < 1e-34)


def any_odd(finding):
    """The whole result of a call with a NaN or an infinity."""
    odd = any(x is not None and x.is_floating_point() and not x.isfinite().all() for x in finding.call.inputs)
    return torch.full(finding.ours.shape, odd)


def zeros(finding):
    """Results that are 0 for both."""
    return (finding.ours == 0) & (finding.theirs == 0)


def excused(finding):
    """Whether all that is wrong in a finding is a stated difference; counts those that apply."""
    left = finding.wrong if finding.wrong is True else finding.wrong.clone()
    used = []
    for one in DIFFERENCES:
        if finding.call.op.name not in one.ops or not re.fullmatch(one.part, finding.part):
            continue
        if isinstance(one.where, str):
            if re.search(one.where, finding.text):
                left = torch.tensor(False)
                used.append(one)
        elif left is not True and finding.ours is not None:
            mask = one.where(finding)
            if (left & mask).any():
                left = left & ~mask
                used.append(one)
    if left is True or left.any():
        return False
    for one in used:
        one.count += 1
        one.seen.add(finding.call.op.name)
    return True


# --- Pointwise ops

differ("relu leaky_relu hard_tanh", "d0", each(lambda x, *_: x.isnan()),
       "At NaN the gradient is 0: dy where x is known to be within. PyTorch passes dy on")
differ("selu elu hard_swish", "d0", each(lambda x, *_: x.isnan()),
       "At NaN the gradient is NaN, as the formula makes it. PyTorch takes NaN for a number above 0 in one of its loops")
differ("log_sigmoid", "y0", zeros, "Above about 100 the result is -0: it comes from below. PyTorch's is +0")
differ("rsqrt", "d0", each(lambda x: x == 0), "At -0 the sign of the infinite gradient is another: -(dy y) / (2 x)")
differ("sign", "y0", each(lambda x: x.isnan() | (x == 0)), "NaN and -0 stay what they are. PyTorch makes +0 of them")
differ("softsign gelu_tanh", "d0", each(torch.isinf), "At infinity the gradient is its limit. PyTorch's formula makes NaN")
differ("maximum minimum", "d.", each(lambda a, b: (a == b) | a.isnan() | b.isnan()),
       "Of equal numbers the first is taken and has all of dy, of a NaN the number has none. PyTorch halves dy, and gives it to "
       "both at NaN")
differ("maximum minimum clamp", "y0", zeros, "-0 equals +0: of equal numbers the first is taken. PyTorch's sign depends on its loop")
differ("clamp", "d.", each(lambda x, low, high: (x == low) | (x == high) | (low >= high) | x.isnan() | low.isnan() | high.isnan()),
       "x on a limit has all of dy; so has the high limit below the low one. PyTorch shares dy")
differ("clipped_relu", "d0", each(lambda x, ceiling: (x == ceiling) | x.isnan()),
       "At the ceiling the gradient is dy, at NaN 0. PyTorch's is 0 and dy")
differ("pow", "d1", each(lambda x, y: (x <= 0) | x.isnan() | x.isinf() | y.isinf() | (torch.pow(x, y) == 0)),
       "The gradient for the exponent is 0 where x or the power is 0. PyTorch makes an infinity or NaN of 0 log 0")
differ("remainder", "d1", each(lambda x, y: (y == 0) | y.isinf() | x.isinf()),
       "Where (x - z) / y is NaN, at 0 and beside infinities, so is the gradient. PyTorch's is floor(x / y)")
differ("mish silu", "y0", lambda f: (f.ours == 0) & (f.theirs.abs() < 2.0**-118),
       "A factor below 2^-126 is 0, and so is its product with x")
differ("asin acos", "d0", each(lambda x: (x.abs() > 0.5) & (x.dtype == torch.float64)),
       "1 - x^2 is (1 - x) (1 + x), which does not cancel beside 1. PyTorch's f64 is no truth there")
differ("atan2", "d.", each(lambda y, x: outside(y.double() ** 2 + x.double() ** 2)),
       "x^2 + y^2 is not scaled: it is 0, infinite or has few digits beyond 10^19 and below 10^-17. So it is in PyTorch, by another formula")
differ("hard_sigmoid", "d0", lambda f: torch.full(f.ours.shape, f.ours.dtype == torch.float64),
       "In f64, too, PyTorch multiplies dy with 1 / 6 rounded to f32")

# --- Reductions and order

differ("prod cumprod", "d0", any_odd,
       "The gradient is a product of the other elements, also beside NaN and infinities. PyTorch divides by the element itself")
differ("logsumexp", "d0", lambda f: f.call.inputs[0] == float("-inf"),
       "Where all elements are -inf the gradient is 0. PyTorch makes NaN of a single number")
differ("moments update_statistics", "y.", any_odd,
       "A mean beside an infinity may be NaN, by the formula that merges moments. PyTorch's is a sum")
differ("transposed_conv1d transposed_conv2d transposed_conv3d", "d1", any_odd,
       "What is cut off takes part in nothing. PyTorch multiplies it with 0, which makes NaN of NaN and infinities")
differ("moments variance", "d0", any_odd, "Beside an infinity the gradients (x - mean) (2 dm2) + dmean / n are ours, PyTorch's those of its peer")
differ("sort argsort", "y.", lambda f: torch.full(f.ours.shape, bool(f.call.inputs[0].is_floating_point()
                                                                    and f.call.inputs[0].isnan().any()
                                                                    and f.call.options.get("descending", False))),
       "NaN come last in both directions, as in numpy. PyTorch takes NaN for the largest: descending it comes first")
differ("sort", "d0", lambda f: torch.full(f.ours.shape, bool(f.call.inputs[0].isnan().any()
                                                            and f.call.options.get("descending", False))),
       "NaN come last in both directions: the gradient goes where the elements stood")

# --- Layers and losses

differ("attention", "y0|d.", lambda f: f.ours.isnan(),
       "A query that sees no key makes NaN: a softmax of nothing. PyTorch makes 0 of it")
differ("batch_norm group_norm instance_norm", "call", "PyTorch refuses.*more than 1 value per channel",
       "A group of one number is taken: it is its own mean. PyTorch refuses it")
differ("kl_divergence", "d1", each(lambda y, t: t == 0),
       "The gradient for t is 0 where t is 0: the term is 0 there. PyTorch's is that of log 0")
differ("softmax_cross_entropy", "d.", lambda f: f.ours.isnan(),
       "Where no position counts the loss is 0 / 0, and so is its gradient. PyTorch's loss is NaN, too, and its gradient 0")
differ("cosine_similarity cosine_loss", "d.", lambda f: short_vectors(f),
       "A length below epsilon counts as epsilon, and then does not depend on x. PyTorch's gradient leaves this out")


def short_vectors(finding):
    axis = finding.call.options.get("axes", [-1])[0]
    a, b = torch.broadcast_tensors(*finding.call.inputs)
    short = [x.norm(dim=axis, keepdim=True) <= finding.call.options["epsilon"] for x in (a, b)]
    return (short[0] | short[1]).double().broadcast_to(a.shape).sum_to_size(finding.ours.shape) > 0


# --- What one side refuses

differ("linear", "call", "weights have 1", "Weights have two axes. PyTorch takes one row without its axis")
differ("attention", "call", "other axes than attention takes", "q, k and v have one number of axes")
differ("einsum", "call", "is there twice|is no letter", "No diagonals and no ellipsis")
differ("take_along_axis scatter_add", "call", "the index does not fit x",
       "The index has the sizes of x along the other axes. PyTorch takes smaller ones, and leaves the rest of x out")
differ("concatenate", "call", "axis 1 does not exist", "All have one number of axes. PyTorch passes over an empty tensor of one axis")
differ("squeeze", "call", "has the size", "An axis that is named has the size 1. PyTorch leaves others as they are")


differ("group_norm instance_norm batch_norm", "call", "HxW to be greater than 0|index 0 out of range",
       "No positions or no channels are taken. PyTorch refuses them")
differ("softmax_cross_entropy", "call", "there are no classes", "There is a class. PyTorch makes 0 or NaN of none")
differ("max_unpool2d", "y0", zeros, "Elements are added to +0. PyTorch copies them: -0 stays")
differ("conv2d", "call", "do not make 1 groups", "There is a channel. PyTorch makes zeros of none")
differ("max_pool2d", "call", "PyTorch refuses: RuntimeError: Expected 3D or 4D", "No channels are taken. PyTorch refuses them")
differ("global_average_pool1d global_average_pool2d", "call", "is not usable", "There is a position. PyTorch makes NaN of none")
differ("acosh", "d0", each(lambda x: x == -1), "Outside of its range: the sign of the infinity at -1")
differ("logsumexp log_softmax", "call", "there is no largest of no elements", "As max, of one element or more. PyTorch makes -inf of none")
differ("matmul", "call", "a has 1 axes", "Factors have two axes or more. PyTorch takes vectors")


# --- No peer

NO_PEER = {
    "checkpoint": "takes a function: its test",
    "custom_gradient": "takes functions: its test",
    "recomputed": "is x: its test",
    "scan": "takes a function: its test; `lstm`, `gru` and `rnn` are made of it",
    "vmap": "takes a function: its test",
    "dropout": "draws by our own generator (`docs/numerics/random.md`), no framework's numbers",
    "uniform": "as dropout",
    "normal": "as dropout",
    "integers": "as dropout",
    "categorical": "as dropout",
    "bernoulli": "as dropout",
    "permutation": "as dropout",
    "random_key": "a key is no tensor",
    "function_key": "a key is no tensor",
    "merge_moments": "PyTorch has no such function; its test compares the moments of parts with those of the whole",
}
