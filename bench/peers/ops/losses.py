"""Losses, and their peers."""

import torch
import torch.nn.functional as F

from ops.calls import Bound, op

NORM, STEPS = Bound("norm", 4, 32), Bound("norm", 16, 32)


def observations(x):
    return x.shape[0] if x.dim() > 1 else 1


def shaped(r, low=1):
    shape = r.shape(low, 3)
    while 0 in shape:
        shape = r.shape(low, 3)
    return shape


def values(r):
    shape = shaped(r)
    return [r.normal(shape, 2), r.normal(shape)], {}


def probabilities(r, shape):
    t = r.generator.uniform(0, 1, shape)
    return r.tensor(t / t.sum(-1, keepdims=True))


def of_probabilities(r):
    shape = shaped(r)
    t = probabilities(r, shape)
    if r.chance(0.3):
        t = F.one_hot(t.argmax(-1), shape[-1]).to(r.type)
    return [probabilities(r, shape), t], {}


def cross_entropy(inputs, _):
    y, t = inputs
    return -(t * y.log()).sum() / observations(y)


def kl_divergence(inputs, _):
    y, t = inputs
    return F.kl_div(y, t, reduction="sum") / observations(y)


def log_probabilities(r):
    inputs, options = of_probabilities(r)
    return [inputs[0].log(), inputs[1]], options


def yes_and_no(r):
    shape = shaped(r)
    return [r.normal(shape, 5), r.positive(shape, 0, 1)], {}


def logits(r):
    shape = shaped(r, 2)
    x, options = r.normal(shape, 3), {"with_options": r.chance(0.6)}
    by_class = r.chance(0.6)
    t = r.indices(shape[:-1], shape[-1]) if by_class else probabilities(r, shape)
    if not options["with_options"]:
        return [x, t], options
    weights = r.positive([shape[-1]]) if r.chance(0.5) else None
    mask = r.mask(shape[:-1], 0.0 if r.chance(0.2) else 0.7) if r.chance(0.3) else None
    options |= {"label_smoothing": r.pick((0.0, 0.1, 0.5))}
    if by_class and r.chance(0.4):
        options["ignore_index"] = r.whole(0, shape[-1] - 1) if r.chance(0.7) else -100
        if options["ignore_index"] == -100:
            t = torch.where(r.mask(shape[:-1]), t, -100)
    if r.chance(0.3):
        options["mean"] = r.pick(("observations", "weights", "none"))
    return [x, t, weights, mask], options


def softmax_cross_entropy(inputs, options):
    x, t = inputs[0].movedim(-1, 1), inputs[1]
    by_class = not t.is_floating_point()
    t = t.long() if by_class else t.movedim(-1, 1)
    if not options["with_options"]:
        return F.cross_entropy(x, t, reduction="sum") / observations(inputs[0])
    weights, mask, ignored = inputs[2], inputs[3], options.get("ignore_index", -1000)
    each = F.cross_entropy(x, t, weight=weights, ignore_index=ignored, label_smoothing=options["label_smoothing"],
                           reduction="none")
    counted = torch.ones(each.shape, dtype=torch.bool) if mask is None else mask
    if by_class:
        counted = counted & (t != ignored)
    total = torch.where(counted, each, 0.0).sum()
    special = mask is not None or weights is not None or "ignore_index" in options
    mean = options.get("mean", "weights" if special else "observations")
    if mean == "none":
        return total
    if mean == "observations":
        return total / observations(inputs[0])
    if weights is None or not by_class:
        return total / counted.sum()
    return total / torch.where(counted, weights[torch.where(counted, t, 0)], 0.0).sum()


def vectors(r):
    shape = shaped(r)
    options = {"axes": [r.axis(len(shape))]} if r.chance(0.6) else {}
    other = [1 if r.chance(0.4) else n for n in shape] if r.chance(0.4) else shape
    return [r.normal(shape), r.normal(other)], options | {"epsilon": r.pick((1e-8, 0.5))}


def cosine(inputs, options):
    return F.cosine_similarity(*inputs, options.get("axes", [-1])[0], options["epsilon"])


def huber(r):
    inputs, _ = values(r)
    return inputs, {"delta": r.pick((0.5, 1.0, 2.0))}


def counts(r):
    shape = shaped(r)
    return [r.normal(shape), r.positive(shape, 0, 6)], {}


def with_variance(r):
    shape = shaped(r)
    return [r.normal(shape), r.normal(shape), r.positive(shape, 0.5, 3)], {}


def triplets(r):
    shape = shaped(r, 2)
    shape[-1] = max(shape[-1], 3)  # of one number both gradients of the anchor are 1 or -1, and cancel
    return [r.normal(shape) for _ in range(3)], {"margin": r.pick((0.5, 1.0, 4.0))}


def half_squared(inputs, _):
    return F.mse_loss(*inputs, reduction="sum") / (2 * observations(inputs[0]))


FUNCTIONAL = "torch.nn.functional."
op("mean_squared_error", FUNCTIONAL + "mse_loss", lambda i, _: F.mse_loss(*i), values, NORM, STEPS)
op("half_mean_squared_error", FUNCTIONAL + "mse_loss, sum / 2 N", half_squared, values, NORM, STEPS)
op("mean_absolute_error", FUNCTIONAL + "l1_loss", lambda i, _: F.l1_loss(*i), values, NORM, STEPS)
op("huber", FUNCTIONAL + "huber_loss", lambda i, o: F.huber_loss(*i, delta=o["delta"]), huber, NORM, STEPS)
op("poisson_loss", FUNCTIONAL + "poisson_nll_loss", lambda i, _: F.poisson_nll_loss(*i), counts, NORM, STEPS)
op("gaussian_loss", FUNCTIONAL + "gaussian_nll_loss", lambda i, _: F.gaussian_nll_loss(*i), with_variance, NORM, STEPS)
op("triplet_loss", FUNCTIONAL + "triplet_margin_loss", lambda i, o: F.triplet_margin_loss(*i, margin=o["margin"]), triplets, NORM, STEPS)
op("binary_cross_entropy", FUNCTIONAL + "binary_cross_entropy_with_logits",
   lambda i, _: F.binary_cross_entropy_with_logits(*i), yes_and_no, NORM, STEPS)
op("cross_entropy", "-sum(t torch.log(y)) / N", cross_entropy, of_probabilities, NORM, STEPS)
op("kl_divergence", FUNCTIONAL + "kl_div, sum / N", kl_divergence, log_probabilities, NORM, STEPS)
op("softmax_cross_entropy", FUNCTIONAL + "cross_entropy", softmax_cross_entropy, logits, NORM, STEPS,
   constant=(2,))
op("cosine_similarity", FUNCTIONAL + "cosine_similarity", cosine, vectors, NORM, STEPS)
op("cosine_loss", FUNCTIONAL + "cosine_similarity", lambda i, o: (1 - cosine(i, o)).mean(), vectors, NORM, STEPS)
