"""Gains g of the thesis's convergence figures (3.3): 1/sqrt(W_max), 5/W_max, 1/W_max."""

from hull.report.schemes import BLUE, GREEN, ORANGE, Scheme

GAINS = {"g_high": 0.0707, "g_guideline": 0.025, "g_low": 0.005}
LOOKS = (
    Scheme("g_high", "DCTCP, g = 1/root of W_max", BLUE, (5, 2), "s"),
    Scheme("g_guideline", "DCTCP, g = 5/W_max", GREEN, (), "D"),
    Scheme("g_low", "DCTCP, g = 1/W_max", ORANGE, (6, 2, 1, 2), "v"),
)
