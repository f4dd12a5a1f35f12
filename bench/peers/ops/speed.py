"""The times of one call in each peer, in microseconds: {"forward": t} and, where a gradient is asked for, {"gradient": t}."""

import time

import jax
import numpy as np
import torch

from ops.jax_forms import FORMS


def microseconds(f):
    for _ in range(3):
        f()
    start = time.perf_counter()
    f()
    count, all_ = max(1, int(2e-4 / max(time.perf_counter() - start, 1e-7))), []
    while sum(all_) * count < 0.04 or len(all_) < 5:
        start = time.perf_counter()
        for _ in range(count):
            f()
        all_.append((time.perf_counter() - start) / count)
    return sorted(all_)[len(all_) // 4] * 1e6


class Eager:
    """PyTorch, op by op."""

    def __init__(self, call):
        self.inputs, self.peer = call.inputs, call.op.peer
        self.wanted = call.wanted()

    def result(self):
        with torch.no_grad():
            return self.peer(*self.inputs).numpy()

    def times(self):
        with torch.no_grad():
            found = {"forward": microseconds(lambda: self.peer(*self.inputs))}
        if not any(self.wanted):
            return found
        inputs = [x.clone().requires_grad_() if want else x for x, want in zip(self.inputs, self.wanted, strict=True)]
        weights = torch.randn_like(self.peer(*inputs))

        def step():
            for x in inputs:
                x.grad = None
            self.peer(*inputs).backward(weights)

        return found | {"gradient": microseconds(step)}


class Compiled(Eager):
    """PyTorch, by torch.compile."""

    def __init__(self, call):
        super().__init__(call)
        torch.compiler.reset()
        self.peer = torch.compile(call.op.peer, dynamic=False)


class Jax:
    """JAX, by jit."""

    def __init__(self, call):
        options, self.wanted = call.options, call.wanted()
        self.inputs = [jax.numpy.asarray(x.numpy()) for x in call.inputs]
        self.call = jax.jit(lambda *inputs: FORMS[call.op.name](*inputs, **options))

    def result(self):
        return np.asarray(self.call(*self.inputs))

    def times(self):
        result = jax.block_until_ready(self.call(*self.inputs))
        found = {"forward": microseconds(lambda: self.call(*self.inputs).block_until_ready())}
        if not any(self.wanted):
            return found

        @jax.jit
        def step(weights, *inputs):
            def of_wanted(*wanted):
                rest = iter(wanted)
                return self.call(*[next(rest) if want else x for want, x in zip(self.wanted, inputs, strict=True)])

            value, back = jax.vjp(of_wanted, *[x for want, x in zip(self.wanted, inputs, strict=True) if want])
            return value, back(weights)

        return found | {"gradient": microseconds(lambda: jax.block_until_ready(step(result, *self.inputs)))}


def same_result(a, b):
    """Whether two peers' results hold the same numbers, wherever their channels lie."""
    a, b = (np.sort(np.asarray(x, dtype=np.float64).ravel()) for x in (a, b))
    return a.shape == b.shape and np.allclose(a, b, rtol=1e-3, atol=1e-4)
