"""Fingerprints (docs/numerics.md 9)."""

import numpy as np

from .draws import GOLDEN, MASK, hash_text, mix64

NAMES = {"float32": "f32", "float64": "f64", "int32": "i32", "uint8": "u8", "bool": "bool"}


def canonical_bits(array):
    """The bits of each element widened with zeros; every NaN counts as 0x7fc00000."""
    bits = np.ascontiguousarray(array).reshape(-1).view(f"uint{8 * array.dtype.itemsize}").astype(np.uint64)
    if array.dtype.kind == "f":
        bits[np.isnan(array.reshape(-1))] = 0x7FC00000
    return bits


def value(name, array):
    """h(tensor): a whole number modulo 2^64."""
    text = NAMES[array.dtype.name] + "[" + ",".join(str(size) for size in array.shape) + "]"
    index = np.arange(array.size, dtype=np.uint64)
    total = int(mix64(index * np.uint64(GOLDEN) + canonical_bits(array)).sum(dtype=np.uint64))
    return (hash_text(name) + hash_text(text) + total) & MASK


def fingerprint(named):
    """Of a set of tensors, {name: array}: 16 hexadecimal digits."""
    return f"{mix64(sum(value(name, array) for name, array in named.items()) & MASK):016x}"
