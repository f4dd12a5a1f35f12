"""Products, convolutions, pools, norms, attention and recurrences, and their peers. Ours have the channels last."""

import math

import torch
import torch.nn.functional as F

from ops.calls import EXACT, Bound, op

SUM = Bound("sum", 4)


# --- Products


def matrices(r):
    n, k, m = r.size(), r.size(), r.size()
    leading = [[], [r.size()], [r.size(), 2]][r.whole(0, 2)]
    other = [1 if r.chance(0.3) else size for size in leading][r.whole(0, len(leading)):]
    transpose_a, transpose_b = r.chance(0.3), r.chance(0.3)
    a = r.normal(leading + ([k, n] if transpose_a else [n, k]))
    b = r.normal(other + ([m, k] if transpose_b else [k, m]))
    return [r.seldom_special(a), b], {"transpose_a": transpose_a, "transpose_b": transpose_b}


def matmul(inputs, options):
    a, b = inputs
    return torch.matmul(a.mT if options.get("transpose_a") else a, b.mT if options.get("transpose_b") else b)


EQUATIONS = ("ij,jk->ik", "bij,bjk->bik", "ij->ji", "ij->", "i,j->ij", "ij,ij->i", "bhqd,bhkd->bhqk", "ij,jk,kl->il", "ij,jk",
             "ba", "i,i->", "bij,jk->bik", "abc,cd->abd", "ij,kj->ik", "ab,cb,db->acd", "i,i,i->i", "bi,bj->bij", "abc->ca")


def products(r):
    equation = r.pick(EQUATIONS)
    sizes = {letter: r.pick((1, 2, 3, 5, 7, 0 if r.chance(0.1) else 4)) for letter in equation if letter.isalpha()}
    operands = [r.normal([sizes[letter] for letter in part]) for part in equation.split("->")[0].split(",")]
    return operands, {"equation": equation}


def rows_times_weights(r):
    x = r.normal(r.shape(2, 4))
    flatten = r.chance(0.5)
    features = math.prod(x.shape[1:]) if flatten else x.shape[-1]
    weights = r.normal([r.size(), features])
    return [r.seldom_special(x), weights] + ([r.normal([weights.shape[0]])] if r.chance(0.5) else []), {"flatten": flatten}


def linear(inputs, options):
    x = inputs[0].reshape(inputs[0].shape[0], math.prod(inputs[0].shape[1:])) if options["flatten"] else inputs[0]
    return F.linear(x, inputs[1], inputs[2] if len(inputs) > 2 else None)


def queries(r):
    n, heads, groups = r.pick((1, 2, 3)), r.pick((1, 2, 3)), r.pick((1, 1, 2))
    q, k, depth, features = r.pick((1, 2, 5, 7, 16)), r.pick((1, 3, 5, 17)), r.pick((1, 2, 4, 8, 13)), r.pick((1, 3, 8))
    causal = r.chance(0.4)
    if causal:
        k = q
    tensors = [r.normal([n, heads * groups, q, depth]), r.normal([n, heads, k, depth]), r.normal([n, heads, k, features])]
    options = {"causal": causal} | ({"scale": r.pick((0.5, 1.0, 0.1))} if r.chance(0.3) else {})
    if not causal and r.chance(0.4):
        tensors.append(r.mask([q, k] if r.chance(0.5) else [n, 1, q, k]))
    return tensors, options


def attention(inputs, options):
    q, k, v = inputs[:3]
    mask = inputs[3] if len(inputs) > 3 else None
    grouped = q.dim() > 2 and q.shape[-3] != k.shape[-3]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=options.get("causal", False),
                                          scale=options.get("scale"), enable_gqa=grouped)


op("matmul", "torch.matmul", matmul, matrices, SUM, SUM)
op("einsum", "torch.einsum", lambda i, o: torch.einsum(o["equation"], *i), products, SUM, SUM)
op("linear", "torch.nn.functional.linear", linear, rows_times_weights, SUM, SUM)
op("attention", "torch.nn.functional.scaled_dot_product_attention", attention, queries,
   Bound("norm", 4, 64), Bound("norm", 16, 256))


# --- Windows


