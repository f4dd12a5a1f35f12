"""Elementary functions of binary32 (docs/numerics/elementary.md): formulas and constants of that page."""

import numpy as np

from .rounding import SMALLEST, f32, fma, hexadecimal, polynomial

INF, NAN, ONE = f32(np.inf), f32(np.nan), f32(1)
SHIFT = hexadecimal("0x1.8p23")  # adding it rounds to a whole number, which then stands in the low bits
LEAST = hexadecimal("-0x1.5d589ep6")  # exp of less is below 2^-126
MOST = hexadecimal("0x1.62e42ep6")  # exp of more is infinite
copy_sign = np.copysign


def bits(x):
    return np.asarray(x, f32).view(np.int32)


def from_bits(n):
    return np.asarray(n, np.int32).view(f32)


def power_of_two(n):
    return from_bits((n + 127) << 23)


def elementwise(function):
    """The formulas below are written for arrays with axes: a single number goes through as one of size 1."""
    def call(*arguments):
        arrays = np.broadcast_arrays(*(np.asarray(a, f32) for a in arguments))
        return function(*(np.atleast_1d(a) for a in arrays)).reshape(arrays[0].shape)
    return call


# docs/numerics/elementary.md 2: exp, expm1, sigmoid, tanh

def reduce_exp(x):
    """p, low, n with e^x = 2^n (1 + p + low)."""
    shifted = fma(x, hexadecimal("0x1.715476p0"), SHIFT)
    n = shifted - SHIFT
    r = fma(-n, hexadecimal("0x1.62e42ep-1"), x)
    r = fma(-n, hexadecimal("0x1.efa39ep-25"), r)
    q = polynomial(r, "0x1p-1", "0x1.555556p-3", "0x1.5554f4p-5", "0x1.110fe8p-7", "0x1.6d3efap-10", "0x1.a28182p-13")
    p = fma(r * r, q, r)
    return p, fma(r * r, q, r - p), bits(shifted) - bits(SHIFT)


@elementwise
def exp(x):
    p, _, n = reduce_exp(x)
    y = from_bits(bits(ONE + p) + (n << 23))
    return np.where(x <= MOST, np.where(LEAST <= x, y, f32(0)), x + INF)


@elementwise
def expm1(x):
    p, low, n = reduce_exp(x)
    high = x > f32(88)
    scale = power_of_two(n - high)
    minus = scale - ONE
    rest = fma(scale, low, (scale - minus) - ONE)
    total = fma(scale, p, minus)
    y = (total + (fma(scale, p, minus - total) + rest)) * np.where(high, f32(2), ONE)
    bounded = np.where(f32(-18) <= x, y, f32(-1))
    return copy_sign(np.where(x <= MOST, bounded, x + INF), x)


def exp_of_minus_abs(x):
    """e^-|x| as high + low."""
    a = np.abs(x)
    p, low, n = reduce_exp(-np.where(a > f32(87.4), f32(87.4), a))
    scale = power_of_two(n)
    high = ONE + p
    return high * scale, ((p - (high - ONE)) + low) * scale


def divide_split(a, a_low, b, b_low):
    """(a + a_low) / (b + b_low)."""
    y = ONE / b
    q = a * y
    return fma(fma(-q, b, a) + fma(-q, b_low, a_low), y, q)


@elementwise
def sigmoid(x):
    t, t_low = exp_of_minus_abs(x)
    d = ONE + t
    d_low = (t - (d - ONE)) + t_low
    negative = x < 0
    y = divide_split(np.where(negative, t, ONE), np.where(negative, t_low, f32(0)), d, d_low)
    return np.where(x < LEAST, f32(0), y)


@elementwise
def tanh(x):
    a = np.abs(x)
    bounded = np.where(a > f32(10), f32(10), a)
    p, e_low, n = reduce_exp(bounded + bounded)
    scale = power_of_two(n)
    minus, plus = scale - ONE, scale + ONE
    above, below = fma(scale, p, minus), fma(scale, p, plus)
    low = scale * e_low
    y = divide_split(above, fma(scale, p, minus - above) + low, below, fma(scale, p, plus - below) + low)
    return copy_sign(np.where(a > f32(8), fma(f32(-2), ONE / below, ONE), y), x)


# docs/numerics/elementary.md 3: log, log1p, softplus

def log_of_reduced(f, e, low):
    """log(1 + f) + e ln 2 + low as high + low."""
    p = polynomial(f, "0x1.555504p-2", "-0x1.ffff14p-3", "0x1.99d110p-3", "-0x1.5597d2p-3", "0x1.1ecaa6p-3",
                   "-0x1.f3b0c8p-4", "0x1.1e9c38p-3", "-0x1.06b4eep-3")
    rest = fma(e, hexadecimal("0x1.7f7d1cp-20"), fma(f * f, fma(f, p, f32(-0.5)), low))
    high = e * hexadecimal("0x1.62e4p-1")
    total = high + f
    return total, rest + (f - (total - high))


