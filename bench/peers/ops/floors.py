"""What results are the difference of, where that is more than the result: terms of the unit "norm" (compare.py)."""

import torch

from ops import layers, losses, norms  # noqa: F401 - they fill OPS
from ops.calls import OPS


def largest(x, other=0.0):
    return x.double().abs().nan_to_num(0, 0, 0).max().item() if x is not None and x.numel() else other


def groups(call):
    """The input of a norm, what is normalised together as the last axis."""
    x, name = call.inputs[0].double(), call.op.name
    if name in ("layer_norm", "rms_norm"):
        return x
    if name == "batch_norm":
        return x.reshape(-1, x.shape[-1]).T
    count = call.options.get("groups", x.shape[-1])
    return x.movedim(-1, 1).reshape(x.shape[0], count, -1)


def of_norm(call):
    """Of (x - mean) inv scale, its gradient inv (g - ...) and the sum of dy (x - mean) inv."""
    if not call.inputs[0].numel():
        return {}
    x = groups(call)
    spread = x.square().mean(-1) if call.op.name == "rms_norm" else x.var(-1, correction=0)
    least = spread.nan_to_num(0, 0, 0).min().item() if spread.numel() else 0.0
    inverse = (least + call.options["epsilon"]) ** -0.5
    scaled = inverse * largest(call.inputs[1])
    rows = call.inputs[0].numel() / max(call.inputs[0].shape[-1], 1)
    return {"y0": scaled * largest(x), "d0": 1.2 * scaled * (1 + 2 * inverse * largest(x)),
            "d1": 1.2 * inverse * largest(x) * rows ** 0.5}


def of_cosine(call):
    if not all(x.numel() for x in call.inputs):
        return {}
    axis = call.options.get("axes", [-1])[0]
    lengths = [1.2 / max(x.double().norm(dim=axis).min().item(), call.options["epsilon"]) for x in torch.broadcast_tensors(*call.inputs)]
    return {"y0": 1.0, "d0": lengths[0], "d1": lengths[1]}


def of_divergence(call):
    y, t = (x.double() for x in call.inputs)
    return {"y0": (torch.xlogy(t, t).abs() + (t * y).abs()).sum().item()}


def of_attention(call):
    """Of p (dp - sum(dp p)), times q and k."""
    q, k, v = (largest(x) for x in call.inputs[:3])
    return {"d0": k * v, "d1": q * v}


def of_inference(call):
    """Of sums over all positions, of (x - mean) inv scale."""
    x, scale, _, mean, variance = (one.double() for one in call.inputs)
    inverse = (variance.min().item() + call.options["epsilon"]) ** -0.5
    sums = 1.2 * (x.numel() / scale.numel()) ** 0.5 * inverse
    return {"d1": sums * (largest(x) + largest(mean)), "d3": sums * largest(scale),
            "d4": sums * (largest(x) + largest(mean)) * largest(scale) * inverse ** 2}


def of_softmax(_):
    """Of y (dy - sum(dy y))."""
    return {"d0": 1.2}


def of_one(call):
    """Of numbers within -1 and 1."""
    return {"y0": 1.0, "y1": 1.0, "y2": 1.0}


for name in ("layer_norm", "rms_norm", "batch_norm", "group_norm", "instance_norm"):
    OPS[name].floor = of_norm
for name in ("cosine_similarity", "cosine_loss"):
    OPS[name].floor = of_cosine
for name in ("lstm", "gru", "rnn"):
    OPS[name].floor = of_one
OPS["attention"].floor = of_attention
OPS["batch_norm_inference"].floor = of_inference
OPS["softmax"].floor = of_softmax
OPS["kl_divergence"].floor = of_divergence
