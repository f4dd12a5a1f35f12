"""The ops of the golden networks with their gradients (docs/numerics.md 2, 3 and 8; docs/numerics/gradients.md).

An op takes and returns values of the tape. Images are [sample, row, column, channel].
"""

import numpy as np

from . import elementary, sums
from .rounding import SMALLEST, f32
from .tape import Value

ZERO, ONE, TWO = f32(0), f32(1), f32(2)


def sum_to(gradient, shape):
    """The gradient of a broadcast: the sum over the axes along which a tensor of that shape was stretched."""
    if gradient.shape == shape:
        return gradient
    extra = gradient.ndim - len(shape)
    axes = [i for i, size in enumerate(gradient.shape) if i < extra or (shape[i - extra] == 1 and size != 1)]
    return (sums.sum(gradient, axes) if axes else gradient).reshape(shape)


def add(a, b):
    rule = lambda dy, needed: [sum_to(dy, a.shape), sum_to(dy, b.shape)]
    return Value(a.data + b.data, (a, b), rule)


def scaled(x, number):
    """number * x, of one rounding."""
    return Value(f32(number) * x.data, (x,), lambda dy, needed: [dy * f32(number)])


def reshape(x, shape):
    return Value(x.data.reshape(shape), (x,), lambda dy, needed: [dy.reshape(x.shape)])


# Activations

def relu(x):
    y = np.where(ZERO > x.data, ZERO, x.data)
    return Value(y, (x,), lambda dy, needed: [np.where(y > 0, dy, ZERO)])


def clipped_relu(x, ceiling):
    ceiling = f32(ceiling)
    inside = (x.data > 0) & (x.data <= ceiling)
    y = np.where(ZERO > x.data, ZERO, x.data)  # the first of equals: max(x, 0) keeps -0 and NaN, and so does min
    y = np.where((ceiling < y) | (ceiling != ceiling), ceiling, y)
    return Value(y, (x,), lambda dy, needed: [np.where(inside, dy, ZERO)])


def softmax(x):
    """Along the last axis of [rows, classes]."""
    e = elementary.exp(x.data - x.data.max(axis=1, keepdims=True))
    y = e / sums.row_sum(e.T)[:, None]
    y = np.where(y < SMALLEST, ZERO, y)
    return Value(y, (x,), lambda dy, needed: [y * (dy - sums.row_sum((dy * y).T)[:, None])])


# Contractions

def linear(x, weights, bias):
    """y[n, o] = sum over i of x[n, i] * weights[o, i], then + bias."""
    rows = reshape(x, (x.shape[0], -1))

    def rule(dy, needed):
        return [sums.contract(dy.T, weights.data) if needed[0] else None,
                sums.contract(dy, rows.data) if needed[1] else None]

    return add(Value(sums.contract(rows.data.T, weights.data.T), (rows, weights), rule), bias)


