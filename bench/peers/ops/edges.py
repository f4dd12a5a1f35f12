"""Calls with sizes of 0, and with one axis where others have more, of ops whose drawn calls have none: op, shapes of its
inputs ("i": i32 zeros; a tuple: these numbers), options."""

import math

import numpy as np
import torch

from ops.calls import OPS, Call

NORM, LOSS = {"epsilon": 1e-5}, {}
BY_CLASS = {"with_options": True, "label_smoothing": 0.1}
EDGES = (
    ("layer_norm", ([0, 5], [5], [5]), NORM), ("layer_norm", ([3, 0], [0], [0]), NORM),
    ("rms_norm", ([0, 5], [5]), NORM), ("rms_norm", ([3, 0], [0]), NORM),
    ("group_norm", ([0, 4, 6], [6], [6]), NORM | {"groups": 2}), ("group_norm", ([2, 0, 6], [6], [6]), NORM | {"groups": 2}),
    ("instance_norm", ([2, 0, 3], [3], [3]), NORM), ("batch_norm", ([0, 3], [3], [3]), NORM),
    ("batch_norm", ([4, 0], [0], [0]), NORM), ("update_statistics", ([0, 3], [3], [3]), {"decay": 0.1}),
    ("lstm", ([0, 3, 2], [8, 2], [8, 2], [8], None, None, None), {"reverse": False}),
    ("gru", ([0, 3, 2], [6, 2], [6, 2], [6], [6], None, None), {"reverse": False}),
    ("rnn", ([0, 3, 2], [2, 2], [2, 2], [2], None, None), {"reverse": True}),
    ("rnn", ([2, 0, 2], [2, 2], [2, 2], [2], None, None), {"reverse": False}),
    ("rnn", ([2, 3, 0], [2, 0], [2, 2], [2], None, None), {"reverse": False}),
    ("mean_squared_error", ([0, 3], [0, 3]), LOSS), ("mean_absolute_error", ([0, 3], [0, 3]), LOSS),
    ("half_mean_squared_error", ([0, 3], [0, 3]), LOSS), ("huber", ([0, 3], [0, 3]), {"delta": 1.0}),
    ("binary_cross_entropy", ([0, 3], [0, 3]), LOSS), ("cross_entropy", ([0, 3], [0, 3]), LOSS),
    ("kl_divergence", ([0, 3], [0, 3]), LOSS), ("cosine_similarity", ([0, 3], [0, 3]), NORM),
    ("cosine_similarity", ([3, 0], [3, 0]), NORM), ("cosine_loss", ([0, 3], [0, 3]), NORM),
    ("softmax_cross_entropy", ([0, 3], "i0"), {"with_options": False}),
    ("softmax_cross_entropy", ([0, 3], [0, 3]), {"with_options": False}),
    ("softmax_cross_entropy", ([2, 0], [2, 0]), {"with_options": False}),
    ("softmax_cross_entropy", ([0, 3], "i0", None, None), BY_CLASS),
    ("attention", ([0, 2, 3, 4], [0, 2, 5, 4], [0, 2, 5, 4]), {}), ("attention", ([1, 2, 0, 4], [1, 2, 5, 4], [1, 2, 5, 4]), {}),
    ("attention", ([1, 2, 3, 4], [1, 2, 0, 4], [1, 2, 0, 4]), {}), ("attention", ([1, 2, 3, 0], [1, 2, 5, 0], [1, 2, 5, 4]), {"scale": 1.0}),
    ("attention", ([3, 4], [5, 4], [5, 2]), {}),
    ("conv2d", ([1, 4, 4, 0], [2, 2, 0, 3]), {}), ("conv2d", ([1, 4, 4, 2], [2, 2, 2, 0]), {}),
    ("conv2d", ([1, 0, 3, 2], [2, 2, 2, 3]), {"padding": [1, 1, 0, 0]}), ("conv1d", ([0, 4, 2], [2, 2, 3]), {}),
    ("transposed_conv2d", ([1, 0, 3, 2], [2, 2, 3, 2]), {}),
    ("max_pool2d", ([1, 4, 4, 0],), {"size": [2, 2]}), ("average_pool2d", ([0, 4, 4, 2],), {"size": [2, 2]}),
    ("global_average_pool2d", ([0, 4, 4, 2],), {}), ("global_average_pool2d", ([1, 0, 4, 2],), {}),
    ("global_average_pool1d", ([1, 0, 2],), {}),
    ("one_hot", ("i0",), {"classes": 3}), ("one_hot", ("i2",), {"classes": 0}),
    ("scatter_rows", ([0, 2], "i0"), {"rows": 2}), ("scatter_rows", ([0, 2], "i0"), {"rows": 0}),
    ("gather_rows", ([3], "i1"), {}), ("take", ([3], "i0"), {"axes": [0]}), ("embedding", ("i0", [0, 3]), {}),
    ("logsumexp", ([3, 0],), {"axes": [0]}), ("logsumexp", ([3, 0],), {"axes": [1]}), ("max", ([3, 0],), {"axes": [0]}),
    ("softmax", ([3, 0],), {"axes": [1]}), ("argmax", ([0, 3],), {"axes": [1]}),
    ("linear", ([3], [4, 3]), {"flatten": False}), ("linear", ([3, 0], [4, 0]), {"flatten": True}), ("matmul", ([3], [3]), {}),
    ("diagonal", ([2, 3],), {"offset": 7}), ("tril", ([3],), {"diagonal": 0}), ("top_k", ([0],), {"k": 0, "axes": [0]}),
    ("repeat_interleave", ([2, 3],), {"axes": [1], "count": 0}), ("split", ([0],), {"axes": [0], "parts": 3}),
    ("unstack", ([0, 2],), {"axes": [0]}),
    ("remainder", ((1.0, -3.0, math.inf, 2.0), (0.0, math.inf, 2.0, -0.0)), {}),
    ("logsumexp", ((-math.inf,),), {"axes": [0]}),
)


def edge_calls():
    """Each in f32 and in f64."""
    generator = np.random.default_rng(7)

    def tensor(shape, type_):
        if isinstance(shape, str):
            return torch.zeros([int(shape[1:])], dtype=torch.int32)
        if isinstance(shape, tuple):
            return torch.tensor(shape, dtype=type_)
        return None if shape is None else torch.from_numpy(np.asarray(generator.normal(0, 1, shape))).to(type_)

    return [Call(OPS[name], [tensor(shape, type_) for shape in shapes], options, "an edge")
            for name, shapes, options in EDGES for type_ in (torch.float32, torch.float64)]
