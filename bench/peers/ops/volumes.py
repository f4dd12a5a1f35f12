"""Convolutions and pools of volumes, images of another size, and the loss of targets that are not aligned; and their peers."""

import math

import torch
import torch.nn.functional as F

from ops.calls import ANY, EXACT, Bound, op
from ops.layers import SUM, WINDOW_NAME, drawn_padding, ends, whole

NORM, STEPS = Bound("norm", 4, 32), Bound("norm", 16, 64)
TURN = Bound("norm", 4, 4096)  # f64: the power has two units in its last place, and angles are up to 1,000 times it


def sides(x, windows, stride, padding):
    """What is added around a volume with the channels last, as F.pad takes it for one with the channels first."""
    parts = [padding] * 3 if padding == "same" else [padding[i:i + 2] for i in (0, 2, 4)]
    found = [ends(x.shape[i + 1], windows[i], stride[i], parts[i]) for i in range(3)]
    return [count for pair in reversed(found) for count in pair]


def conv3d(inputs, options):
    x, w = inputs[:2]
    windows = [(n - 1) * d + 1 for n, d in zip(w.shape[:3], options["dilation"], strict=True)]
    volume = F.pad(x.permute(0, 4, 1, 2, 3), sides(x, windows, options["stride"], options["padding"]))
    y = F.conv3d(volume.contiguous(), w.permute(4, 3, 0, 1, 2).contiguous(), inputs[2] if len(inputs) > 2 else None,
                 options["stride"], 0, options["dilation"], options["groups"])
    return y.permute(0, 2, 3, 4, 1)


