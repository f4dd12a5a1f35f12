"""Elementary functions of binary64 (docs/numerics/elementary.md 6): numbers of the host, one at a time.

Python's float operations + - * / are those of binary64, each rounded once.
"""

import math
import struct

from .rounding import fma64, polynomial64

INF, NAN = math.inf, math.nan


def number(text):
    return float.fromhex(text)


def bits(x):
    return struct.unpack("<q", struct.pack("<d", x))[0]


def from_bits(n):
    return struct.unpack("<d", struct.pack("<q", n))[0]


def scale(x, n):
    """x 2^n in two steps."""
    return x * 2.0 ** (n >> 1) * 2.0 ** (n - (n >> 1))


EXP_TAIL = [1 / math.factorial(k) for k in range(2, 14)]


def reduce_exp(x):
    n = round(x * number("0x1.71547652b82fep0"))  # half to even
    high = fma64(-n, number("0x1.62e42fefa39efp-1"), x)
    r = fma64(-n, number("0x1.abc9e3b39803fp-56"), high)
    return r, fma64(-n, number("0x1.abc9e3b39803fp-56"), high - r), n


def exp(x):
    if not x <= number("0x1.62e42fefa39efp9"):
        return x + INF
    if x < -745.2:
        return 0.0
    r, low, n = reduce_exp(x)
    return scale(1 + (r + fma64(r * r, polynomial64(r, EXP_TAIL), low)), n)


def expm1(x):
    if not x <= number("0x1.62e42fefa39efp9"):
        return x + INF
    if x < -40:
        return -1.0
    r, low, n = reduce_exp(x)
    p = r + fma64(r * r, polynomial64(r, EXP_TAIL), low)
    if n > 1000:
        return scale(1 + p, n)
    unit = 2.0**n
    return math.copysign(fma64(unit, p, unit - 1), x)


LOG_SERIES = [2 / k for k in range(3, 24, 2)]


def decompose(x):
    """f and e with x = 2^e (1 + f)."""
    extra = 0
    if x < 2.0**-1022:
        x, extra = x * 2.0**54, -54
    exponent = (bits(x) - 0x3FE6A09E667F3BCD) >> 52
    return from_bits(bits(x) - (exponent << 52)) - 1, float(exponent + extra)


def log_of_positive(x, low):
    """log(x) + low."""
    f, e = decompose(x)
    half_square = 0.5 * f * f
    s = f / (2 + f)
    z = s * s
    r = z * polynomial64(z, LOG_SERIES)
    rest = s * (half_square + r) + (e * number("0x1.a39ef35793c76p-33") + low)
    return e * number("0x1.62e42feep-1") - ((half_square - rest) - f)


def log(x):
    if not x > 0:
        return -INF if x == 0 else NAN
    return log_of_positive(x, 0.0) if x < INF else x


SIN_SERIES = [(-1) ** k / math.factorial(2 * k + 1) for k in range(1, 9)]
COS_SERIES = [(-1) ** k / math.factorial(2 * k) for k in range(2, 10)]


def reduce_angle(x):
    """x = n pi/2 + high + low, for |x| <= 2^20."""
    n = round(x * number("0x1.45f306dc9c883p-1"))
    r = fma64(-n, number("0x1.921fb54442d18p0"), x)
    c = number("0x1.1a62633145c07p-54")
    product = n * c
    product_low = fma64(n, c, -product)
    high = r - product
    back = high - r
    error = (r - (high - back)) - (product + back)
    return high, fma64(-n, number("-0x1.f1976b7ed8fbcp-110"), error - product_low), n


def sin_of_quadrant(high, low, n):
    z = high * high
    if n % 2:
        half = 0.5 * z
        top = 1 - half
        y = top + (((1 - top) - half) + fma64(z * z, polynomial64(z, COS_SERIES), -(high * low)))
    else:
        y = high + fma64(high * z, polynomial64(z, SIN_SERIES), low)
    return -y if n & 2 else y


def sin(x):
    high, low, n = reduce_angle(x)
    return x if x == 0 else sin_of_quadrant(high, low, n)


def cos(x):
    high, low, n = reduce_angle(x)
    return sin_of_quadrant(high, low, n + 1)
