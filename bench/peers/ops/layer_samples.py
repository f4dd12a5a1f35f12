"""Translations of the samples of products, convolutions, pools, norms and losses (samples.py)."""

import torch

from ops.samples import index, need, same, translation


@translation("matmul", "mm", "bmm", "mv", "dot")
def matmul(a, b):
    rows, columns = a.dim() == 1, b.dim() == 1

    def layout(y):
        y = y.unsqueeze(-1) if columns else y
        return y.unsqueeze(-2) if rows else y
    return "matmul", [a.unsqueeze(0) if rows else a, b.unsqueeze(1) if columns else b], {}, layout


@translation("einsum")
def einsum(tensors, equation):
    return "einsum", list(tensors), {"equation": equation}


@translation("nn.functional.linear")
def linear(x, w, b=None):
    return "linear", [x, w] + ([] if b is None else [b]), {"flatten": False}


@translation("nn.functional.scaled_dot_product_attention")
def attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    need(dropout_p == 0, "dropout inside")
    need(attn_mask is None or attn_mask.dtype == torch.bool, "a mask of numbers")
    need(not is_causal or q.shape[-2] == k.shape[-2], "causal with other numbers of keys than of queries")
    need(attn_mask is None or not is_causal, "a mask and causal")
    options = {"causal": is_causal} | ({} if scale is None else {"scale": scale})
    return "attention", [q, k, v] + ([] if attn_mask is None else [attn_mask]), options


def pair(value):
    return list(value) if isinstance(value, (tuple, list)) and len(value) == 2 else \
        [value[0]] * 2 if isinstance(value, (tuple, list)) else [value, value]


def single(value):
    return value[0] if isinstance(value, (tuple, list)) else value


def in_batch(x, rank):
    """With a batch axis, the channels last; and the way back of a result."""
    alone = x.dim() == rank - 1
    x = x.unsqueeze(0) if alone else x
    return x.movedim(1, -1), lambda y: (y.unsqueeze(0) if alone else y).movedim(1, -1)


@translation("nn.functional.conv2d")
def conv2d(x, w, b=None, stride=1, padding=0, dilation=1, groups=1):
    x, layout = in_batch(x, 4)
    if isinstance(padding, str):
        padding = "same" if padding == "same" else [0] * 4
    else:
        padding = [n for n in pair(padding) for _ in range(2)]
    return "conv2d", [x, w.permute(2, 3, 1, 0)] + ([] if b is None else [b]), {
        "stride": pair(stride), "padding": padding, "dilation": pair(dilation), "groups": groups}, layout


@translation("nn.functional.conv1d")
def conv1d(x, w, b=None, stride=1, padding=0, dilation=1, groups=1):
    x, layout = in_batch(x, 3)
    if isinstance(padding, str):
        padding = "same" if padding == "same" else [0, 0]
    else:
        padding = [single(padding)] * 2
    return "conv1d", [x, w.permute(2, 1, 0)] + ([] if b is None else [b]), {
        "stride": single(stride), "padding": padding, "dilation": single(dilation), "groups": groups}, layout


