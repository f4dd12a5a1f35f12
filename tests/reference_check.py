#!/usr/bin/env python3
"""reference_check.py RETRACE VALUES [JOB...]: reference/ against the library.

RETRACE is the command, VALUES the program made of tests/reference_values.cpp. Compared are the golden fingerprints that
tests/golden_test.cpp states, of one shard and of four, with those of the numpy runs; single ops and draws by fingerprint;
the fused multiply-add of rounding.py with exact whole numbers. Exit code 1 if anything differs.
"""

import pathlib
import subprocess
import sys
import tempfile
import tomllib
from fractions import Fraction

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from reference import doubles, draws, elementary, fingerprint, ops, optim, rounding, sums, train  # noqa: E402
from reference.rounding import f32  # noqa: E402
from reference.tape import Value, gradients  # noqa: E402

GOLDEN = "tests/golden/1"
JOBS = ("peaks", "autoencoder", "digits")


# The fused multiply-add

def nearest(x):
    """The binary32 number nearest to a fraction, ties to even, by whole numbers."""
    if x == 0:
        return 0.0
    exponent = x.numerator.bit_length() - x.denominator.bit_length() if x > 0 else \
        (-x).numerator.bit_length() - x.denominator.bit_length()
    if abs(x) < Fraction(2) ** exponent:
        exponent -= 1
    quantum = Fraction(2) ** max(exponent - 23, -149)
    whole = round(x / quantum) * quantum  # a fraction rounds half to even
    return float(whole) if abs(whole) < Fraction(2) ** 128 else float("inf") * (1 if x > 0 else -1)


def fma_cases(random):
    """Products and sums of any size, subnormal ones, and sums a hair beside the middle of two neighbours."""
    count = 4000
    number = lambda low, high: ((1 + random.random(count)) * 2.0 ** random.integers(low, high, count)
                                * random.choice([-1, 1], count)).astype(f32)
    yield number(-10, 10), number(-10, 10), number(-40, 40)
    yield number(-80, -60), number(-80, -60), number(-149, -110)
    yield number(60, 64), number(60, 64), number(120, 128)
    j = random.integers(1, 64, count)
    a = (1 + j * 2.0**-23).astype(f32)
    for sign in (1, -1):
        b = (2.0**-24 * (1 - sign * j * 2.0**-23)).astype(f32)
        yield a, b, (1 + random.integers(0, 2**23, count) * 2.0**-23).astype(f32)


def check_fma():
    random = np.random.default_rng(1)
    wrong = twice = count = 0
    for a, b, c in fma_cases(random):
        found = rounding.fma(a, b, c)
        naive = (a.astype(np.float64) * b + c).astype(f32)
        for i in range(len(a)):
            exact = nearest(Fraction(float(a[i])) * Fraction(float(b[i])) + Fraction(float(c[i])))
            wrong += float(found[i]) != exact
            twice += float(naive[i]) != exact
            count += 1
    print(f"fma: {count} cases, {wrong} wrong; rounding twice would miss {twice}")
    return wrong == 0 and twice > 0


# Single ops

def key_of(name):
    return draws.split(draws.random_key(5), name)


def number(name, shape):
    return draws.uniform(shape, key_of(name)) * f32(4) - f32(2)