def log_of_normal(u, n, low):
    exponent = (bits(u) - 0x3F2AAAAB) >> 23
    f = from_bits(bits(u) - (exponent << 23)) - ONE
    high, rest = log_of_reduced(f, exponent.astype(f32) + n, low)
    return high + rest


@elementwise
def log(x):
    subnormal = x < SMALLEST
    u = np.where(subnormal, x * f32(2.0**23), x)
    y = log_of_normal(u, np.where(subnormal, f32(-23), f32(0)), f32(0))
    outside = np.where(x == 0, -INF, NAN)
    return np.where(x > 0, np.where(x < INF, y, x), outside)


@elementwise
def log1p(x):
    u = ONE + x
    back = u - ONE
    low = (ONE - (u - back)) + (x - back)
    y = copy_sign(log_of_normal(u, f32(0), low / u), x)
    outside = np.where(x == f32(-1), -INF, NAN)
    return np.where(x > f32(-1), np.where(x < INF, y, x), outside)


@elementwise
def softplus(x):
    t, t_low = exp_of_minus_abs(x)
    u = ONE + t
    small = t < hexadecimal("0x1.555554p-2")
    f = np.where(small, t, f32(0.5) * u - ONE)
    low = np.where(small, t_low, (t - (u - ONE)) + t_low) / u
    high, rest = log_of_reduced(f, np.where(small, f32(0), ONE), low)
    positive = np.where(x > 0, x, f32(0))
    total = positive + high
    back = total - positive
    error = (positive - (total - back)) + (high - back)
    y = np.where(x > f32(32), x, total + (error + rest))
    return np.where(x < LEAST, f32(0), y)


# docs/numerics/elementary.md 4: erf

@elementwise
def erf(x):
    a = np.abs(x)
    small = fma(a, polynomial(a * a, "0x1.06eba8p-3", "-0x1.81273ep-2", "0x1.ce2ceep-4", "-0x1.b7f824p-6",
                              "0x1.53fdb6p-8", "-0x1.a3baf0p-11", "0x1.48c586p-14"), a)
    t = np.where(a > f32(4), f32(4), a) - ONE
    g = polynomial(t, "0x1.d97fc0p0", "0x1.51c986p1", "0x1.afb5d4p-1", "0x1.510f6ap-5", "-0x1.27e83ep-7",
                   "0x1.addbaap-11", "0x1.7fead8p-12", "-0x1.d962bep-14")
    p, _, n = reduce_exp(-g)
    scale = power_of_two(n)
    large = (ONE - scale) - scale * p
    return copy_sign(np.where(a <= ONE, small, large), x)


# docs/numerics/elementary.md 5: sin, cos

TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561  # the first 256 bits of 2/pi


def reduce_large_angle(x):
    """high, low, n of one number with 2^20 < |x| < inf, by whole numbers."""
    pattern = int(bits(x))
    exponent, mantissa = (pattern >> 23 & 0xFF) - 150, pattern & 0x7FFFFF | 0x800000
    start = max(exponent - 2, 0)  # bits before it yield multiples of 4
    window = TWO_OVER_PI >> (256 - 96 - start) & (2**96 - 1)
    middle = mantissa * (window >> 32 & 0xFFFFFFFF) + (mantissa * (window & 0xFFFFFFFF) >> 32)
    top = mantissa * (window >> 64) + (middle >> 32)
    right = max(2 - exponent, 0)
    turns = ((top << (32 - right)) | ((middle & 0xFFFFFFFF) >> right)) & (2**64 - 1)
    quadrant = (turns + 2**61 & (2**64 - 1)) >> 62
    fraction = turns - (quadrant << 62) & (2**64 - 1)
    r = float(fraction - 2**64 if fraction >> 63 else fraction) * (float.fromhex("0x1.921fb54442d18p0") * 2.0**-62)
    high = f32(r)
    low = f32(r - float(high))
    return (-high, -low, -quadrant) if pattern < 0 else (high, low, quadrant)