@translation("nn.functional.conv_transpose2d")
def conv_transpose2d(x, w, b=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    need(groups == 1 and pair(dilation) == [1, 1], "groups or a dilation")
    x, layout = in_batch(x, 4)
    cropping = [part for cut, more in zip(pair(padding), pair(output_padding), strict=True) for part in (cut, cut - more)]
    need(min(cropping) >= 0, "padding of the output")
    return "transposed_conv2d", [x, w.permute(2, 3, 1, 0)] + ([] if b is None else [b]), {
        "stride": pair(stride), "cropping": cropping}, layout


def check_rounding(sizes, window, stride, padding, ceil_mode):
    """Windows that lie partly behind the padding are none of ours."""
    parts = [n + 2 * p - k for n, k, p in zip(sizes, window, padding, strict=True)]
    need(not ceil_mode or all(part % s == 0 for part, s in zip(parts, stride, strict=True)), "sizes that are rounded up")


def pool(name, axes):
    several = pair if axes == 2 else lambda value: [single(value)]

    def translate(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None,
                  dilation=1, return_indices=False):
        need(divisor_override is None, "another divisor")
        need(set(several(dilation)) == {1}, "dilation")
        x, layout = in_batch(x, axes + 2)
        window, padding = several(kernel_size), several(padding)
        stride = several(stride) if stride not in (None, (), []) else window
        check_rounding(x.shape[1:-1], window, stride, padding, ceil_mode)
        options = {"padding": [n for n in padding for _ in range(2)]}
        options |= {"size": window, "stride": stride} if axes == 2 else {"size": window[0], "stride": stride[0]}
        if name.startswith("average"):
            options["count_padding"] = count_include_pad
        return name, [x], options, layout
    return translate


def maximum(translate):
    """PyTorch's arguments of max pools stand in another order."""
    def reordered(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        return translate(x, kernel_size, stride, padding, ceil_mode, dilation=dilation)
    return reordered


translation("nn.functional.avg_pool1d")(pool("average_pool1d", 1))
translation("nn.functional.avg_pool2d")(pool("average_pool2d", 2))
translation("nn.functional.max_pool1d")(maximum(pool("max_pool1d", 1)))
translation("nn.functional.max_pool2d")(maximum(pool("max_pool2d", 2)))


# --- Norms


def channels(x):
    need(x.dim() > 1, "one axis")
    return x.movedim(1, -1), x.new_ones(x.shape[1]), x.new_zeros(x.shape[1]), lambda y: y.movedim(1, -1)


def given(value, other):
    return other if value is None else value


@translation("nn.functional.batch_norm")
def batch_norm(x, mean, variance, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    x, ones, zeros, layout = channels(x)
    tensors = [x, given(weight, ones), given(bias, zeros)]
    if training:
        return "batch_norm", tensors, {"epsilon": eps}, layout
    return "batch_norm_inference", [*tensors, mean, variance], {"epsilon": eps}, layout


@translation("nn.functional.group_norm")
def group_norm(x, groups, weight=None, bias=None, eps=1e-5):
    need(eps >= 0, "an epsilon below 0")
    x, ones, zeros, layout = channels(x)
    return "group_norm", [x, given(weight, ones), given(bias, zeros)], {"groups": groups, "epsilon": eps}, layout


@translation("nn.functional.instance_norm")
def instance_norm(x, weight=None, bias=None, eps=1e-5, use_input_stats=True, **_):
    need(use_input_stats, "running statistics")
    x, ones, zeros, layout = channels(x)
    return "instance_norm", [x, given(weight, ones), given(bias, zeros)], {"epsilon": eps}, layout


def flat(x, shape):
    """What is normalised as the last axis, and the same of a result."""
    def layout(y):
        return y.reshape(*y.shape[:y.dim() - len(shape)], -1) if y.numel() else y
    need(x.numel() > 0 or len(shape) == 1, "several axes of no elements")
    return layout(x), layout


@translation("nn.functional.layer_norm")
def layer_norm(x, shape, weight=None, bias=None, eps=1e-5):
    need(eps >= 0, "an epsilon below 0")
    x, layout = flat(x, shape)
    n = x.shape[-1]
    tensors = [x, x.new_ones(n) if weight is None else weight.reshape(-1), x.new_zeros(n) if bias is None else bias.reshape(-1)]
    return "layer_norm", tensors, {"epsilon": eps}, layout


@translation("nn.functional.rms_norm")
def rms_norm(x, shape, weight=None, eps=None):
    need(eps is not None, "an epsilon that depends on the type")
    need(eps >= 0, "an epsilon below 0")
    x, layout = flat(x, shape)
    return "rms_norm", [x, x.new_ones(x.shape[-1]) if weight is None else weight.reshape(-1)], {"epsilon": eps}, layout


@translation("softmax", variants=("",))
def softmax(x, dim, dtype=None):
    need(x.dim() > 0, "an axis of a number")
    return "softmax", [x], {"axes": [dim]}, same


@translation("log_softmax", variants=("",))
def log_softmax(x, dim, dtype=None):
    need(x.dim() > 0, "an axis of a number")
    return "log_softmax", [x], {"axes": [dim]}, same


# --- Losses


def mean_only(name):
    def translate(x, t, reduction="mean", **options):
        need(reduction == "mean", "the reduction " + reduction)
        need(not options, "options: " + ", ".join(options))
        return name, [x, t], {}
    return translate


translation("nn.functional.mse_loss")(mean_only("mean_squared_error"))
translation("nn.functional.l1_loss")(mean_only("mean_absolute_error"))
translation("nn.functional.binary_cross_entropy_with_logits")(mean_only("binary_cross_entropy"))


@translation("nn.functional.huber_loss")
def huber(x, t, reduction="mean", delta=1.0):
    need(reduction == "mean", "the reduction " + reduction)
    return "huber", [x, t], {"delta": delta}


@translation("nn.functional.kl_div")
def kl_div(y, t, reduction="mean", log_target=False):
    need(reduction == "batchmean" and not log_target, "another reduction, or logarithms as the target")
    need(y.dim() > 1, "one axis: our N is 1")
    return "kl_divergence", [y, t], {}


@translation("nn.functional.cosine_similarity")
def cosine_similarity(a, b, dim=1, eps=1e-8):
    need(a.dim() > 0, "numbers")
    return "cosine_similarity", [a, b], {"axes": [dim], "epsilon": eps}


@translation("nn.functional.cross_entropy")
def cross_entropy(x, t, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    need(reduction != "none", "the reduction none")
    options = {"with_options": True, "label_smoothing": label_smoothing, "mean": "weights" if reduction == "mean" else "none"}
    by_class = not t.is_floating_point()
    if x.dim() == 1:
        x, t = x.unsqueeze(0), t.unsqueeze(0)
    if by_class:
        return "softmax_cross_entropy", [x.movedim(1, -1), index(t), weight, None], options | {"ignore_index": ignore_index}
    return "softmax_cross_entropy", [x.movedim(1, -1), t.movedim(1, -1), weight, None], options
