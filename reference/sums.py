"""The tree, sums and moments, contractions (docs/numerics.md 0, 2 and 3)."""

import numpy as np

from .rounding import f32, fma

BLOCK, LANES, STRIP = 256, 16, 16


def tree(parts, add=np.add):
    """T over the first axis: neighbours are added, level by level; a part without a partner stays as it is.

    That is T(the first p) + T(the others), p the largest power of two below the number of parts.
    """
    while len(parts) > 1:
        pairs = add(parts[0:-1:2], parts[1::2])
        parts = np.concatenate([pairs, parts[-1:]]) if len(parts) % 2 else pairs
    return parts[0]


def parts_of(x, by_column):
    """[positions, kept] as [strips or blocks, steps, lanes, kept]: one lane by column, 16 by row; filled up with +0.

    +0 in place of an absent element changes no sum that began with +0.
    """
    size, lanes = (STRIP, 1) if by_column else (BLOCK, LANES)
    count = -(-len(x) // size)
    filled = np.zeros((count * size, x.shape[1]), f32)
    filled[: len(x)] = x
    return filled.reshape(count, size // lanes, lanes, -1)


def add_up(x):
    """Accumulators over axis 1, from +0, ascending."""
    total = np.zeros(x[:, 0].shape, f32)
    for i in range(x.shape[1]):
        total = total + x[:, i]
    return total


def fold(x):
    """The lanes, on the axis before the last, to one: l and l + 8, + 4, + 2, + 1."""
    while x.shape[-2] > 1:
        half = x.shape[-2] // 2
        x = x[..., :half, :] + x[..., half:, :]
    return x[..., 0, :]


def reduced(x, axes):
    """x as [positions, kept], both row-major, and whether the column rule holds: the last axis is kept."""
    axes = tuple(axis % x.ndim for axis in axes) or tuple(range(x.ndim))
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    positions = int(np.prod([x.shape[axis] for axis in axes]))
    flat = np.transpose(x, axes + tuple(kept)).reshape(positions, -1)
    return flat, bool(kept) and kept[-1] == x.ndim - 1, [x.shape[axis] for axis in kept]


def row_sum(x):
    """The row rule over the first axis of [positions, kept]."""
    return fold(tree(add_up(parts_of(x, by_column=False))))


def sum(x, axes=()):
    """The sum of binary32 numbers over axes (none: all)."""
    flat, by_column, shape = reduced(x, axes)
    if len(flat) == 0:
        return np.zeros(shape, f32)
    return fold(tree(add_up(parts_of(flat, by_column)))).reshape(shape)


# Moments: (count, mean, M2), each with parts on the first axis; counts are whole numbers, rounded where they are used.

def merge(a, b):
    """Two pairs of moments together; counts are those of the parts."""
    (n_a, mean_a, m2_a), (n_b, mean_b, m2_b) = a, b
    n = n_a + n_b
    r = np.asarray(n_b, f32) / np.asarray(n, f32)
    delta = mean_b - mean_a
    mean = fma(delta, r, mean_a)
    m2 = (m2_a + m2_b) + (delta * delta) * (np.asarray(n_a, f32) * r)
    return n, mean, m2


def tree_of_moments(count, mean, m2):
    while len(count) > 1:
        left, right = ([x[begin : len(count) // 2 * 2 : 2] for x in (count, mean, m2)] for begin in (0, 1))
        merged = merge(left, right)
        if len(count) % 2:
            merged = [np.concatenate([x, y[-1:]]) for x, y in zip(merged, (count, mean, m2))]
        count, mean, m2 = merged
    return mean[0], m2[0]


def moments(x, axes=()):
    """(mean, M2) over axes (none: all). Each strip or block has its own pair; the pairs merge along the tree."""
    flat, by_column, shape = reduced(x, axes)
    parts, present = parts_of(flat, by_column), parts_of(np.ones_like(flat), by_column) != 0
    count = present[..., 0].sum(axis=(1, 2))[:, None]
    mean = fold(add_up(parts)) / count.astype(f32)
    d = np.where(present, parts - mean[:, None, None], f32(0))
    m2 = np.zeros(d[:, 0].shape, f32)
    for i in range(d.shape[1]):
        m2 = fma(d[:, i], d[:, i], m2)
    mean, m2 = tree_of_moments(count, mean, fold(m2))
    return mean.reshape(shape), m2.reshape(shape)


# Contractions

def contract(a, b, block=BLOCK):
    """y[m, n] = sum over k of a[k, m] * b[k, n]: blocks of k, fma in each, the tree over blocks, + 0."""
    blocks = -(-len(a) // block)
    total = np.zeros((blocks, a.shape[1], b.shape[1]), f32)
    a, b = a.astype(np.float64), b.astype(np.float64)
    for i in range(min(block, len(a))):
        x, y = a[i::block], b[i::block]
        total[: len(x)] = fma(x[:, :, None], y[:, None, :], total[: len(x)])
    return tree(total) + f32(0)


def block_of(kernel_width):
    """Where the kernel column is innermost: the largest multiple of the kernel width up to 256, or the width itself."""
    return max(BLOCK // kernel_width * kernel_width, kernel_width)