def volumes(r):
    kernel, dilation = [r.whole(1, 3) for _ in range(3)], [r.pick((1, 1, 2)) for _ in range(3)]
    groups = r.pick((1, 1, 2))
    channels, filters = groups * r.pick((1, 2, 3)), groups * r.pick((1, 2, 5))
    size = [max(r.whole(2, 6), (n - 1) * d + 1) for n, d in zip(kernel, dilation, strict=True)]
    x, weights = r.normal([r.pick((0, 1, 2)), *size, channels]), r.normal([*kernel, channels // groups, filters])
    tensors = [r.seldom_special(x), weights] + ([r.normal([filters])] if r.chance(0.4) else [])
    return tensors, {"stride": [r.whole(1, 2) for _ in range(3)], "dilation": dilation, "groups": groups,
                     "padding": drawn_padding(r, kernel)}


def pool(largest):
    def peer(inputs, options):
        x, window = inputs[0], options["size"]
        stride = options.get("stride", window)
        around = sides(x, window, stride, options["padding"])
        volume = x.permute(0, 4, 1, 2, 3)
        if largest:
            return F.max_pool3d(F.pad(volume, around, value=-math.inf), window, stride).permute(0, 2, 3, 4, 1)
        ones = F.pad(torch.ones_like(volume[:1, :1].detach()), around, value=1.0 if options["count_padding"] else 0.0)
        sums = F.avg_pool3d(F.pad(volume, around), window, stride, divisor_override=1)
        return (sums / F.avg_pool3d(ones, window, stride, divisor_override=1)).permute(0, 2, 3, 4, 1)
    return peer


def pooled(average):
    def draw(r):
        window = [r.whole(1, 3) for _ in range(3)]
        x = r.normal([r.pick((1, 2, 3))] + [max(n, r.whole(2, 6)) for n in window] + [r.pick((1, 2, 3, 17))])
        options = {"size": window, "padding": drawn_padding(r, window)}
        if r.chance(0.6):
            options["stride"] = [r.whole(1, 3) for _ in range(3)]
        if average:
            options["count_padding"] = r.chance(0.5)
        x = r.seldom_special(x)
        return [torch.where(x == -math.inf, math.inf, x)], options  # the peer's padding is -inf
    return draw


def other_sizes(r):
    x = r.normal([r.pick((1, 2, 3)), r.whole(1, 9), r.whole(1, 9), r.pick((1, 2, 3, 17))])
    options = {"method": r.pick(("nearest", "bilinear"))}
    if options["method"] == "bilinear":
        options["align_corners"] = r.chance(0.4)
    if r.chance(0.3):
        return [x], options | {"factor": r.pick((2, 3))}
    return [x], options | {"size": [r.whole(1, 19), r.whole(1, 19)]}


def resize2d(inputs, options):
    x, factor = inputs[0].permute(0, 3, 1, 2), options.get("factor")
    size = options.get("size") or [n * factor for n in x.shape[2:]]
    if options["method"] == "nearest":
        return F.interpolate(x, size, mode="nearest-exact").permute(0, 2, 3, 1)
    return F.interpolate(x, size, mode="bilinear", align_corners=options["align_corners"]).permute(0, 2, 3, 1)


def unaligned(r):
    batch, time, classes, positions = r.whole(1, 4), r.whole(1, 12), r.whole(2, 7), r.whole(1, 4)
    blank = r.whole(0, classes - 1)
    targets = r.indices([batch, positions], classes - 1)
    targets = torch.where(targets >= blank, targets + 1, targets)
    lengths, wanted = r.indices([batch], time) + 1, r.indices([batch], positions + 1)
    options = {"blank": blank, "reduction": r.pick(("mean", "sum", "none")), "zero_infinity": True}
    return [r.normal([batch, time, classes], 2), targets, lengths, wanted], options


def ctc_loss(inputs, options):
    x, targets, lengths, wanted = inputs
    return F.ctc_loss(torch.log_softmax(x, -1).movedim(0, 1), targets.long(), lengths.long(), wanted.long(), options["blank"],
                      options["reduction"], options["zero_infinity"])


def moving(r):
    shape = [r.whole(1, 5) for _ in range(r.whole(0, 2))]
    size, dilation = r.whole(1, 4), r.pick((1, 1, 1, 2))
    axis = r.whole(0, len(shape))
    shape.insert(axis, (size - 1) * dilation + r.whole(1, 9))
    return [r.normal(shape)], {"axes": [axis], "size": size, "step": r.whole(1, 4), "dilation": dilation}


def unfold(inputs, options):
    size, dilation = options["size"], options["dilation"]
    return inputs[0].unfold(options["axes"][0], (size - 1) * dilation + 1, options["step"])[..., ::dilation]



def given_sizes(r):
    x = r.seldom_special(r.normal([r.pick((1, 2, 3)), r.whole(1, 12), r.whole(1, 12), r.pick((1, 2, 3, 8, 17))]))
    return [x], {"size": [r.whole(1, 12), r.whole(1, 12)]}


def given_length(r):
    return [r.seldom_special(r.normal([r.pick((1, 2, 3)), r.whole(1, 12), r.pick((1, 2, 3, 8, 17))]))], {"size": r.whole(1, 12)}


def given_volume(r):
    x = r.seldom_special(r.normal([r.pick((1, 2)), r.whole(1, 7), r.whole(1, 7), r.whole(1, 7), r.pick((1, 2, 5))]))
    return [x], {"size": [r.whole(1, 7) for _ in range(3)]}


def adaptive(function):
    return lambda inputs, options: function(inputs[0].movedim(-1, 1), options["size"]).movedim(1, -1)



def tiles(r):
    window = [r.whole(1, 4), r.whole(1, 4)]
    x = r.normal([r.pick((1, 2, 3))] + [max(n, r.whole(2, 12)) for n in window] + [r.pick((1, 2, 3, 8, 17))])
    padding = r.whole(0, min(window) // 2)
    options = {"size": window, "padding": [padding] * 4}
    return [x], options | ({"stride": [r.whole(1, 3), r.whole(1, 3)]} if r.chance(0.5) else {})


def with_index(inputs, options):
    y, index = F.max_pool2d(inputs[0].movedim(-1, 1), options["size"], options.get("stride"), options["padding"][0],
                            return_indices=True)
    return y.movedim(1, -1), index.movedim(1, -1).int()


def places(r):
    batch, channels, size = r.pick((1, 2, 3)), r.pick((1, 2, 3, 8, 17)), [r.whole(2, 8), r.whole(2, 8)]
    height, width = r.whole(1, size[0]), r.whole(1, size[1])
    order = torch.argsort(r.normal([batch, size[0] * size[1], channels]).float(), 1)[:, :height * width]
    return [r.normal([batch, height, width, channels]), order.reshape(batch, height, width, channels).int()], {"size": size}


def unpooled(inputs, options):
    y, index = (x.movedim(-1, 1) for x in inputs)
    return torch.ops.aten.max_unpool2d(y, index.long(), options["size"]).movedim(1, -1)


def turned(inputs, options):
    """Pairs of features as complex numbers, times those of their angles."""
    x, pairs = inputs[0], inputs[0].shape[-1] // 2
    places = torch.arange(options["first"], options["first"] + x.shape[-2], dtype=torch.float64)
    angles = places[:, None] * options["base"] ** (-torch.arange(pairs, dtype=torch.float64) / pairs)
    turn = torch.polar(torch.ones_like(angles), angles).to(torch.complex64 if x.dtype == torch.float32 else torch.complex128)
    if options["interleaved"]:
        return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (pairs, 2))) * turn).flatten(-2)
    y = torch.complex(x[..., :pairs], x[..., pairs:]) * turn
    return torch.cat((y.real, y.imag), -1)


def positions(r):
    shape = [r.pick((1, 2, 3)) for _ in range(r.whole(0, 2))] + [r.whole(1, 40), 2 * r.whole(1, 20)]
    return [r.normal(shape)], {"base": r.pick((10000, 500)), "first": r.pick((0, 0, 7, 1000)), "interleaved": r.chance(0.5)}


def channels_around(inputs, options):
    return F.local_response_norm(inputs[0].movedim(-1, 1), options["size"], options["alpha"], options["beta"],
                                 options["k"]).movedim(1, -1)


def with_channels(r):
    x = r.normal([r.pick((1, 2, 3)) for _ in range(r.whole(2, 4))] + [r.pick((1, 2, 3, 8, 17))])
    return [r.seldom_special(x)], {"size": r.whole(1, 7), "alpha": r.pick((1e-4, 0.5)), "beta": r.pick((0.75, 0.5, 1)),
                                   "k": r.pick((1, 2))}


