"""Ops with their peers, calls that are drawn for them, and the way to bench/op_calls and back."""

import dataclasses
import json
import pathlib
import subprocess
import tempfile
import zlib
from collections.abc import Callable

import numpy as np
import torch

NAMES = {torch.float32: "f32", torch.float64: "f64", torch.int32: "i32", torch.uint8: "u8", torch.bool: "bool"}
TYPES = {name: type_ for type_, name in NAMES.items()}
FLOATS = (torch.float32, torch.float32, torch.float64)  # two calls of three are f32
NUMBERS = FLOATS + (torch.int32, torch.uint8)
ANY = NUMBERS + (torch.bool,)
SIZES = (1, 1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 31)
SPECIAL = (float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1.0, -1.0, 1e-40, -1e-40, 3e38, -3e38, 0.5)


@dataclasses.dataclass(frozen=True)
class Bound:
    """How far a result may be off: so many of the units that `kind` says (compare.py)."""

    kind: str  # exact, ulp, local, terms, sum, norm
    units: float = 0
    units_f64: float = 0  # 0: as many

    def of(self, type_):
        return self.units_f64 if type_ == torch.float64 and self.units_f64 else self.units

    def text(self):
        more = f", {self.units_f64:g}" if self.units_f64 else ""
        return self.kind if self.kind == "exact" else f"{self.kind} {self.units:g}{more}"


EXACT = Bound("exact")


@dataclasses.dataclass
class Op:
    name: str
    peer_name: str
    peer: Callable  # of a list of tensors and options: a tensor or several
    draw: Callable  # of Draw: inputs and options
    value: Bound
    gradient: Bound
    pointwise: bool = False  # inputs are broadcast to one shape first, so that terms of a gradient's sum are seen
    types: tuple = FLOATS
    constant: tuple = ()  # inputs that no gradient is asked for
    floor: Callable = None  # floors.py


@dataclasses.dataclass
class Call:
    op: Op
    inputs: list  # of tensors; None: left out
    options: dict
    what: str = "drawn"
    direct: object = None  # of a sample: what its op makes in f64, as our layout has it

    def wanted(self):
        return [x is not None and x.is_floating_point() and i not in self.op.constant for i, x in enumerate(self.inputs)]


OPS = {}


def op(name, peer_name, peer, draw, value, gradient=Bound("local", 8), **more):
    OPS[name] = Op(name, peer_name, peer, draw, value, gradient, **more)


