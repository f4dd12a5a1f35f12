"""Norms, softmax and recurrences, and their peers."""

import torch
import torch.nn.functional as F

from ops.calls import Bound, op

NORM, STEPS = Bound("norm", 4, 16), Bound("norm", 16, 64)
EPSILONS = (1e-5, 1e-3)


def batches(r):
    x = r.normal(r.shape(2, 4))
    while not x.numel():
        x = r.normal(r.shape(2, 4))
    return r.seldom_special(x), [x.shape[-1]]


def scaled(r):
    x, c = batches(r)
    return [x, r.positive(c), r.normal(c)], {"epsilon": r.pick(EPSILONS)}


def batch_norm(inputs, options):
    x, scale, offset = inputs
    return F.batch_norm(x.movedim(-1, 1), None, None, scale, offset, True, 0.0, options["epsilon"]).movedim(1, -1)


def with_statistics(r):
    inputs, options = scaled(r)
    c = list(inputs[1].shape)
    return inputs + [r.normal(c), r.positive(c)], options


def batch_norm_inference(inputs, options):
    x, scale, offset, mean, variance = inputs
    return (x - mean) / torch.sqrt(variance + options["epsilon"]) * scale + offset


def running(r):
    x, c = batches(r)
    return [x, r.normal(c), r.positive(c)], {"decay": r.pick((0.1, 0.5, 0.01))}


def update_statistics(inputs, options):
    """PyTorch's running variance is that of the sample, n - 1: here of the batch, n."""
    x, mean, variance = inputs
    rows, decay = x.reshape(-1, x.shape[-1]), options["decay"]
    new = rows.mean(0), rows.var(0, correction=0)
    return tuple(decay * batch + (1 - decay) * old for batch, old in zip(new, (mean, variance), strict=True))


def layer_norm(inputs, options):
    return F.layer_norm(inputs[0], [inputs[0].shape[-1]], inputs[1], inputs[2], options["epsilon"])


def grouped(r):
    inputs, options = scaled(r)
    c = inputs[0].shape[-1]
    return inputs, options | {"groups": r.pick([n for n in range(1, c + 1) if c % n == 0])}


def group_norm(inputs, options):
    x, scale, offset = inputs
    return F.group_norm(x.movedim(-1, 1), options.get("groups", x.shape[-1]), scale, offset, options["epsilon"]).movedim(1, -1)


def one_axis(r):
    x = r.seldom_special(r.normal(r.shape(1, 4), 3))
    return [x], {"axes": [r.axis(x.dim())]} if r.chance(0.7) else {}


def softmax(inputs, options):
    return F.softmax(inputs[0], options.get("axes", [-1])[0])


op("batch_norm", "torch.nn.functional.batch_norm", batch_norm, scaled, NORM, STEPS)
op("batch_norm_inference", "the formula; batch_norm has no gradients for the statistics", batch_norm_inference, with_statistics, NORM, STEPS)
op("update_statistics", "torch.mean, torch.var of correction 0", update_statistics, running, NORM, STEPS, constant=(0, 1, 2))
op("layer_norm", "torch.nn.functional.layer_norm", layer_norm, scaled, NORM, STEPS)
op("rms_norm", "torch.nn.functional.rms_norm", lambda i, o: F.rms_norm(i[0], [i[0].shape[-1]], i[1], o["epsilon"]),
   lambda r: (scaled(r)[0][:2], {"epsilon": r.pick((1e-6, 1e-3))}), NORM, STEPS)
op("group_norm", "torch.nn.functional.group_norm", group_norm, grouped, NORM, STEPS)
op("instance_norm", "torch.nn.functional.group_norm, one channel a group", group_norm, scaled, NORM, STEPS)
op("log_softmax", "torch.nn.functional.log_softmax", lambda i, o: F.log_softmax(i[0], o.get("axes", [-1])[0]), one_axis, NORM, STEPS)
op("softmax", "torch.nn.functional.softmax", softmax, one_axis, NORM, STEPS)


# --- Recurrences: torch.lstm, torch.gru, torch.rnn_tanh; with a mask a loop over their cells


def sequences(gates, biases, states):
    def draw(r):
        n, length, features, hidden = r.pick((1, 2, 5)), r.pick((1, 2, 3, 7)), r.pick((1, 3, 8)), r.pick((1, 2, 5, 16))
        tensors = [r.normal([n, length, features]), r.normal([gates * hidden, features], 0.5),
                   r.normal([gates * hidden, hidden], 0.5)] + [r.normal([gates * hidden], 0.5) for _ in range(biases)]
        given = r.chance(0.5)
        tensors += [r.normal([n, hidden]) if given else None for _ in range(states)]
        return tensors + [r.mask([n, length]) if r.chance(0.4) else None], {"reverse": r.chance(0.3)}
    return draw


def looped(cell, inputs, options, count):
    """y, and the states behind; a position that the mask leaves out keeps the state, and its y is 0."""
    x, mask = inputs[0], inputs[-1]
    states = [s if s is not None else x.new_zeros(x.shape[0], inputs[2].shape[1]) for s in inputs[-1 - count:-1]]
    results = [None] * x.shape[1]
    steps = range(x.shape[1])
    for t in reversed(steps) if options["reverse"] else steps:
        new = cell(x[:, t], states)
        new = list(new) if isinstance(new, tuple) else [new]
        results[t] = new[0]
        if mask is not None:
            seen = mask[:, t:t + 1]
            results[t] = torch.where(seen, new[0], 0.0)
            new = [torch.where(seen, a, b) for a, b in zip(new, states, strict=True)]
        states = new
    return torch.stack(results, 1), *states


def whole(f, inputs, options, weights, count):
    """By PyTorch's function of whole sequences."""
    x = inputs[0].flip(1) if options["reverse"] else inputs[0]
    states = [s if s is not None else x.new_zeros(x.shape[0], inputs[2].shape[1]) for s in inputs[-1 - count:-1]]
    states = [s.unsqueeze(0) for s in states]
    y, *last = f(x, states if count > 1 else states[0], weights, True, 1, 0.0, False, False, True)
    return y.flip(1) if options["reverse"] else y, *[s.squeeze(0) for s in last]


def lstm(inputs, options):
    w, u, b = inputs[1:4]
    if inputs[-1] is None:
        return whole(torch.lstm, inputs, options, [w, u, b, torch.zeros_like(b)], 2)
    return looped(lambda x, s: torch.lstm_cell(x, s, w, u, b, torch.zeros_like(b)), inputs, options, 2)


def gru(inputs, options):
    w, u, b, c = inputs[1:5]
    if inputs[-1] is None:
        return whole(torch.gru, inputs, options, [w, u, b, c], 1)
    return looped(lambda x, s: torch.gru_cell(x, s[0], w, u, b, c), inputs, options, 1)


def rnn(inputs, options):
    w, u, b = inputs[1:4]
    if inputs[-1] is None:
        return whole(torch.rnn_tanh, inputs, options, [w, u, b, torch.zeros_like(b)], 1)
    return looped(lambda x, s: torch.rnn_tanh_cell(x, s[0], w, u, b, torch.zeros_like(b)), inputs, options, 1)


op("lstm", "torch.lstm, lstm_cell", lstm, sequences(4, 1, 2), STEPS, STEPS)
op("gru", "torch.gru, gru_cell", gru, sequences(3, 2, 1), STEPS, STEPS)
op("rnn", "torch.rnn_tanh, rnn_tanh_cell", rnn, sequences(1, 1, 1), STEPS, STEPS)
