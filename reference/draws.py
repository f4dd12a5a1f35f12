"""Random numbers (docs/numerics/random.md): hashes, Philox4x32-10, keys, draws, and the order of an epoch."""

import numpy as np

from . import elementary
from .rounding import f32, hexadecimal

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix64(x):
    """splitmix64's finaliser, of a whole number or of an array of uint64."""
    whole = int if isinstance(x, int) else np.uint64
    x = (x ^ (x >> whole(30))) * whole(0xBF58476D1CE4E5B9) & whole(MASK)
    x = (x ^ (x >> whole(27))) * whole(0x94D049BB133111EB) & whole(MASK)
    return x ^ (x >> whole(31))


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


def _drawn(make, shape, key, by_sample=False, first_sample=0, step=0, op=0):
    """make(words) of each sample: of each row, or of all elements. Normal numbers want an even number of words."""
    stream, count = stream_key(key, "draw", step, op), int(np.prod(shape[1:] if by_sample else shape))
    rows = range(first_sample, first_sample + shape[0]) if by_sample else [0]
    return np.concatenate([make(words(stream, row, count + count % 2))[:count] for row in rows]).reshape(shape)


def uniform(shape, key, **where):
    return _drawn(unit, shape, key, **where)


def integers(shape, n, key, **where):
    return _drawn(lambda word: below(word, n).astype(np.int32), shape, key, **where)


def normal(shape, key, **where):
    """Box-Muller: elements 2i and 2i + 1 are r cos(a) and r sin(a)."""
    def make(word):
        u, v = unit(word[0::2]), unit(word[1::2])
        radius = np.sqrt(f32(-2) * elementary.log(f32(1) - u))
        angle = hexadecimal("0x1.921fb6p2") * v
        return np.stack([radius * elementary.cos(angle), radius * elementary.sin(angle)], axis=-1).reshape(-1)
    return _drawn(make, shape, key, **where)


def random_order(n, seed, purpose, step):
    """Fisher-Yates from the front: place i gets one of the places i .. n-1."""
    order = list(range(n))
    for i, word in enumerate(words(stream_key(seed, purpose, step, 0), 0, max(n - 1, 0))):
        j = i + int(below(word, n - i))
        order[i], order[j] = order[j], order[i]
    return order