class Window:
    """A window of kernel[0] x kernel[1] over an image of size[0] x size[1] with one stride, and zeros around."""

    def __init__(self, size, kernel, stride=1, same=True):
        self.size, self.kernel, self.stride = size, kernel, stride
        outputs = [-(-n // stride) for n in size]
        missing = [max((o - 1) * stride + k - n, 0) if same else 0 for o, k, n in zip(outputs, kernel, size)]
        self.before = [m // 2 for m in missing]  # what does not divide by two goes to the bottom and to the right
        self.outputs = [(n + m - k) // stride + 1 for n, m, k in zip(size, missing, kernel)]
        self.canvas = [max((o - 1) * stride + k, b + n)
                       for o, k, b, n in zip(self.outputs, kernel, self.before, size)]

    def places(self, ky, kx):
        """Of the canvas (the image with its zeros), where window element (ky, kx) lies for each output."""
        return tuple(slice(k, k + (o - 1) * self.stride + 1, self.stride) for k, o in zip((ky, kx), self.outputs))

    def inside(self):
        """Of the canvas, the image."""
        return tuple(slice(b, b + n) for b, n in zip(self.before, self.size))

    def elements(self):
        return [(ky, kx) for ky in range(self.kernel[0]) for kx in range(self.kernel[1])]

    def patches(self, x):
        """[ky, kx, n, oy, ox, c]: what each window element sees; 0 outside of the image."""
        n, c = x.shape[0], x.shape[3]
        canvas = np.zeros((n, *self.canvas, c), x.dtype)
        canvas[(slice(None), *self.inside())] = x
        seen = [canvas[(slice(None), *self.places(ky, kx))] for ky, kx in self.elements()]
        return np.stack(seen).reshape(*self.kernel, n, *self.outputs, c)

    def spread(self, dy):
        """[ky, kx, n, iy, ix, o]: the output to which each window element brings image element (iy, ix); 0 without."""
        n, o = dy.shape[0], dy.shape[3]
        canvas = np.zeros((*self.kernel, n, *self.canvas, o), dy.dtype)
        for ky, kx in self.elements():
            canvas[(ky, kx, slice(None), *self.places(ky, kx))] = dy
        return canvas[(slice(None), slice(None), slice(None), *self.inside())]


def _by_rows(x):
    """[ky, kx, n, y, x, c] as [k, n y x] with k over kernel row, channel, kernel column."""
    return x.transpose(0, 5, 1, 2, 3, 4).reshape(x.shape[0] * x.shape[5] * x.shape[1], -1)


def convolve(window, x, weights, contract=sums.contract):
    """y from x [n, h, w, c] and weights [ky, kx, c, o]."""
    w = weights.transpose(0, 2, 1, 3).reshape(-1, weights.shape[3])
    y = contract(_by_rows(window.patches(x)), w, sums.block_of(window.kernel[1]))
    return y.reshape(x.shape[0], *window.outputs, weights.shape[3])


def input_gradient(window, dy, weights):
    """dx of that convolution."""
    w = weights.transpose(0, 3, 1, 2).reshape(-1, weights.shape[2])
    dx = sums.contract(_by_rows(window.spread(dy)), w, sums.block_of(window.kernel[1]))
    return dx.reshape(dy.shape[0], *window.size, weights.shape[2])


def filter_gradient(window, x, dy, contract=sums.contract):
    """dweights of that convolution: k over sample, output row, output column."""
    seen = window.patches(x).transpose(2, 3, 4, 0, 1, 5)
    dw = contract(seen.reshape(dy[..., 0].size, -1), dy.reshape(-1, dy.shape[3]))
    return dw.reshape(*window.kernel, x.shape[3], dy.shape[3])


def conv2d(x, weights, bias, stride=1, same=True):
    window = Window(x.shape[1:3], weights.shape[:2], stride, same)

    def rule(dy, needed):
        return [input_gradient(window, dy, weights.data) if needed[0] else None,
                filter_gradient(window, x.data, dy) if needed[1] else None]

    return add(Value(convolve(window, x.data, weights.data), (x, weights), rule), bias)


def transposed_conv2d(x, weights, bias, stride):
    """Without cropping: the input gradient of the convolution that has these weights [ky, kx, filters, channels]."""
    size = [stride * (n - 1) + k for n, k in zip(x.shape[1:3], weights.shape[:2])]
    window = Window(size, weights.shape[:2], stride, same=False)

    def rule(dy, needed):
        return [convolve(window, dy, weights.data) if needed[0] else None,
                filter_gradient(window, dy, x.data) if needed[1] else None]

    return add(Value(input_gradient(window, x.data, weights.data), (x, weights), rule), bias)


# Pooling

def max_pool2d(x, size, stride, same=False):
    """The first maximum of a window wins, the first NaN before all."""
    window = Window(x.shape[1:3], (size, size), stride, same)
    seen = window.patches(x.data).reshape(size * size, x.shape[0], *window.outputs, x.shape[3])
    present = window.patches(np.ones(x.shape, bool)).reshape(seen.shape)
    best, index = np.zeros(seen.shape[1:], f32), np.full(seen.shape[1:], -1)
    for k, (value, here) in enumerate(zip(seen, present)):
        wins = here & ((index < 0) | (value > best) | ((value != value) & (best == best)))
        best, index = np.where(wins, value, best), np.where(wins, k, index)

    def rule(dy, needed):
        shares = [np.where(index == k, dy, ZERO) for k in range(size * size)]
        return [_unpool(window, shares, x.shape)]

    return Value(best, (x,), rule)


def _unpool(window, shares, shape):
    """shares[k] of each window to its element k: added from +0 in ascending order of the windows."""
    canvas = np.zeros((shape[0], *window.canvas, shape[3]), f32)
    for oy in range(window.outputs[0]):
        for ox in range(window.outputs[1]):
            for k, (ky, kx) in enumerate(window.elements()):
                canvas[:, oy * window.stride + ky, ox * window.stride + kx] += shares[k][:, oy, ox]
    return canvas[(slice(None), *window.inside())]


def average_pool2d(x, size):
    """Without padding, windows side by side one step apart: one sum from +0, ascending, then one division."""
    window = Window(x.shape[1:3], (size, size), 1, same=False)
    seen = window.patches(x.data).reshape(size * size, x.shape[0], *window.outputs, x.shape[3])
    count = f32(size * size)
    rule = lambda dy, needed: [_unpool(window, [dy / count] * (size * size), x.shape)]
    return Value(sums.add_up(seen[None])[0] / count, (x,), rule)


# Batch norm

def batch_norm(x, scale, offset, epsilon=1e-5):
    """y, and the moments of the batch: (count, mean, M2). All axes but the last are positions."""
    axes = range(x.data.ndim - 1)
    count = int(np.prod(x.shape[:-1]))
    mean, m2 = sums.moments(x.data, axes)
    inv = ONE / np.sqrt(m2 / f32(count) + f32(epsilon))
    centred, factor = x.data - mean, inv * scale.data

    def rule(dy, needed):
        xhat = centred * inv
        doffset, dscale = sums.sum(dy, axes), sums.sum(dy * xhat, axes)
        dx = factor * ((dy - doffset / f32(count)) - xhat * (dscale / f32(count)))
        return [dx, dscale, doffset]

    y = Value(centred * factor + offset.data, (x, scale, offset), rule)
    return y, (count, mean, m2)


# Losses

def cross_entropy(y, t):
    """-(1/N) sum of t log y, of probabilities [n, classes] and an array t."""
    bounded = np.where(y.data < SMALLEST, SMALLEST, y.data)
    n = f32(len(t))
    loss = -(sums.sum(t * elementary.log(bounded)) / n)
    return Value(loss, (y,), lambda dy, needed: [-(dy / n) * (t / bounded)])


def half_mean_squared_error(y, t):
    """(1 / 2N) sum of (y - t)^2, N observations."""
    d, n = y.data - t, f32(len(t))
    return Value(sums.sum(d * d) / (TWO * n), (y,), lambda dy, needed: [(dy / n) * d])


def mean_squared_error(y, t):
    """(1 / M) sum of (y - t)^2, M elements."""
    d, m = y.data - t, f32(t.size)
    return Value(sums.sum(d * d) / m, (y,), lambda dy, needed: [((TWO * dy) / m) * d])
