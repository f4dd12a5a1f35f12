"""Random numbers (docs/numerics/random.md): hashes, Philox4x32-10, keys, draws, and the order of an epoch."""

import numpy as np

from . import elementary
from .rounding import f32, hexadecimal

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix64(x):
    """splitmix64's finaliser, of a whole number or of an array of uint64."""
    x = x ^ (x >> (30 if isinstance(x, int) else np.uint64(30)))
    x = _product(x, 0xBF58476D1CE4E5B9)
    x = x ^ (x >> (27 if isinstance(x, int) else np.uint64(27)))
    x = _product(x, 0x94D049BB133111EB)
    return x ^ (x >> (31 if isinstance(x, int) else np.uint64(31)))


def _product(x, factor):
    return (x * factor) & MASK if isinstance(x, int) else x * np.uint64(factor)


def combine(a, b):
    return mix64((a * GOLDEN + b) & MASK)


def hash_text(text):
    """FNV-1a of the bytes, then mix64."""
    state = 0xCBF29CE484222325
    for byte in text.encode():
        state = ((state ^ byte) * 0x100000001B3) & MASK
    return mix64(state)


def random_key(seed):
    return mix64((seed + GOLDEN) & MASK)


def split(key, name):
    """An independent key for a name, or for a number."""
    return combine(key, hash_text(name) if isinstance(name, str) else random_key(name))


def stream_key(seed, purpose, step, op):
    """Philox's key of the stream (seed, purpose, step, op); the purpose is a text."""
    return combine(combine(combine(random_key(seed), hash_text(purpose)), step), op)


def words(key, sample, count):
    """The 32-bit words of elements 0 .. count-1 of a sample: four from each block of Philox."""
    blocks = np.arange((count + 3) // 4, dtype=np.uint64)
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    c = [blocks & low, blocks >> shift, np.uint64(sample & 0xFFFFFFFF), np.uint64(sample >> 32)]
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(b >> shift) ^ c[1] ^ np.uint64(k0), b & low, (a >> shift) ^ c[3] ^ np.uint64(k1), a & low]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(np.broadcast_arrays(*c), axis=-1).reshape(-1)[:count]


def below(word, n):
    """0 .. n-1 by the high half of a product."""
    return (word * np.uint64(n)) >> np.uint64(32)


def unit(word):
    """[0, 1): the 24 high bits times 2^-24."""
    return (word >> np.uint64(8)).astype(f32) * f32(2.0**-24)


def _samples(draw, shape, key, first_sample, by_sample, step, op):
    stream = stream_key(key, "draw", step, op)
    count = int(np.prod(shape[1:] if by_sample else shape))
    rows = range(first_sample, first_sample + shape[0]) if by_sample else [0]
    return np.concatenate([draw(stream, sample, count) for sample in rows]).reshape(shape)


def uniform(shape, key, by_sample=False, first_sample=0, step=0, op=0):
    draw = lambda stream, sample, count: unit(words(stream, sample, count))
    return _samples(draw, shape, key, first_sample, by_sample, step, op)


def integers(shape, n, key, by_sample=False, first_sample=0, step=0, op=0):
    draw = lambda stream, sample, count: below(words(stream, sample, count), n).astype(np.int32)
    return _samples(draw, shape, key, first_sample, by_sample, step, op)


def normal(shape, key, by_sample=False, first_sample=0, step=0, op=0):
    """Box-Muller: elements 2i and 2i + 1 are r cos(a) and r sin(a)."""
    def draw(stream, sample, count):
        u = unit(words(stream, sample, count + count % 2))
        radius = np.sqrt(f32(-2) * elementary.log(f32(1) - u[0::2]))
        angle = hexadecimal("0x1.921fb6p2") * u[1::2]
        pairs = np.stack([radius * elementary.cos(angle), radius * elementary.sin(angle)], axis=-1)
        return pairs.reshape(-1)[:count]
    return _samples(draw, shape, key, first_sample, by_sample, step, op)


def random_order(n, seed, purpose, step):
    """Fisher-Yates from the front: place i gets one of the places i .. n-1."""
    order = list(range(n))
    for i, word in enumerate(words(stream_key(seed, purpose, step, 0), 0, max(n - 1, 0))):
        j = i + int(below(word, n - i))
        order[i], order[j] = order[j], order[i]
    return order
