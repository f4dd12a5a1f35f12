"""The networks that jobs name, as lists of layers, and their starting values (docs/numerics/training.md 1)."""

import math

import numpy as np

from . import draws, ops
from .rounding import f32
from .tape import Value


def glorot_uniform(key, shape, fan_in, fan_out):
    """(2u - 1) * bound, u uniform."""
    bound = f32(math.sqrt(6.0 / (fan_in + fan_out)))
    return (draws.uniform(shape, key) * f32(2) - f32(1)) * bound


class Walk:
    """One pass through layers. Parameters and state that are not there yet get their starting values."""

    def __init__(self, parameters, state, seed):
        self.parameters, self.state = parameters, state  # {path: Value}, {path: array}
        self.key = draws.split(draws.random_key(seed), "parameters")
        self.moments, self.counts = {}, {}

    def entry(self, kind, name):
        """The name of a layer with parameters: its own, or its kind and a number."""
        if name:
            return name
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return f"{kind}_{self.counts[kind]}"

    def weights_and_bias(self, entry, shape, fan_in, fan_out, outputs):
        weights = self.parameter(f"{entry}/weights", lambda key: glorot_uniform(key, shape, fan_in, fan_out))
        return weights, self.filled(entry, "bias", outputs, 0)

    def filled(self, entry, name, size, number):
        return self.parameter(f"{entry}/{name}", lambda key: np.full(size, number, f32))

    def parameter(self, path, draw):
        if path not in self.parameters:
            self.parameters[path] = Value(draw(draws.split(self.key, path)))
        return self.parameters[path]


# Each kind of layer makes a function (walk, x) -> y.

def conv2d(kernel, filters, stride=1, same=True, name=None):
    def apply(walk, x):
        entry, shape, area = walk.entry("conv2d", name), (kernel, kernel, x.shape[3], filters), kernel * kernel
        own = walk.weights_and_bias(entry, shape, area * x.shape[3], area * filters, filters)
        return ops.conv2d(x, *own, stride, same)
    return apply


def transposed_conv2d(kernel, filters, stride):
    def apply(walk, x):
        entry, shape = walk.entry("transposed_conv2d", None), (kernel, kernel, filters, x.shape[3])
        area = kernel * kernel
        own = walk.weights_and_bias(entry, shape, area * x.shape[3], area * filters, filters)
        return ops.transposed_conv2d(x, *own, stride)
    return apply


def linear(outputs, name=None):
    def apply(walk, x):
        entry, features = walk.entry("linear", name), int(np.prod(x.shape[1:]))
        return ops.linear(x, *walk.weights_and_bias(entry, (outputs, features), features, outputs, outputs))
    return apply


def batch_norm(name=None):
    def apply(walk, x):
        entry, channels = walk.entry("batch_norm", name), x.shape[-1]
        scale = walk.filled(entry, "scale", channels, 1)
        offset = walk.filled(entry, "offset", channels, 0)
        walk.state.setdefault(f"{entry}/mean", np.zeros(channels, f32))
        walk.state.setdefault(f"{entry}/variance", np.ones(channels, f32))
        y, walk.moments[entry] = ops.batch_norm(x, scale, offset)
        return y
    return apply


def plain(op, *options):
    """An op without parameters."""
    return lambda walk, x: op(x, *options)


RELU, SOFTMAX = plain(ops.relu), plain(ops.softmax)


def sequential(*layers):
    def apply(walk, x):
        for layer in layers:
            x = layer(walk, x)
        return x
    return apply


def residual(main, skip):
    def apply(walk, x):
        a = main(walk, x)
        return ops.add(a, skip(walk, x))
    return apply


def heads(**layers):
    return lambda walk, x: {name: head(walk, x) for name, head in layers.items()}


class Network:
    def __init__(self, sample, layers, loss):
        self.sample, self.layers, self.loss = sample, layers, loss  # loss(y, targets), both by the names of the heads

    def forward(self, parameters, state, x, seed=0):
        """y by the names of the heads, and the moments of the batch norms."""
        walk = Walk(parameters, state, seed)
        return self.layers(walk, Value(x)), walk.moments

    def initial(self, seed):
        """Parameters and state, {path: array}."""
        parameters, state = {}, {}
        self.forward(parameters, state, np.zeros((1, *self.sample), f32), seed)
        return {path: value.data for path, value in sorted(parameters.items())}, state


def one_hot(labels):
    return (labels[:, None] == np.arange(10)).astype(f32)


def class_loss(y, targets):
    return ops.cross_entropy(y["class_"], one_hot(targets["class_"]))


def digits(width=16):
    main = sequential(conv2d(3, 2 * width, stride=2), batch_norm(), RELU, conv2d(3, 2 * width), batch_norm())
    skip = sequential(conv2d(1, 2 * width, stride=2, same=False, name="conv2d_skip"), batch_norm(name="batch_norm_skip"))
    outputs = heads(class_=sequential(linear(10, name="class"), SOFTMAX), angle=linear(1, name="angle"))

    def loss(y, targets):
        first = class_loss(y, targets)
        return ops.add(first, ops.scaled(ops.half_mean_squared_error(y["angle"], targets["angle"]), 0.1))

    layers = sequential(conv2d(5, width), batch_norm(), RELU, residual(main, skip), RELU, outputs)
    return Network((28, 28, 1), layers, loss)


def peaks(width=20):
    layers = sequential(linear(width), RELU, linear(max(1, width // 4)), RELU, heads(value=linear(1)))
    return Network((2,), layers, lambda y, targets: ops.mean_squared_error(y["value"], targets["value"]))


def autoencoder(width=8):
    encode = lambda filters: sequential(conv2d(3, filters), RELU, plain(ops.max_pool2d, 2, 2, True))
    decode = lambda filters: sequential(transposed_conv2d(2, filters, 2), RELU)
    image = sequential(conv2d(1, 1, same=False), plain(ops.clipped_relu, 1))
    layers = sequential(encode(width), encode(2 * width), encode(4 * width), decode(4 * width), decode(2 * width),
                        decode(width), heads(image=image))
    return Network((32, 32, 1), layers, lambda y, targets: ops.mean_squared_error(y["image"], targets["image"]))


def cifar10(width=32):
    stage = lambda filters: sequential(*[sequential(conv2d(3, filters), batch_norm(), RELU) for _ in range(4)])
    pool = plain(ops.max_pool2d, 2, 2)
    classes = sequential(plain(ops.average_pool2d, 8), linear(10), SOFTMAX)
    layers = sequential(stage(width), pool, stage(2 * width), pool, stage(4 * width), heads(class_=classes))
    return Network((32, 32, 3), layers, class_loss)


NETWORKS = {"digits": digits, "peaks": peaks, "autoencoder": autoencoder, "cifar10": cifar10}
