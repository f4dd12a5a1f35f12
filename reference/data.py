"""Data and mini-batches of the golden jobs (docs/numerics/training.md 5 and 6)."""

import gzip
import math
import pathlib

import numpy as np

from . import draws, host
from .rounding import f32


def read_idx(path):
    """An array of an IDX file: big-endian numbers after a header of type and sizes."""
    raw = gzip.decompress(pathlib.Path(path).read_bytes())
    types = {0x08: ">u1", 0x0D: ">f4"}
    rank = raw[3]
    shape = np.frombuffer(raw, ">u4", rank, 4)
    values = np.frombuffer(raw, types[raw[2]], -1, 4 + 4 * rank).reshape(shape)
    return values.astype(values.dtype.newbyteorder("="))


def digits(folder, count):
    """The first images, classes and angles of the built-in digits, as `retrace data digits` writes them."""
    read = lambda name: read_idx(pathlib.Path(folder) / f"train-{name}.gz")[:count]
    images = read("images-idx3-ubyte").astype(f32) / f32(255)
    return images[..., None], read("labels-idx1-ubyte").astype(np.int32), read("angles-idx1-float")[:, None]


def noisy_digits(folder, count, seed):
    """Digits in a frame of 32 x 32: with salt and pepper on one pixel in twenty, and clean."""
    images, _, _ = digits(folder, count)
    clean = np.zeros((count, 32, 32, 1), f32)
    clean[:, 2:30, 2:30] = images
    streams = [draws.words(draws.stream_key(seed, "noise/train", 0, 0), n, 1024) for n in range(count)]
    chance = draws.below(np.stack(streams), 40).reshape(clean.shape)
    return np.where(chance == 0, f32(0), np.where(chance == 1, f32(1), clean)), clean


def surface(x, y):
    exp = host.exp
    x2, y2 = x * x, y * y
    return (3 * (1 - x) * (1 - x) * exp(-x2 - (y + 1) * (y + 1))
            - 10 * (x / 5 - x * x2 - y * y2 * y2) * exp(-x2 - y2)
            - exp(-(x + 1) * (x + 1) - y2) / 3)


def peaks(count):
    """A square grid of so many points over [-3, 3]^2, y fastest, and the surface there."""
    side = math.isqrt(count)
    step = 6.0 / (side - 1)
    points = [(-3.0 + step * (i // side), -3.0 + step * (i % side)) for i in range(count)]
    heights = [surface(x, y) for x, y in points]
    return np.array(points).astype(f32), np.array(heights).astype(f32)[:, None]


def synthetic_images(count, seed):
    """Noise in which the class shows as a bright band of rows of one colour."""
    key = draws.stream_key(seed, "synthetic/train", 0, 0)
    noise = np.stack([draws.unit(draws.words(key, n, 32 * 32 * 3)) for n in range(count)]).reshape(-1, 32, 32, 3)
    labels = np.arange(count, dtype=np.int32) % 10
    row, colour = np.arange(32)[:, None, None] // 7, np.arange(3)
    band = [(row == label % 5) & (colour == label // 5) for label in labels]
    return f32(0.5) * noise + np.where(np.stack(np.broadcast_arrays(*band)), f32(0.5), f32(0))[:, :, [0] * 32], labels


class Queue:
    """Mini-batches of arrays; the k-th shuffle has an order of its own."""

    def __init__(self, arrays, size, seed, keep_partial):
        self.arrays, self.size, self.seed, self.keep_partial = arrays, size, seed, keep_partial
        self.shuffles, self.order = 0, list(range(len(arrays[0])))

    def shuffle(self):
        self.shuffles += 1
        self.order = draws.random_order(len(self.arrays[0]), self.seed, "queue shuffle", self.shuffles)

    def __len__(self):
        n = len(self.order)
        return -(-n // self.size) if self.keep_partial else n // self.size

    def __iter__(self):
        for i in range(len(self)):
            places = self.order[i * self.size : (i + 1) * self.size]
            yield [array[places] for array in self.arrays]
