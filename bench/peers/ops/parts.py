"""Parts of tensors, and elements by their indices, and their peers."""

import torch
import torch.nn.functional as F

from ops.calls import ANY, EXACT, Bound, op

GRADIENT, GATE = Bound("sum", 4), Bound("norm", 4)


def joined(new_axis):
    def draw(r):
        shape = r.shape(0 if new_axis else 1, 3, 1000)
        axis = r.whole(-len(shape) - new_axis, len(shape) - 1 + new_axis)
        tensors = []
        for _ in range(r.whole(1, 4)):
            one = list(shape)
            if not new_axis:
                one[axis] = r.size()
            tensors.append(r.normal(one))
        return tensors, {"axes": [axis]}
    return draw


def cut(r):
    x = r.normal(r.shape(1, 4))
    axis = r.axis(x.dim())
    size = x.shape[axis]
    if r.chance(0.5):
        return [x], {"axes": [axis], "parts": r.pick([n for n in range(1, 9) if size % n == 0])}
    first = r.whole(0, size)
    return [x], {"axes": [axis], "sizes": [first, size - first]}


def split(inputs, options):
    x, axis = inputs[0], options["axes"][0]
    if "parts" in options:
        return torch.tensor_split(x, options["parts"], axis)
    return torch.split(x, options["sizes"], axis)


def filled_axis(r):
    x = r.normal(r.shape(1, 3))
    while not x.numel():
        x = r.normal(r.shape(1, 3))
    return [x], {"axes": [r.axis(x.dim())]}


def halves(r):
    shape = r.shape(1, 3)
    axis = r.axis(len(shape))
    shape[axis] *= 2
    return [r.normal(shape)], {"axes": [axis]}


def channels_of_blocks(r):
    factor = r.whole(1, 4)
    return [r.normal([r.whole(1, 3), r.whole(1, 6), r.whole(1, 6), r.whole(1, 4) * factor * factor])], {"factor": factor}


def blocks_of_pixels(r):
    factor = r.whole(1, 4)
    return [r.normal([r.whole(1, 3), r.whole(1, 4) * factor, r.whole(1, 4) * factor, r.whole(1, 5)])], {"factor": factor}


def shuffled(f):
    """By channels first."""
    return lambda inputs, options: f(inputs[0].movedim(-1, 1), options["factor"]).movedim(1, -1)


def ranges(r):
    x = r.normal(r.shape(1, 4))
    begin = [r.whole(0, n) for n in x.shape]
    end = [r.whole(b, n) for b, n in zip(begin, x.shape, strict=True)]
    if r.chance(0.3):
        begin = [b - n if b < n else b for b, n in zip(begin, x.shape, strict=True)]
    return [x], {"begin": begin, "end": end, "step": [r.whole(1, 3) for _ in x.shape]}


def sliced(inputs, options):
    return inputs[0][tuple(slice(*one) for one in zip(options["begin"], options["end"], options["step"], strict=True))]


def element(r):
    inputs, options = filled_axis(r)
    size = inputs[0].shape[options["axes"][0]]
    return inputs, options | {"index": r.whole(-size, size - 1)}


def margins(r):
    mode = r.pick(("constant", "constant", "reflect", "replicate"))
    x = filled_axis(r)[0][0]
    axis = r.axis(x.dim())
    most = x.shape[axis] - 1 if mode == "reflect" else 4
    value = r.pick((0, 1) if r.type == torch.bool else (0, 7) if not r.type.is_floating_point else (0, 7, -0.1))
    return [x], {"axes": [axis], "before": r.whole(0, most), "after": r.whole(0, most), "mode": mode, "value": value}


def padded(inputs, options):
    x = inputs[0]
    for axis in options["axes"]:
        x = padded_axis(x, axis, options, options["mode"])
    return x


def padded_axis(x, axis, options, mode):
    count = (options["before"], options["after"])
    lines = x.movedim(axis, -1)
    if mode == "constant":
        return F.pad(lines, count, "constant", options["value"]).movedim(-1, axis)
    if not x.numel():
        return lines.new_zeros(*lines.shape[:-1], lines.shape[-1] + sum(count)).movedim(-1, axis)
    flat = lines.reshape(1, -1, lines.shape[-1])
    narrow = flat if x.is_floating_point() else flat.double()
    y = F.pad(narrow, count, mode).to(x.dtype)
    return y.reshape(*lines.shape[:-1], y.shape[-1]).movedim(-1, axis)


