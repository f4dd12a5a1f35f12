"""The samples of PyTorch's own tests of its ops (op_db), as calls of ours.

A translation takes what PyTorch's op takes, and returns the name of our op, inputs, options and, where axes stand in
another order, the way from PyTorch's result to ours. It raises Left with the reason where ours has no such option.
"""

import collections
import random

import numpy as np
import torch

from ops.calls import NAMES, OPS, Call

TRANSLATIONS = {}  # name in op_db, variants (None: all): translation


class Left(Exception):
    """A sample that is not translated, with the reason."""


def translation(*names, variants=None):
    def keep(f):
        for name in names:
            TRANSLATIONS[name] = (f, variants)
        return f
    return keep


def need(condition, reason):
    if not condition:
        raise Left(reason)


def same(y):
    return y


def index(x):
    need(torch.is_tensor(x) and not x.is_floating_point(), "no indices")
    return x.to(torch.int32)


def axes_of(x, dim):
    """As our option; an axis of a number is none."""
    if dim is None or x.dim() == 0:
        return []
    return list(dim) if isinstance(dim, (tuple, list)) else [dim]


def one_axis(x, dim):
    need(x.dim() > 0, "an axis of a number")
    return {"axes": [dim]}


# --- Calls of all samples


def in_f64(value):
    if torch.is_tensor(value):
        return value.detach().to(torch.float64 if value.dtype == torch.float32 else value.dtype, copy=True)
    if isinstance(value, (tuple, list)):
        return type(value)(in_f64(one) for one in value)
    return {key: in_f64(one) for key, one in value.items()} if isinstance(value, dict) else value


def translated(info, translate, sample):
    made = translate(sample.input, *sample.args, **sample.kwargs)
    name, inputs, options, layout = (*made, same)[:4]
    need(all(x is None or x.dtype in NAMES for x in inputs), "types that we have not")
    need(all(x is None or x.dim() <= 6 for x in inputs), "more axes than we have")
    call = Call(OPS[name], [None if x is None else x.detach().contiguous().clone() for x in inputs], options, f"sample of {info.name}")
    direct = info.op(in_f64(sample.input), *in_f64(sample.args), **in_f64(sample.kwargs))
    direct = list(direct) if isinstance(direct, (tuple, list)) else [direct]
    call.direct = [layout(y) for y in direct]
    return call


def types_of(info):
    floats = [type_ for type_ in (torch.float32, torch.float64) if type_ in info.dtypes]
    return floats or [type_ for type_ in (torch.int32, torch.int64, torch.bool) if type_ in info.dtypes][:1]


def sample_calls():
    """The calls, and for each name in op_db [samples, translated, reasons of the others]."""
    from torch.testing._internal.common_methods_invocations import op_db
    torch.manual_seed(7)
    np.random.seed(7)
    random.seed(7)
    calls, counts = [], {}
    for info in op_db:
        translate, variants = TRANSLATIONS.get(info.name, (None, None))
        if translate is None or variants is not None and info.variant_test_name not in variants:
            continue
        count = counts.setdefault(info.name, [0, 0, collections.Counter()])
        for type_ in types_of(info):
            for sample in info.sample_inputs("cpu", type_, requires_grad=False):
                count[0] += 1
                try:
                    calls.append(translated(info, translate, sample))
                    count[1] += 1
                except Left as reason:
                    count[2][str(reason)] += 1
    return calls, counts
