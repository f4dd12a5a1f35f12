"""Regularisation, solvers and schedules (docs/numerics/training.md). Trees are dictionaries {path: array}."""

import numpy as np

from . import elementary, host, sums
from .rounding import f32, stored

SPARED = ("bias", "scale", "offset")  # what L2 regularisation leaves alone, by the last name of the path


def l2_regularization(parameters, gradients, factor):
    """gradient + factor * parameter, two roundings."""
    factor = f32(factor)
    return {path: g if path.split("/")[-1] in SPARED else g + factor * parameters[path]
            for path, g in gradients.items()}


def clip(gradients, threshold, method="norm"):
    """By the norm of each tensor, by that of all of them ("global"), or element by element ("value")."""
    t, one = f32(threshold), f32(1)
    if method == "value":
        return {path: np.where(g > t, t, np.where(g < -t, -t, g)) for path, g in gradients.items()}
    squares = {path: sums.sum(g * g) for path, g in gradients.items()}
    if method == "global":
        paths = sorted(gradients, key=lambda path: path.split("/"))
        squares = dict.fromkeys(paths, sums.tree(np.stack([squares[path] for path in paths])))
    scale = lambda norm: np.where(norm <= t, one, t / norm)
    return {path: g * scale(np.sqrt(squares[path])) for path, g in gradients.items()}


class Adam:
    def __init__(self, b1=0.9, b2=0.999, epsilon=1e-8):
        self.b1, self.b2, self.epsilon = f32(b1), f32(b2), f32(epsilon)
        self.step, self.mean, self.mean_square = 0, {}, {}

    def update(self, parameters, gradients, rate):
        self.step += 1
        t = f32(self.step)
        one_minus_power = lambda b: -elementary.expm1(t * f32(host.log(float(b))))
        rate, root = f32(rate) / one_minus_power(self.b1), np.sqrt(one_minus_power(self.b2))
        rest, square_rest = (f32(1) - b for b in (self.b1, self.b2))
        updated = {}
        for path, w in parameters.items():
            g, zero = gradients[path], np.zeros_like(w)
            m = stored(self.b1 * self.mean.get(path, zero) + rest * g)
            s = stored(self.b2 * self.mean_square.get(path, zero) + square_rest * (g * g))
            updated[path] = w - (rate * m) / (np.sqrt(s) / root + self.epsilon)
            self.mean[path], self.mean_square[path] = m, s
        return updated


class Sgdm:
    def __init__(self, momentum=0.9):
        self.momentum, self.velocity = f32(momentum), {}

    def update(self, parameters, gradients, rate):
        updated = {}
        for path, w in parameters.items():
            before = self.velocity.get(path, np.zeros_like(w))
            v = stored(self.momentum * before - f32(rate) * gradients[path])
            updated[path], self.velocity[path] = w + v, v
        return updated


def update_statistics(state, moments, decay=0.1):
    """The running mean and variance after a batch: decay * batch + (1 - decay) * old."""
    new, old = f32(decay), f32(1) - f32(decay)
    result = dict(state)
    for norm, (count, mean, m2) in moments.items():
        for name, batch in ("mean", mean), ("variance", m2 / f32(count)):
            path = f"{norm}/{name}"
            result[path] = stored(new * batch + old * state[path])
    return result


def learn_rate(training, iteration, iterations, epoch):
    """Of an iteration from 0 and its epoch from 1: in binary64, rounded once."""
    rate = training.get("initial_learn_rate", 0.01 if training.get("solver") == "sgdm" else 0.001)
    schedules = [name.strip() for name in training.get("schedule", "none").split(",")]
    for i, schedule in enumerate(schedules[:-1]):
        length = (training.get("schedule_iterations") or [training.get("warm_up_iterations")] * (i + 1))[i]
        if iteration < length:
            iterations = min(length, iterations)
            break
        iteration, iterations = iteration - length, iterations - length
    else:
        schedule = schedules[-1]
    if schedule == "warm-up":
        rate *= min(1.0, (iteration + 1) / training["warm_up_iterations"])
    if schedule == "linear":
        rate *= 1.0 - iteration / iterations
    if schedule == "piecewise":
        for _ in range(training["drop_period"], epoch, training["drop_period"]):
            rate *= training["drop_factor"]
    return f32(rate)