class Values:
    """What the reference makes of the cases of reference_values.cpp: {name: array}."""

    def __init__(self):
        self.arrays = {}

    def functions(self):
        bits = draws.mix64(np.arange(20000, dtype=np.uint64)) & np.uint64(0xFFFFFFFF)
        for name in "exp expm1 log log1p sigmoid tanh softplus erf sin cos".split():
            x = np.concatenate([bits.astype(np.uint32).view(f32), f32(8) * number(name, (20000,))])
            self.arrays[name] = getattr(elementary, name)(x)
        x = np.concatenate([bits.astype(np.uint32).view(f32), f32(8) * number("pow", (20000,))])
        self.arrays["pow"] = elementary.pow(x, f32(1.5) * x - f32(2))

    def draws(self):
        key, put = key_of, self.arrays.__setitem__
        put("uniform", draws.uniform((3, 5), key("uniform")))
        put("uniform/samples", draws.uniform((4, 7), key("uniform"), by_sample=True))
        put("normal", draws.normal((5, 9), draws.split(key("normal"), 7)))
        put("normal/samples", draws.normal((3, 7), key("normal"), by_sample=True))
        put("integers", draws.integers((50,), 40, key("integers")))
        x = number("dropout", (2, 3, 4, 5))
        for name, drawn in (("dropout", x.shape), ("dropout/channels", (2, 1, 1, 5))):
            u = draws.uniform(drawn, key("dropout"), by_sample=True)
            put(name, np.where(u < f32(0.3), f32(0), x * f32(1 / (1 - 0.3))))
        call = {"key": draws.random_key(9), "by_sample": True, "step": 2}
        put("call/uniform", draws.uniform((5, 3), op=0, **call))
        put("call/normal", draws.normal((5, 3), op=1, **call))
        put("order", np.array(draws.random_order(100, 3, "queue shuffle", 2), np.int32))

    def sums(self):
        for n in (1, 15, 17, 255, 257, 1000, 5000):
            x = number("sums", (n, 3))
            self.arrays[f"sum/{n}/all"], self.arrays[f"sum/{n}/column"] = sums.sum(x), sums.sum(x, [0])
            self.arrays[f"moments/{n}/all"] = np.stack(sums.moments(x))
            self.arrays[f"moments/{n}/column"] = np.concatenate(sums.moments(x, [0]))
        x = number("sums", (4, 30, 5))
        self.arrays["sum/middle"], self.arrays["sum/ends"] = sums.sum(x, [1]), sums.sum(x, [0, 2])

    def op(self, name, arrays, function):
        """y and the gradients of all inputs for the cotangent of that name."""
        inputs = [Value(array) for array in arrays]
        y = function(*inputs)
        dy = number(f"{name}/dy", y.shape)
        loss = Value(np.zeros((), f32), (y,), lambda one, needed: [one * dy])
        self.arrays[name] = y.data
        for i, gradient in enumerate(gradients(loss, inputs)):
            self.arrays[f"{name}/{i}"] = gradient

    def layers(self):
        def convolution(name, x, w, **options):
            arrays = number("x", x), number("w", w), number("b", w[3:])
            self.op(name, arrays, lambda x, w, b: ops.conv2d(x, w, b, **options))

        convolution("conv2d", (2, 7, 6, 3), (3, 3, 3, 4))
        convolution("conv2d/strides", (2, 9, 8, 2), (5, 5, 2, 3), stride=2)
        convolution("conv2d/deep", (1, 4, 4, 100), (3, 3, 100, 2), same=False)
        convolution("conv2d/points", (3, 5, 5, 4), (1, 1, 4, 6), stride=2, same=False)
        self.op("transposed_conv2d", (number("x", (2, 4, 3, 5)), number("w", (3, 3, 2, 5)), number("b", (2,))),
                lambda x, w, b: ops.transposed_conv2d(x, w, b, 2))
        self.op("linear", (number("x", (40, 300)), number("w", (7, 300)), number("b", (7,))), ops.linear)
        image = [number("x", (2, 6, 6, 3))]
        self.op("max_pool2d", image, lambda x: ops.max_pool2d(x, 2, 2))
        self.op("max_pool2d/overlap", image, lambda x: ops.max_pool2d(x, 3, 2, same=True))
        self.op("average_pool2d", image, lambda x: ops.average_pool2d(x, 3))
        self.op("batch_norm", (number("x", (5, 6, 7, 3)), number("scale", (3,)), number("offset", (3,))),
                lambda x, scale, offset: ops.batch_norm(x, scale, offset)[0])

    def activations_and_losses(self):
        x, t = number("x", (30, 10)), number("t", (30, 10))
        self.op("relu", [x], ops.relu)
        self.op("clipped_relu", [x], lambda x: ops.clipped_relu(x, 1))
        self.op("softmax", [f32(8) * x], ops.softmax)
        for name in ("cross_entropy", "mean_squared_error", "half_mean_squared_error"):
            self.op(name, [x], lambda x, loss=getattr(ops, name): loss(x, t))

    def solvers(self):
        start = {"a/weights": number("w", (50,)), "a/bias": number("b", (5,))}
        adam, sgdm, by_adam, by_sgdm = optim.Adam(), optim.Sgdm(), start, start
        for step in range(5):
            found = {path: number(f"gradient/{w.size}/{step}", w.shape) for path, w in start.items()}
            regular = optim.l2_regularization(by_adam, found, 0.01)
            by_adam = adam.update(by_adam, optim.clip(regular, 1.5), 0.01)
            clipped = optim.clip(optim.clip(found, 4, "global"), 0.5, "value")
            by_sgdm = sgdm.update(by_sgdm, clipped, 0.1)
        self.arrays.update({"adam": by_adam["a/weights"], "adam/bias": by_adam["a/bias"], "sgdm": by_sgdm["a/weights"]})

    def schedules(self):
        own = {"initial_learn_rate": 0.1, "schedule": "warm-up, linear", "warm_up_iterations": 5}
        given = {**own, "schedule": "warm-up, piecewise, linear", "schedule_iterations": [4, 9],
                 "drop_factor": 0.3, "drop_period": 2}
        rates = [optim.learn_rate(job, i, 30, 1 + i // 3) for i in range(30) for job in (own, given)]
        self.arrays["schedules"] = np.array(rates, f32)

    def doubles(self):
        wide = lambda name, shape: number(name, shape).astype(np.float64)
        y, put = wide("x", (4, 30, 5)) / 3, self.arrays.__setitem__
        put("f64/sum", doubles.sum(y))
        put("f64/sum/column", doubles.sum(y, [0, 1]))
        put("f64/variance", doubles.variance(y, [0, 1]))
        put("f64/exp", doubles.exp(y))
        put("f64/log", doubles.log(y))
        put("f64/softmax", doubles.softmax(y))
        put("f64/matmul", doubles.contract((wide("a", (7, 300)) / 3).T, wide("b", (300, 5)) / 3))
        image, w, dy = wide("image", (2, 7, 6, 3)) / 3, wide("w", (3, 3, 3, 4)) / 3, wide("dy", (2, 4, 3, 4)) / 3
        window = ops.Window((7, 6), (3, 3), 2)
        put("f64/conv2d", ops.convolve(window, image, w, doubles.contract))
        put("f64/conv2d/image", doubles.input_gradient(window, dy, w))
        put("f64/conv2d/weights", ops.filter_gradient(window, image, dy, doubles.contract))

    def fingerprints(self):
        self.arrays["f64"] = np.array([1.5, -0.0, np.nan, 1e300])
        self.arrays["i32"] = np.array([[1, -1], [0, -2147483647]], np.int32)
        self.arrays["u8"] = np.array([0, 255, 7], np.uint8)


def check_values(program):
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    stated = dict(line.split() for line in lines)
    values = Values()
    for part in ("functions", "draws", "sums", "layers", "activations_and_losses", "solvers", "schedules",
                 "doubles", "fingerprints"):
        getattr(values, part)()
    found = {name: f"{fingerprint.value(name, array):016x}" for name, array in values.arrays.items()}
    differ = sorted(name for name in stated.keys() | found.keys() if stated.get(name) != found.get(name))
    print(f"values: {len(stated)}, " + (f"these differ: {', '.join(differ)}" if differ else "all equal"))
    return not differ


# Trainings

def golden():
    """{job: (fingerprint of one shard, of four)}, as contract 1 states them."""
    lines = (ROOT / GOLDEN / "fingerprints.txt").read_text(encoding="utf-8").splitlines()
    return {name: prints for name, *prints in (line.split() for line in lines if not line.startswith("#"))}


def check_jobs(retrace, names):
    stated, good = golden(), True
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([retrace, "data", "digits", "--out", folder], check=True, capture_output=True)
        for name in names:
            job = tomllib.loads((ROOT / f"{GOLDEN}/{name}.toml").read_text(encoding="utf-8"))
            for shards, expected in zip((1, 4), stated[name]):
                found = train.train(job, folder, shards)
                print(f"{name}, {shards} shard{'s' * (shards > 1)}: {found}, " +
                      ("equal" if found == expected else f"but the library has {expected}"))
                good &= found == expected
    return good


def main():
    retrace, values, *names = sys.argv[1:]
    results = [check_fma(), check_values(values), check_jobs(retrace, names or JOBS)]
    sys.exit(0 if all(results) else 1)


main()
