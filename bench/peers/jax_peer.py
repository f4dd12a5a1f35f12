"""The four workloads in JAX, compiled by jit: jax_peer.py WORKLOAD PHASE jit THREADS WEIGHTS [cpu|cuda]; see
torch_peer.py."""

import os
import sys
import time

if __name__ == "__main__":  # before JAX is read
    THREADS = sys.argv[4]
    os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'true' if int(THREADS) > 1 else 'false'}"
    os.environ["JAX_PLATFORMS"] = sys.argv[6] if len(sys.argv) > 6 else "cpu"
    if os.environ["JAX_PLATFORMS"] == "cpu":
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(THREADS)])

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

import workloads  # noqa: E402

EPSILON = 1e-5
RATES = {"digits": 0.0001, "peaks": 0.08, "autoencoder": 0.001}


def conv(x, p, stride=1, padding="SAME"):
    y = lax.conv_general_dilated(x, p["weights"], (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return y + p["bias"]


def norm(x, p, state, trains):
    """The normalised x, and the new running mean and variance."""
    if not trains:
        return (x - state["mean"]) * (p["scale"] * lax.rsqrt(state["variance"] + EPSILON)) + p["offset"], state
    mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    y = (x - mean) * (p["scale"] * lax.rsqrt(variance + EPSILON)) + p["offset"]
    blend = lambda old, new: 0.9 * old + 0.1 * new  # noqa: E731
    return y, {"mean": blend(state["mean"], mean), "variance": blend(state["variance"], variance)}


def linear(x, p):
    return x.reshape(x.shape[0], -1) @ p["weights"].T + p["bias"]


def pool(x, size, kind):
    window = (1, size, size, 1)
    if kind == "max":
        return lax.reduce_window(x, -jnp.inf, lax.max, window, window, "VALID")
    return lax.reduce_window(x, 0.0, lax.add, window, window, "VALID") / (size * size)


def classes_loss(scores, classes):
    return -jnp.take_along_axis(jax.nn.log_softmax(scores), classes[:, None], 1).mean()


def digits(p, state, x, trains):
    s = {}
    x, s["batch_norm_1"] = norm(conv(x, p["conv2d_1"]), p["batch_norm_1"], state["batch_norm_1"], trains)
    x = jax.nn.relu(x)
    skip, s["batch_norm_skip"] = norm(conv(x, p["conv2d_skip"], 2, "VALID"), p["batch_norm_skip"],
                                      state["batch_norm_skip"], trains)
    x, s["batch_norm_2"] = norm(conv(x, p["conv2d_2"], 2), p["batch_norm_2"], state["batch_norm_2"], trains)
    x, s["batch_norm_3"] = norm(conv(jax.nn.relu(x), p["conv2d_3"]), p["batch_norm_3"], state["batch_norm_3"], trains)
    x = jax.nn.relu(x + skip)
    return (linear(x, p["class"]), linear(x, p["angle"])), s


def peaks(p, state, x, trains):
    x = jax.nn.relu(linear(x, p["linear_1"]))
    return linear(jax.nn.relu(linear(x, p["linear_2"])), p["linear_3"]), state


def cifar10(p, state, x, trains):
    s = {}
    for i in range(1, 13):
        x, s[f"batch_norm_{i}"] = norm(conv(x, p[f"conv2d_{i}"]), p[f"batch_norm_{i}"], state[f"batch_norm_{i}"], trains)
        x = jax.nn.relu(x)
        if i in (4, 8):
            x = pool(x, 2, "max")
    return linear(pool(x, 8, "mean"), p["linear_1"]), s


def autoencoder(p, state, x, trains):
    for i in (1, 2, 3):
        x = pool(jax.nn.relu(conv(x, p[f"conv2d_{i}"])), 2, "max")
    for i in (1, 2, 3):
        q = p[f"transposed_conv2d_{i}"]
        x = lax.conv_transpose(x, q["weights"], (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"),
                               transpose_kernel=True)
        x = jax.nn.relu(x + q["bias"])
    return jnp.clip(conv(x, p["conv2d_4"]), 0, 1), state


MODELS = {"digits": digits, "peaks": peaks, "cifar10": cifar10, "autoencoder": autoencoder}


def loss_of(workload, y, targets):
    if workload == "digits":
        return classes_loss(y[0], targets[0]) + 0.05 * jnp.mean((y[1] - targets[1]) ** 2)
    if workload == "cifar10":
        return classes_loss(y, targets[0])
    return jnp.mean((y - targets[0]) ** 2)


def adam(p, g, moments, rate):
    t, m, v = moments
    t = t + 1
    m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
    v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
    first, second = 1 - 0.9**t, 1 - 0.999**t
    return jax.tree.map(lambda a, b, c: a - rate * (b / first) / (jnp.sqrt(c / second) + 1e-8), p, m, v), (t, m, v)


def sgdm(p, g, velocity, rate):
    velocity = jax.tree.map(lambda a, b, w: 0.9 * a + b + 1e-10 * w, velocity, g, p)
    return jax.tree.map(lambda w, a: w - rate * a, p, velocity), velocity


def training_step(workload):
    """(parameters, state, moments), x, targets -> loss, (the same after the step)."""
    solver, rate = (sgdm, 0.01) if workload == "cifar10" else (adam, RATES[workload])

    def loss(p, state, x, targets):
        y, new_state = MODELS[workload](p, state, x, True)
        return loss_of(workload, y, targets), new_state

    def train(held, x, targets):
        p, state, moments = held
        (value, new_state), gradients = jax.value_and_grad(loss, has_aux=True)(p, state, x, targets)
        p, moments = solver(p, gradients, moments, rate)
        return value, (p, new_state, moments)

    return train


def starting_values(workload, weights):
    """Parameters, state, the solver's moments; x and the targets."""
    p, state = workloads.jax_weights(workload, jnp, weights)
    zeros = jax.tree.map(jnp.zeros_like, p)
    x, targets = workloads.data(workload)
    return ((p, state, zeros if workload == "cifar10" else (jnp.float32(0), zeros, zeros)),
            jnp.asarray(x), [jnp.asarray(target) for target in targets])


def main():
    workload, phase = sys.argv[1:3]
    start, x, targets = starting_values(workload, sys.argv[5])
    one_step = training_step(workload)
    train = jax.jit(lambda held: one_step(held, x, targets))
    predict = jax.jit(lambda p, state: MODELS[workload](p, state, x, False)[0])
    held = [start]
    on_cpu = jax.default_backend() == "cpu"

    def step():
        if phase == "predict":
            value = predict(*held[0][:2])
        else:
            value, held[0] = train(held[0])
        return jax.block_until_ready(value) if on_cpu else value

    def restart():
        held[0] = start

    workloads.serve(step, restart, time.perf_counter, jax.block_until_ready)


if __name__ == "__main__":
    main()
