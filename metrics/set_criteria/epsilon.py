"""Epsilon sampling in closed form: exact, and without the grid.

The paper (appendix A.5) takes 132 evenly spaced values for each of two margins, e1 and e2, and averages over all
132 x 132 combinations which samples satisfy both conditions, one of them, or none. A sample with differences d1 and d2
satisfies both in k1 * k2 combinations, where k1 counts the values of e1 with d1 >= e1, and k2 those of e2. So the two
counts of each sample are all that is needed, and they are whole numbers: no rounding, in O(n).
"""

import numpy as np

EPSILONS = 132  # number of values of each margin (paper, appendix A.5)
BLOCK_DIFFERENCES = 16384  # differences counted at a time: their counts of pairs fit into 64 bits

CELLS = ("both", "first", "second", "neither")


def epsilon_values(low: float, high: float, number: int = EPSILONS) -> np.ndarray:
    """(number,) evenly spaced margins from `low` to `high`, both included; never falling."""
    return np.minimum(np.linspace(low, high, number), high)


def count_reached(differences: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(n,) finite differences, (g,) margins that never fall -> (n,) int64: how many margins each reaches, d >= e."""
    return np.searchsorted(values, differences, side="right")


def sample_cells(
    first: np.ndarray, second: np.ndarray, ranges: list[list[float]], number: int = EPSILONS
) -> dict[str, float]:
    """Percentages of the four outcomes of two conditions, averaged over the product grid of their margins.

    Args:
        first: (n,) float64 differences of the first condition, finite, n above 0.
        second: (n,) float64 differences of the second condition.
        ranges: [low, high] of the margins of each condition.
        number: number of margins, g.

    Returns:
        `both`, `first` (that one alone), `second` (alone), `neither`: percentages, in [0, 100]; they add up to 100.
    """
    grids = [epsilon_values(low, high, number) for low, high in ranges]
    both = ones = twos = 0
    for begin in range(0, len(first), BLOCK_DIFFERENCES):
        block = slice(begin, begin + BLOCK_DIFFERENCES)
        one, two = count_reached(first[block], grids[0]), count_reached(second[block], grids[1])
        both, ones, twos = both + int(one @ two), ones + int(one.sum()), twos + int(two.sum())
    total = len(first) * number**2
    counts = (both, number * ones - both, number * twos - both, total - number * (ones + twos) + both)
    return {name: 100 * count / total for name, count in zip(CELLS, counts, strict=True)}


def sample_share(differences: np.ndarray, bounds: list[float], number: int = EPSILONS) -> float:
    """Percentage of (n,) differences, n above 0, that reach a margin, averaged over `number` margins in [low, high]."""
    low, high = bounds
    reached = int(count_reached(differences, epsilon_values(low, high, number)).sum())
    return 100 * reached / (len(differences) * number)