def cut_ends(cropping, size, stride):
    """What is cut off an axis, in front and behind."""
    if cropping not in ("same", "causal"):
        return cropping
    front = (size - stride) // 2 if cropping == "same" else 0
    return front, size - stride - front


def spread(axes):
    """conv_transpose1d or conv_transpose3d, then cut."""
    function = {1: F.conv_transpose1d, 3: F.conv_transpose3d}[axes]

    def peer(inputs, options):
        x, w = inputs[:2]
        stride, cropping = options["stride"], options["cropping"]
        strides = [stride] if axes == 1 else stride
        parts = [cropping] * axes if axes == 1 or cropping == "same" else [cropping[i:i + 2] for i in (0, 2, 4)]
        y = function(x.movedim(-1, 1).contiguous(), w.movedim((-1, -2), (0, 1)).contiguous(),
                     inputs[2] if len(inputs) > 2 else None, strides)
        for axis in range(axes):
            front, behind = cut_ends(parts[axis], w.shape[axis], strides[axis])
            y = y.narrow(axis + 2, front, y.shape[axis + 2] - front - behind)
        return y.movedim(1, -1)
    return peer


def to_spread(axes):
    def draw(r):
        kernel = [r.whole(1, 4) for _ in range(axes)]
        stride = [r.whole(1, n) for n in kernel]
        x = r.normal([r.pick((0, 1, 2)), *(r.whole(2, 5) for _ in range(axes)), r.pick((1, 2, 3))])
        weights = r.normal([*kernel, r.pick((1, 2, 3)), x.shape[-1]])
        cropping = [r.whole(0, (n - 1) // 2) for n in kernel for _ in range(2)]
        tensors = [r.seldom_special(x), weights] + ([r.normal([weights.shape[-2]])] if r.chance(0.4) else [])
        words = ("same", "causal") if axes == 1 else ("same",)
        return tensors, {"stride": stride if axes == 3 else stride[0], "cropping": r.pick((cropping, cropping, *words))}
    return draw


op("unfold", "torch.Tensor.unfold", unfold, moving, EXACT, SUM, types=ANY)
op("conv3d", WINDOW_NAME + "pad, conv3d", conv3d, volumes, SUM, SUM)
op("max_pool3d", WINDOW_NAME + "pad, max_pool3d", pool(True), pooled(False), EXACT, SUM)
op("average_pool3d", WINDOW_NAME + "pad, avg_pool3d", pool(False), pooled(True), SUM, SUM)
op("global_max_pool3d", WINDOW_NAME + "max_pool3d", lambda i, _: F.max_pool3d(i[0].movedim(-1, 1), tuple(i[0].shape[1:4]))
   .movedim(1, -1), whole(3), EXACT, SUM)
op("global_average_pool3d", "torch.mean", lambda i, _: i[0].mean((1, 2, 3), keepdim=True), whole(3), SUM, SUM)
op("resize2d", WINDOW_NAME + "interpolate", resize2d, other_sizes, NORM, STEPS)
op("ctc_loss", WINDOW_NAME + "ctc_loss of log_softmax", ctc_loss, unaligned, Bound("norm", 8, 32), STEPS)
op("adaptive_average_pool2d", WINDOW_NAME + "adaptive_avg_pool2d", adaptive(F.adaptive_avg_pool2d), given_sizes, SUM, SUM)
op("adaptive_max_pool2d", WINDOW_NAME + "adaptive_max_pool2d", adaptive(F.adaptive_max_pool2d), given_sizes, EXACT, SUM)
op("max_pool2d_with_index", WINDOW_NAME + "max_pool2d", with_index, tiles, EXACT, SUM)
op("max_unpool2d", "torch.ops.aten.max_unpool2d", unpooled, places, EXACT, EXACT)
op("rotary_embedding", "torch.polar, a product of complex numbers", turned, positions, TURN, TURN)
op("cross_channel_norm", WINDOW_NAME + "local_response_norm", channels_around, with_channels, NORM, STEPS)
op("transposed_conv1d", WINDOW_NAME + "conv_transpose1d, cut", spread(1), to_spread(1), SUM, SUM)
op("transposed_conv3d", WINDOW_NAME + "conv_transpose3d, cut", spread(3), to_spread(3), SUM, SUM)
op("adaptive_average_pool1d", WINDOW_NAME + "adaptive_avg_pool1d", adaptive(F.adaptive_avg_pool1d), given_length, SUM, SUM)
op("adaptive_max_pool1d", WINDOW_NAME + "adaptive_max_pool1d", adaptive(F.adaptive_max_pool1d), given_length, EXACT, SUM)
op("adaptive_average_pool3d", WINDOW_NAME + "adaptive_avg_pool3d", adaptive(F.adaptive_avg_pool3d), given_volume, SUM, SUM)
op("adaptive_max_pool3d", WINDOW_NAME + "adaptive_max_pool3d", adaptive(F.adaptive_max_pool3d), given_volume, EXACT, SUM)
