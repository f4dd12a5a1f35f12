"""Recording and differentiation (docs/numerics/gradients.md 1)."""

from itertools import count

import numpy as np

from .rounding import f32

_numbers = count()


class Value:
    """What an op returned: an array, the values that it was made of, and its gradient rule.

    rule(dy, needed) takes the cotangent and says for which inputs a gradient is needed; it gives an array, or None, for
    each input. The number is the place in the recording.
    """

    def __init__(self, data, inputs=(), rule=None):
        self.data, self.inputs, self.rule = data, inputs, rule
        self.number = next(_numbers)

    @property
    def shape(self):
        return self.data.shape


def recorded(loss):
    """All that the loss was made of, in recorded order."""
    seen, waiting = {loss}, [loss]
    while waiting:
        new = [x for x in waiting.pop().inputs if x not in seen]
        seen.update(new)
        waiting.extend(new)
    return sorted(seen, key=lambda value: value.number)


def gradients(loss, wanted):
    """d loss / d x for each x of `wanted`.

    Contributions of several consumers are added in the recorded order of the consumers, left to right.
    """
    order = recorded(loss)
    needed = set(wanted)
    for value in order:
        if any(x in needed for x in value.inputs):
            needed.add(value)
    contributions = {loss: [np.ones(loss.shape, f32)]}

    def total(value):
        found = contributions.pop(value)[::-1]  # the walk is backwards: the first consumer came last
        dy = found[0]
        for other in found[1:]:
            dy = dy + other
        return dy

    for value in reversed(order):
        if value.rule is None or value not in needed or value not in contributions:
            continue
        found = value.rule(total(value), [x in needed for x in value.inputs])
        for x, dx in zip(reversed(value.inputs), reversed(found)):
            if x in needed:
                contributions.setdefault(x, []).append(dx)
    return [total(x) if x in contributions else np.zeros(x.shape, f32) for x in wanted]
