"""f64 (docs/numerics.md 10): one accumulator that takes its terms one after another; products are rounded first."""

import numpy as np

from . import host, sums

exp, log = (np.vectorize(function, otypes=[np.float64]) for function in (host.exp, host.log))


def total(terms):
    """The sum over the first axis, from +0, ascending."""
    result = np.zeros(terms.shape[1:])
    for term in terms:
        result = result + term
    return result


def sum(x, axes=()):
    flat, _, shape = sums.reduced(x, axes)
    return total(flat).reshape(shape)


def variance(x, axes=()):
    """M2 / n."""
    flat, _, shape = sums.reduced(x, axes)
    d = flat - total(flat) / len(flat)
    return (total(d * d) / len(flat)).reshape(shape)


def softmax(x):
    """Along the last axis."""
    e = exp(x - x.max(axis=-1, keepdims=True))
    y = e / sum(e, [x.ndim - 1])[..., None]
    return np.where(y < 2.0**-126, 0.0, y)


def contract(a, b, block=None):
    """y[m, n] = sum over k of a[k, m] * b[k, n]. Convolution and filter gradient take k in the order of f32."""
    return total(a[:, :, None] * b[:, None, :])


def input_gradient(window, dy, weights):
    """k over output row, column, filter: later outputs reach an image element by earlier kernel elements."""
    ky, kx, c, o = weights.shape
    reached = window.spread(dy)[::-1, ::-1].transpose(0, 1, 5, 2, 3, 4).reshape(ky * kx * o, -1)
    dx = contract(reached, weights[::-1, ::-1].transpose(0, 1, 3, 2).reshape(ky * kx * o, c))
    return dx.reshape(len(dy), *window.size, c)