def reduce_angle(x):
    """x = n pi/2 + high + low."""
    shifted = fma(x, hexadecimal("0x1.45f306p-1"), SHIFT)
    n = shifted - SHIFT
    r = fma(-n, hexadecimal("0x1.921fb6p0"), x)
    c = hexadecimal("-0x1.777a5cp-25")
    product = n * c
    product_low = fma(n, c, -product)
    high = r - product
    back = high - r
    error = (r - (high - back)) - (product + back)
    low = fma(-n, hexadecimal("-0x1.ee59dap-50"), error - product_low)
    quadrant = bits(shifted) - bits(SHIFT)
    for i in np.flatnonzero((np.abs(x) > f32(2.0**20)) & np.isfinite(x)):
        high.flat[i], low.flat[i], quadrant.flat[i] = reduce_large_angle(x.flat[i])
    return high, low, quadrant


def sin_of_quadrant(high, low, n):
    z = high * high
    s = polynomial(z, "-0x1.555556p-3", "0x1.111160p-7", "-0x1.a04070p-13", "0x1.7517a0p-19")
    sine = high + fma(high * z, s, low)
    c = polynomial(z, "0x1.555556p-5", "-0x1.6c1744p-10", "0x1.a05558p-16", "-0x1.2eb872p-22")
    half = f32(0.5) * z
    top = ONE - half
    cosine = top + (((ONE - top) - half) + fma(z * z, c, -(high * low)))
    y = np.where(n & 1 == 1, cosine, sine)
    return np.where(n & 2 == 2, -y, y)


@elementwise
def sin(x):
    high, low, n = reduce_angle(x)
    return np.where(np.abs(x) < INF, np.where(x == 0, x, sin_of_quadrant(high, low, n)), NAN)


@elementwise
def cos(x):
    high, low, n = reduce_angle(x)
    return np.where(np.abs(x) < INF, sin_of_quadrant(high, low, n + 1), NAN)


# docs/numerics/elementary.md 6: pow; pairs are unevaluated sums (high, low)

def add_smaller(a, b):
    total = a + b
    return total, b - (total - a)


def multiply_pairs(a, b):
    product = a[0] * b[0]
    return product, fma(a[0], b[0], -product) + fma(a[0], b[1], a[1] * b[0])


def log2_pair(x):
    subnormal = x < SMALLEST
    u = np.where(subnormal, x * f32(2.0**23), x)
    exponent = (bits(u) - 0x3F3504F3) >> 23
    f = from_bits(bits(u) - (exponent << 23)) - ONE
    e = exponent.astype(f32) + np.where(subnormal, f32(-23), f32(0))
    d = add_smaller(f32(2), f)
    y = ONE / d[0]
    q = f * y
    s = q, (fma(-q, d[0], f) - q * d[1]) * y
    z = multiply_pairs(s, s)
    tail = z[0] * polynomial(z[0], "0x1.2776c4p-1", "0x1.a61950p-2", "0x1.47b12cp-2", "0x1.207950p-2")
    third = add_smaller(hexadecimal("0x1.ec709ep-1"), tail)
    third = third[0], third[1] + hexadecimal("-0x1.e2fe02p-28")
    product = multiply_pairs(z, third)
    factor = add_smaller(hexadecimal("0x1.715476p1"), product[0])
    factor = factor[0], factor[1] + (product[1] + hexadecimal("0x1.4ae0c0p-25"))
    log2_m = multiply_pairs(s, factor)
    total = add_smaller(e, log2_m[0])
    return total[0], total[1] + log2_m[1]


def exp2_of_pair(high, low):
    shifted = high + SHIFT
    r = (high - (shifted - SHIFT)) + low
    n = bits(shifted) - bits(SHIFT)
    p = polynomial(r, "0x1.62e430p-1", "0x1.ebfbe0p-3", "0x1.c6b074p-5", "0x1.3b2a5ap-7", "0x1.5d9cb4p-10",
                   "0x1.44119ap-13", "0x1.ec8e04p-17")
    half = n >> 1
    y = (fma(r, p, ONE) * power_of_two(half)) * power_of_two(n - half)
    return np.where(high < f32(-151), f32(0), np.where(high > f32(129), INF, y))


@elementwise
def pow(x, y):
    a = np.abs(x)
    high, low = log2_pair(a)
    product = y * high
    z = exp2_of_pair(product, fma(y, high, -product) + y * low)
    grows = y > 0
    z = np.where(a == 0, np.where(grows, f32(0), INF), np.where(a == INF, np.where(grows, INF, f32(0)), z))
    z = np.where(a == ONE, ONE, z)
    large = np.abs(y) >= f32(2.0**24)  # all these are even
    integer = large | (np.trunc(y) == y)
    odd = integer & ~large & (np.where(large, f32(0), np.fmod(y, f32(2))) != 0)
    z = np.where(odd, copy_sign(z, x), z)
    z = np.where((x < 0) & (a < INF) & ~integer, NAN, z)
    z = np.where((x != x) | (y != y), NAN, z)
    return np.where((x == ONE) | (y == 0), ONE, z)