op("concatenate", "torch.cat", lambda i, o: torch.cat(i, o["axes"][0]), joined(False), EXACT, GRADIENT, types=ANY)
op("stack", "torch.stack", lambda i, o: torch.stack(i, o["axes"][0]), joined(True), EXACT, GRADIENT, types=ANY)
op("split", "torch.split, tensor_split", split, cut, EXACT, GRADIENT, types=ANY)
op("glu", "torch.nn.functional.glu", lambda i, o: F.glu(i[0], o["axes"][0]), halves, GATE, GATE)
op("pixel_shuffle", "torch.nn.functional.pixel_shuffle", shuffled(F.pixel_shuffle), channels_of_blocks, EXACT, GRADIENT, types=ANY)
op("pixel_unshuffle", "torch.nn.functional.pixel_unshuffle", shuffled(F.pixel_unshuffle), blocks_of_pixels, EXACT, GRADIENT, types=ANY)
op("unstack", "torch.unbind", lambda i, o: i[0].unbind(o["axes"][0]), filled_axis, EXACT, GRADIENT, types=ANY)
op("slice", "indexing by slices", sliced, ranges, EXACT, GRADIENT, types=ANY)
op("select", "torch.select", lambda i, o: i[0].select(o["axes"][0], o["index"]), element, EXACT, GRADIENT, types=ANY)
op("pad", "torch.nn.functional.pad", padded, margins, EXACT, GRADIENT, types=ANY)


# --- Indices


def taken(r):
    inputs, options = filled_axis(r)
    return inputs + [r.indices([r.size()], inputs[0].shape[options["axes"][0]])], options


def rows(r):
    table = r.normal([r.whole(1, 17)] + r.shape(0, 2, 60))
    return [table, r.indices(r.shape(0, 3, 300), table.shape[0])], {}


def scattered_rows(r):
    shape, count = r.shape(1, 2, 600), r.whole(1, 9)
    return [r.normal(shape + [r.size()]), r.indices(shape, count)], {"rows": count}


def scatter_rows(inputs, options):
    x, index = inputs
    features = list(x.shape[index.dim():])
    zeros = torch.zeros([options["rows"]] + features, dtype=x.dtype)
    return zeros.index_add(0, index.long().reshape(-1), x.reshape([index.numel()] + features))


def gather_rows(inputs, _):
    return inputs[0][inputs[1].long()]


def line_indices(r):
    inputs, options = filled_axis(r)
    shape = list(inputs[0].shape)
    size, shape[options["axes"][0]] = shape[options["axes"][0]], r.size()
    return inputs + [r.indices(shape, size)], options


def added(r):
    inputs, options = line_indices(r)
    return inputs + [r.normal(inputs[1].shape)], options


def classes(r):
    count = r.whole(1, 12)
    return [r.indices(r.shape(0, 3, 300), count).to(r.type)], {"classes": count}


def looked_up(r):
    table = r.normal([r.whole(1, 17), r.size()])
    index = r.indices(r.shape(0, 3, 300), table.shape[0])
    return [index.to(r.pick((torch.int32, torch.uint8, r.type))), table], {}


INTEGERS = (torch.int32, torch.uint8)
op("take", "torch.index_select", lambda i, o: i[0].index_select(o["axes"][0], i[1]), taken, EXACT, GRADIENT, types=ANY)
op("gather_rows", "indexing by a tensor", gather_rows, rows, EXACT, GRADIENT, types=ANY)
op("scatter_rows", "torch.index_add to zeros", scatter_rows, scattered_rows, GRADIENT, GRADIENT)
op("take_along_axis", "torch.gather", lambda i, o: i[0].gather(o["axes"][0], i[1].long()), line_indices, EXACT, GRADIENT,
   types=ANY)
op("scatter_add", "torch.scatter_add", lambda i, o: i[0].scatter_add(o["axes"][0], i[1].long(), i[2]), added, GRADIENT,
   GRADIENT, types=(torch.float32, torch.float64, torch.int32))
op("embedding", "torch.nn.functional.embedding", lambda i, _: F.embedding(i[0].long(), i[1]), looked_up, EXACT, GRADIENT,
   constant=(0,))
op("one_hot", "torch.nn.functional.one_hot", lambda i, o: F.one_hot(i[0].long(), o["classes"]).float(), classes, EXACT, EXACT,
   types=INTEGERS)
op("one_hot_decode", "torch.argmax", lambda i, _: i[0].max(-1).indices, lambda r: ([filled_axis(r)[0][0]], {}), EXACT, EXACT,
   types=ANY)