class Draw:
    """Random arguments of one type. The variant, 0 to 7, turns: so each op meets all kinds of values."""

    def __init__(self, generator, type_, variant):
        self.generator, self.type, self.variant = generator, type_, variant

    def chance(self, probability):
        return bool(self.generator.random() < probability)

    def whole(self, low, high):
        return int(self.generator.integers(low, high + 1))

    def pick(self, values):
        return values[self.whole(0, len(values) - 1)]

    def size(self):
        return 0 if self.chance(0.04) else int(self.pick(SIZES))

    def shape(self, low=0, high=4, limit=4000):
        shape = [self.size() for _ in range(self.whole(low, high))]
        while np.prod(shape, dtype=int) > limit:
            shape[self.whole(0, len(shape) - 1)] = self.pick((1, 2, 3))
        return shape

    def axes(self, rank):
        """Some axes, from the front or the end; none: all."""
        some = [i for i in range(rank) if self.chance(0.5)]
        return [i - rank if self.chance(0.3) else i for i in some]

    def axis(self, rank):
        return self.whole(-rank, rank - 1)

    def tensor(self, array):
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.type).reshape(np.shape(array))

    def normal(self, shape, scale=1.0):
        """Moderate numbers of the type; few different ones at times."""
        values = self.generator.normal(0, scale, shape)
        if self.type == torch.bool:
            return torch.from_numpy(np.asarray(values > 0))
        if not self.type.is_floating_point:
            low, high = (0, 255) if self.type == torch.uint8 else (-50, 50)
            return self.tensor(self.generator.integers(low, high + 1, shape))
        return self.tensor(np.round(values * 2) / 2 if self.variant == 5 else values)

    def positive(self, shape, low=0.5, high=1.5):
        return self.tensor(self.generator.uniform(low, high, shape))

    def sprinkled(self, x, share=0.4, values=SPECIAL):
        """x with special values at some places."""
        chosen = self.generator.random(x.shape) < share
        special = self.generator.choice(np.array(values), x.shape)
        return self.tensor(np.where(chosen, special, x.numpy()))

    def values(self, shape, low=-8.0, high=8.0):
        """Of the type: normal, in a range, special ones, of all magnitudes, whole ones."""
        if not self.type.is_floating_point:
            return self.normal(shape)
        x = self.generator.normal(0, 3, shape)
        if self.variant in (1, 4):
            x = self.generator.uniform(low, high, shape)
        if self.variant in (3, 6):
            x = np.sign(x) * 10.0 ** self.generator.uniform(-37, 37, shape)
        if self.variant == 5:
            x = np.round(x)
        return self.sprinkled(self.tensor(x)) if self.variant in (2, 7) else self.tensor(x)

    def seldom_special(self, x):
        """x, in one of eight calls with a NaN or an infinity."""
        if self.variant not in (3, 7) or not x.numel() or not x.is_floating_point():
            return x
        x.view(-1)[self.whole(0, x.numel() - 1)] = self.pick(SPECIAL[:3])
        return x

    def indices(self, shape, size):
        """Whole numbers from 0 to size - 1, i32."""
        return torch.from_numpy(np.asarray(self.generator.integers(0, max(size, 1), shape), dtype=np.int32))

    def mask(self, shape, share=0.7):
        return torch.from_numpy(np.asarray(self.generator.random(shape) < share))

    def broadcast_shapes(self, count):
        """Shapes that broadcast to one."""
        full = self.shape(0, 4)
        found = []
        for _ in range(count):
            shape = [1 if self.chance(0.2) else size for size in full]
            found.append(shape[self.whole(0, len(shape)) if self.chance(0.25) else 0:])
        return found


def drawn_calls(count, seed):
    """So many calls, the same number of each op. Those of an op do not depend on which others there are."""
    calls = []
    for i, one in enumerate(OPS.values()):
        generator = np.random.default_rng([seed, zlib.crc32(one.name.encode())])
        share = count // len(OPS) + (i < count % len(OPS))
        for n in range(share):
            draw = Draw(generator, one.types[n % len(one.types)], (n // len(one.types)) % 8)
            inputs, options = one.draw(draw)
            calls.append(Call(one, inputs, options))
    return calls


def as_bytes(x):
    return x.detach().contiguous().numpy().tobytes()


def ask(binary, calls, threads=0):
    """Of each call {"results", "gradients"}, lists of tensors, or {"error"}; with threads its times, {"forward", "gradient"}."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with open(folder / "calls.jsonl", "w") as lines, open(folder / "inputs.bin", "wb") as data:
            for call in calls:
                inputs = [x is not None and {"type": NAMES[x.dtype], "shape": list(x.shape), "grad": grad} or None
                          for x, grad in zip(call.inputs, call.wanted(), strict=True)]
                lines.write(json.dumps({"op": call.op.name, "inputs": inputs, "options": call.options}) + "\n")
                for x in call.inputs:
                    if x is not None:
                        data.write(as_bytes(x))
        subprocess.run([binary, folder] + [str(threads)] * bool(threads), check=True)
        with open(folder / "made.jsonl") as lines, open(folder / "made.bin", "rb") as data:
            made = [read(json.loads(line), data) for line in lines]
    assert len(made) == len(calls)
    return made


def read(answer, data):
    if "results" not in answer:
        return answer
    return {part: [spec and tensor_of(spec, data) for spec in answer[part]] for part in ("results", "gradients")}


def tensor_of(spec, data):
    type_ = TYPES[spec["type"]]
    zero = torch.zeros(spec["shape"], dtype=type_)
    values = data.read(zero.numel() * zero.element_size())
    return torch.frombuffer(bytearray(values), dtype=type_).reshape(spec["shape"]) if values else zero
