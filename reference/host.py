"""Elementary functions of binary64 (docs/numerics/elementary.md 7): numbers of the host, one at a time.

Those that the golden jobs need: exp for the surface of the peaks, log for Adam.

Python's float operations + - * / are those of binary64, each rounded once.
"""

import math
import struct

from .rounding import fma64, polynomial64

INF, NAN = math.inf, math.nan
number = float.fromhex


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
