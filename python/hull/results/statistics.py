"""Mean and confidence interval over seeds (Student's t, two-sided 95%).

Seeds are independent runs of one scenario, so the mean over them has n - 1 degrees of freedom.
"""

import math
from collections.abc import Sequence

# 97.5% quantile of Student's t for 1 to 30 degrees of freedom.
_T975 = (
    *(12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281),
    *(2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860),
    *(2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423),
)


def t975(degrees: int) -> float:
    """97.5% quantile of Student's t; beyond the table, its expansion about the normal one."""
    if degrees <= len(_T975):
        return _T975[degrees - 1]
    z = 1.959964
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def student_quantile(share: float, degrees: int) -> float:
    """Quantile of Student's t for a share of 0.5 or more and a whole number of degrees of freedom.

    By bisection of the exact distribution (Abramowitz and Stegun 26.7.3 and 26.7.4).
    """
    low, high = 0.0, 1.0
    while _student_share(high, degrees) < share:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        if _student_share(middle, degrees) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _student_share(t: float, degrees: int) -> float:
    """Share of Student's t at or below `t`, which is at least 0."""
    angle = math.atan(t / math.sqrt(degrees))
    term = cosine = math.cos(angle)
    odd = degrees % 2
    whole = 0.0
    if not odd:
        term = 1.0
    for power in range(1 + odd, degrees, 2):
        whole += term
        term *= cosine**2 * power / (power + 1)
    inside = math.sin(angle) * whole
    if odd:
        inside = 2 / math.pi * (angle + inside)
    return 0.5 + inside / 2


def mean_ci95(values: Sequence[float]) -> tuple[float, float | None]:
    """Mean of one or more values and the half width of its 95% interval (None for one value)."""
    n = len(values)
    mean = math.fsum(values) / n
    if n == 1:
        return mean, None
    variance = math.fsum((v - mean) ** 2 for v in values) / (n - 1)
    return mean, t975(n - 1) * math.sqrt(variance / n)


def r_squared(x: Sequence[float], y: Sequence[float]) -> float:
    """Share of the variance of `y` that a straight line in `x` explains."""
    from statistics import correlation

    return correlation(x, y) ** 2