def ends(size, window, stride, padding):
    """What is added before and after an axis."""
    if padding == "same":
        total = max((-(-size // stride) - 1) * stride + window - size, 0)
        return total // 2, total - total // 2
    return (window - 1, 0) if padding == "causal" else tuple(padding)


def pair(value):
    return list(value) if isinstance(value, (list, tuple)) else [value, value]


def image_ends(x, windows, stride, padding):
    """Top, bottom, left, right of an image with the channels last."""
    sides = [padding[:2], padding[2:]] if isinstance(padding, (list, tuple)) else [padding, padding]
    return [*ends(x.shape[1], windows[0], stride[0], sides[0]), *ends(x.shape[2], windows[1], stride[1], sides[1])]


def conv2d(inputs, options):
    x, w = inputs[:2]
    stride, dilation = pair(options.get("stride", 1)), pair(options.get("dilation", 1))
    windows = [(n - 1) * d + 1 for n, d in zip(w.shape[:2], dilation, strict=True)]
    top, bottom, left, right = image_ends(x, windows, stride, options.get("padding", [0] * 4))
    image = F.pad(x.permute(0, 3, 1, 2), (left, right, top, bottom))
    y = F.conv2d(image.contiguous(), w.permute(3, 2, 0, 1).contiguous(), inputs[2] if len(inputs) > 2 else None, stride, 0, dilation,
                 options.get("groups", 1))
    return y.permute(0, 2, 3, 1)


def as_rows(options):
    """Options of sequences as those of images one row high."""
    found = {name: [1, options[name]] for name in ("stride", "dilation", "size") if name in options}
    if "padding" in options:
        padding = options["padding"]
        found["padding"] = padding if padding == "same" else [0, 0, *padding] if padding != "causal" else padding
    return options | found


def conv1d(inputs, options):
    x, w = inputs[:2]
    if options.get("padding") == "causal":
        options = options | {"padding": [(w.shape[0] - 1) * options.get("dilation", 1), 0]}
    return conv2d([x.unsqueeze(1), w.unsqueeze(0), *inputs[2:]], as_rows(options)).squeeze(1)


def drawn_padding(r, sizes):
    padding = []
    for size in sizes:
        padding += [r.whole(0, size - 1), r.whole(0, size - 1)]
    return r.pick((padding, padding, "same", [0] * len(padding)))


def images(r):
    h, w = r.whole(3, 11), r.whole(3, 13)
    kernel, dilation = [r.whole(1, 3), r.whole(1, 3)], [r.pick((1, 1, 2)), r.pick((1, 1, 2))]
    groups = r.pick((1, 1, 1, 2, 3))
    channels, filters = groups * r.pick((1, 2, 3, 5)), groups * r.pick((1, 2, 3, 7, 16))
    h, w = max(h, (kernel[0] - 1) * dilation[0] + 1), max(w, (kernel[1] - 1) * dilation[1] + 1)
    x, weights = r.normal([r.pick((0, 1, 2, 3, 5)), h, w, channels]), r.normal([*kernel, channels // groups, filters])
    tensors = [r.seldom_special(x), weights] + ([r.normal([filters])] if r.chance(0.4) else [])
    return tensors, {"stride": [r.whole(1, 3), r.whole(1, 3)], "dilation": dilation, "groups": groups,
                     "padding": drawn_padding(r, kernel)}


def sequences(r):
    length, size, dilation = r.whole(5, 19), r.whole(1, 4), r.pick((1, 1, 2))
    groups = r.pick((1, 1, 2))
    channels, filters = groups * r.pick((1, 2, 3, 5)), groups * r.pick((1, 2, 3, 7, 16))
    length = max(length, (size - 1) * dilation + 1)
    x, weights = r.normal([r.pick((0, 1, 2, 3)), length, channels]), r.normal([size, channels // groups, filters])
    tensors = [r.seldom_special(x), weights] + ([r.normal([filters])] if r.chance(0.4) else [])
    padding = r.pick((drawn_padding(r, [size]), "causal"))
    return tensors, {"stride": r.whole(1, 3), "dilation": dilation, "groups": groups, "padding": padding}


def transposed_conv2d(inputs, options):
    x, w = inputs[:2]
    stride, cropping = pair(options.get("stride", 1)), options.get("cropping", [0] * 4)
    y = F.conv_transpose2d(x.permute(0, 3, 1, 2).contiguous(), w.permute(3, 2, 0, 1).contiguous(),
                           inputs[2] if len(inputs) > 2 else None, stride)
    if cropping == "same":
        totals = [k - s for k, s in zip(w.shape[:2], stride, strict=True)]
        cropping = [part for total in totals for part in (total // 2, total - total // 2)]
    top, bottom, left, right = cropping
    return y[:, :, top:y.shape[2] - bottom, left:y.shape[3] - right].permute(0, 2, 3, 1)


def small_images(r):
    kernel = [r.whole(1, 4), r.whole(1, 4)]
    stride = [r.whole(1, kernel[0]), r.whole(1, kernel[1])]
    x = r.normal([r.pick((0, 1, 2, 3)), r.whole(2, 7), r.whole(2, 7), r.pick((1, 2, 3, 5))])
    weights = r.normal([*kernel, r.pick((1, 2, 3, 8)), x.shape[3]])
    cropping = r.pick(([0] * 4, "same", [r.whole(0, (n - 1) // 2) for n in kernel for _ in range(2)]))
    tensors = [r.seldom_special(x), weights] + ([r.normal([weights.shape[2]])] if r.chance(0.4) else [])
    return tensors, {"stride": stride, "cropping": cropping}


def pool(largest):
    def peer(inputs, options):
        x, window = inputs[0], pair(options["size"])
        stride = [s or n for s, n in zip(pair(options.get("stride") or 0), window, strict=True)]
        top, bottom, left, right = image_ends(x, window, stride, options.get("padding", [0] * 4))
        image = x.permute(0, 3, 1, 2)
        if largest:
            return F.max_pool2d(F.pad(image, (left, right, top, bottom), value=-math.inf), window, stride).permute(0, 2, 3, 1)
        ones = F.pad(torch.ones_like(image[:1, :1].detach()), (left, right, top, bottom),
                     value=1.0 if options.get("count_padding") else 0.0)
        sums = F.avg_pool2d(F.pad(image, (left, right, top, bottom)), window, stride, divisor_override=1)
        return (sums / F.avg_pool2d(ones, window, stride, divisor_override=1)).permute(0, 2, 3, 1)
    return peer


def pool1d(largest):
    def peer(inputs, options):
        options = as_rows(options | {"stride": options.get("stride") or options["size"]})
        return pool(largest)([inputs[0].unsqueeze(1)], options).squeeze(1)
    return peer


def pooled(axes, average):
    def draw(r):
        window = [r.whole(1, 4) for _ in range(axes)]
        x = r.normal([r.pick((0, 1, 2, 3))] + [max(n, r.whole(3, 11)) for n in window] + [r.pick((1, 2, 3, 8, 17))])
        stride = [r.whole(1, 4) for _ in range(axes)]
        options = {"size": window if axes == 2 else window[0], "padding": drawn_padding(r, window)}
        if r.chance(0.6):
            options["stride"] = stride if axes == 2 else stride[0]
        if average:
            options["count_padding"] = r.chance(0.5)
        x = r.seldom_special(x)
        return [torch.where(x == -math.inf, math.inf, x)], options  # the peer's padding is -inf
    return draw


def whole(axes):
    return lambda r: ([r.seldom_special(r.normal([r.whole(1, 3)] + [r.whole(1, 9) for _ in range(axes)] + [r.whole(1, 5)]))], {})


WINDOW_NAME = "torch.nn.functional."
op("conv1d", WINDOW_NAME + "pad, conv2d", conv1d, sequences, SUM, SUM)
op("conv2d", WINDOW_NAME + "pad, conv2d", conv2d, images, SUM, SUM)
op("transposed_conv2d", WINDOW_NAME + "conv_transpose2d, cut", transposed_conv2d, small_images, SUM, SUM)
op("max_pool1d", WINDOW_NAME + "pad, max_pool2d", pool1d(True), pooled(1, False), EXACT, SUM)
op("max_pool2d", WINDOW_NAME + "pad, max_pool2d", pool(True), pooled(2, False), EXACT, SUM)
op("average_pool1d", WINDOW_NAME + "pad, avg_pool2d", pool1d(False), pooled(1, True), SUM, SUM)
op("average_pool2d", WINDOW_NAME + "pad, avg_pool2d", pool(False), pooled(2, True), SUM, SUM)
op("global_max_pool1d", "torch.amax", lambda i, _: F.max_pool2d(i[0].movedim(-1, 1).unsqueeze(2), (1, i[0].shape[1]))
   .squeeze(2).movedim(1, -1), whole(1), EXACT, SUM)
op("global_max_pool2d", WINDOW_NAME + "max_pool2d", lambda i, _: F.max_pool2d(i[0].movedim(-1, 1), tuple(i[0].shape[1:3]))
   .movedim(1, -1), whole(2), EXACT, SUM)
op("global_average_pool1d", "torch.mean", lambda i, _: i[0].mean(1, keepdim=True), whole(1), SUM, SUM)
op("global_average_pool2d", "torch.mean", lambda i, _: i[0].mean((1, 2), keepdim=True), whole(2), SUM, SUM)
