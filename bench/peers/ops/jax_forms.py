"""JAX's form of each op that sized.py times: of the inputs, and of the options of ours. Images have the channels last, as ours."""

import jax
import jax.numpy as jnp
from jax import lax

EPSILON = 1e-5

FORMS = {"abs": jnp.abs, "acos": jnp.arccos, "asin": jnp.arcsin, "atan": jnp.arctan, "square": jnp.square, "erf": lax.erf,
         "rsqrt": lax.rsqrt, "negate": jnp.negative, "elu": lambda x, number: jax.nn.elu(x, number), "atan2": jnp.arctan2,
         "gelu": lambda x: jax.nn.gelu(x, approximate=False), "gelu_tanh": lambda x: jax.nn.gelu(x, approximate=True),
         "less": jnp.less, "where": jnp.where, "cast": lambda x, type: x.astype(jnp.int32), "pow": jnp.power}
FORMS |= {name: getattr(jnp, name) for name in "cos cosh exp expm1 round sign sin sinh tan tanh log log1p sqrt add multiply "
          "maximum subtract divide remainder tril matmul".split()}
FORMS |= {name: getattr(jax.nn, name) for name in
          "relu sigmoid hard_sigmoid hard_swish log_sigmoid mish selu silu softplus".split()}


def form(function):
    FORMS[function.__name__] = function
    return function


def reduction(name, function):
    FORMS[name] = lambda x, axes: function(x, axes[0])


for reducing, function in {"sum": jnp.sum, "mean": jnp.mean, "max": jnp.max, "argmax": jnp.argmax, "variance": jnp.var,
                           "logsumexp": jax.nn.logsumexp, "softmax": jax.nn.softmax, "cumsum": jnp.cumsum, "sort": jnp.sort,
                           "flip": jnp.flip}.items():
    reduction(reducing, function)
reduction("norm", lambda x, axis: jnp.sqrt(jnp.square(x).sum(axis)))


@form
def top_k(x, axes, k):
    return lax.top_k(x, k)[0]


def normalised(x, axes):
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + EPSILON)


@form
def layer_norm(x, scale, offset):
    return normalised(x, -1) * scale + offset


@form
def rms_norm(x, scale):
    return x * lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-6) * scale


@form
def batch_norm(x, scale, offset):
    return normalised(x, (0, 1, 2)) * scale + offset


@form
def group_norm(x, scale, offset, groups):
    split = x.reshape(*x.shape[:-1], groups, -1)
    return normalised(split, (1, 2, 4)).reshape(x.shape) * scale + offset


@form
def softmax_cross_entropy(x, classes):
    return -jnp.take_along_axis(jax.nn.log_softmax(x), classes[:, None], 1).mean()


@form
def mean_squared_error(x, y):
    return jnp.square(x - y).mean()


@form
def huber(x, y):
    distance = jnp.abs(x - y)
    return jnp.where(distance <= 1, 0.5 * jnp.square(distance), distance - 0.5).mean()


@form
def binary_cross_entropy(x, y):
    return (jax.nn.relu(x) - x * y + jnp.log1p(jnp.exp(-jnp.abs(x)))).mean()


@form
def transpose(x, permutation):
    return jnp.transpose(x, permutation)


@form
def concatenate(x, y, axes):
    return jnp.concatenate([x, y], axes[0])


@form
def roll(x, axes, shift):
    return jnp.roll(x, shift, axes[0])


@form
def pad(x, axes, before, after, mode="constant"):
    return jnp.pad(x, [(before, after) if axis == axes[0] else (0, 0) for axis in range(x.ndim)], mode=mode)


@form
def tile(x, counts):
    return jnp.tile(x, counts)


@form
def repeat_interleave(x, axes, count):
    return jnp.repeat(x, count, axes[0], total_repeat_length=count * x.shape[axes[0]])


@form
def gather_rows(table, rows):
    return table[rows]


@form
def take_along_axis(x, indices, axes):
    return jnp.take_along_axis(x, indices, axes[0], mode="clip")


@form
def scatter_add(x, indices, source, axes):
    return x.at[jnp.arange(x.shape[0])[:, None], indices].add(source, mode="clip")


def windows(x, size, start, combine):
    return lax.reduce_window(x, start, combine, (1, *size, 1), (1, *size, 1), "VALID")


@form
def max_pool2d(x, size):
    return windows(x, size, -jnp.inf, lax.max)


@form
def average_pool2d(x, size):
    return windows(x, size, 0.0, lax.add) / (size[0] * size[1])


@form
def global_average_pool2d(x):
    return x.mean((1, 2))


@form
def resize2d(x, factor, method):
    return jax.image.resize(x, (x.shape[0], factor * x.shape[1], factor * x.shape[2], x.shape[3]), method)


@form
def conv2d(x, weights, padding, groups=1):
    return lax.conv_general_dilated(x, weights, (1, 1), padding.upper(), dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                    feature_group_count=groups)


@form
def conv1d(x, weights, padding):
    return lax.conv_general_dilated(x, weights, (1,), padding.upper(), dimension_numbers=("NWC", "WIO", "NWC"))


@form
def linear(x, weights, bias, flatten):
    return x @ weights.T + bias


@form
def attention(q, k, v, causal):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
    places = jnp.arange(q.shape[2])
    scores = jnp.where(places[:, None] >= places, scores, -jnp.inf)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), v)


def over_time(step, state, inputs):
    """The outputs of a recurrence: the products with the inputs are made before the loop."""
    return lax.scan(step, state, inputs.swapaxes(0, 1))[1].swapaxes(0, 1)


@form
def lstm(x, weights, recurrent, bias):
    zero = jnp.zeros((x.shape[0], recurrent.shape[1]))

    def step(state, gates):
        h, c = state
        i, f, g, o = jnp.split(gates + h @ recurrent.T, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    return over_time(step, (zero, zero), x @ weights.T + bias)


@form
def gru(x, weights, recurrent, bias, recurrent_bias):
    def step(h, gates):
        r, z, n = jnp.split(gates, 3, -1)
        hr, hz, hn = jnp.split(h @ recurrent.T + recurrent_bias, 3, -1)
        z = jax.nn.sigmoid(z + hz)
        h = (1 - z) * jnp.tanh(n + jax.nn.sigmoid(r + hr) * hn) + z * h
        return h, h

    return over_time(step, jnp.zeros((x.shape[0], recurrent.shape[1])), x @ weights.T + bias)


@form
def rnn(x, weights, recurrent, bias):
    def step(h, inputs):
        h = jnp.tanh(inputs + h @ recurrent.T)
        return h, h

    return over_time(step, jnp.zeros((x.shape[0], recurrent.shape[1])), x @ weights.T + bias)
