"""Single roundings (docs/numerics.md 1).

numpy's float32 operations + - * / and sqrt round once each. What it lacks is the fused multiply-add, which is here: in
binary32 for arrays, in binary64 for single numbers.
"""

from fractions import Fraction
from math import isfinite

import numpy as np

np.seterr(all="ignore")  # infinities and NaN are values here, not accidents

f32 = np.float32
SMALLEST = f32(2.0**-126)  # the smallest normal number


def hexadecimal(text):
    """The binary32 number nearest to a hexadecimal constant such as "0x1.8p23"."""
    return f32(float.fromhex(text))


def fma(a, b, c):
    """a * b + c of binary32 numbers, rounded once.

    The product is exact in binary64 (48 bits); the sum is rounded to 53 bits, then to 24. Rounding twice is wrong only
    where the first rounding lands halfway between two binary32 numbers, or where the result is subnormal: there the sum
    is rounded to odd instead, which keeps the second rounding right.
    """
    product = np.multiply(a, b, dtype=np.float64)
    total = np.atleast_1d(product + c)
    doubtful = (total.view(np.uint64) & 0x1FFFFFFF) == 0x10000000
    doubtful |= (np.abs(total) < SMALLEST) & (total != 0)
    result = total.astype(f32)
    if doubtful.any():
        p, q = (np.broadcast_to(np.asarray(x, np.float64), total.shape)[doubtful] for x in (product, c))
        result[doubtful] = _sum_rounded_to_odd(p, q).astype(f32)
    return result.reshape(np.broadcast(product, c).shape)


def _sum_rounded_to_odd(p, q):
    """p + q in binary64: exact sums stay, of the two neighbours of any other it is the one with an odd last bit."""
    total = p + q
    back = total - p
    error = (p - (total - back)) + (q - back)  # total + error = p + q exactly
    bits = total.view(np.int64)
    towards = np.where((error > 0) == (total > 0), 1, -1)
    even = (bits & 1) == 0
    return np.where((error != 0) & even & np.isfinite(total), bits + towards, bits).view(np.float64)


def fma64(a, b, c):
    """a * b + c of binary64 numbers, rounded once: exact fractions, of which the last step rounds."""
    if not (isfinite(a) and isfinite(b) and isfinite(c)):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return float(exact) if exact else a * b + c  # the sign of an exact zero is that of the plain sum


def polynomial(x, *coefficients):
    """c0 + c1 x + c2 x^2 + ... by Horner's rule: y = c_last, then y = fma(y, x, c) down to c0."""
    numbers = [hexadecimal(c) for c in coefficients]
    y = np.full(np.shape(x), numbers[-1])
    for c in reversed(numbers[:-1]):
        y = fma(y, x, c)
    return y


def polynomial64(x, coefficients):
    """The same in binary64."""
    y = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        y = fma64(y, x, c)
    return y


def stored(x):
    """What is kept from step to step: |x| < 2^-126 ? +0 : x."""
    return np.where(np.abs(x) < SMALLEST, f32(0), x)
