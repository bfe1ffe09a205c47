"""The paired tests against those of sacrebleu, on the same scores."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from semantic_metrics.stats.significance import RESAMPLES, compare
from tests.stats.test_significance import PAIRS, near
from tests.stats.test_significance import systems as systems  # a fixture


@pytest.fixture(scope="module")
def sacrebleu() -> Callable[..., float]:
    """P-value that sacrebleu gives two score vectors: `sacrebleu("ar" or "bs", a, b)`."""
    significance = pytest.importorskip("sacrebleu.significance")

    class Result:
        def __init__(self, score: float) -> None:
            self.score, self.name = score, "mean"

    class Mean:
        """Texts are numbers, and the score of a corpus is their mean."""

        def _extract_corpus_statistics(self, texts: list[str], references: object) -> np.ndarray:
            return np.array([[float(text), 1.0] for text in texts])

        def _compute_score_from_stats(self, sums: np.ndarray) -> Result:
            return Result(float(sums[0]) / float(sums[1]))

        def _aggregate_and_compute(self, rows: np.ndarray) -> Result:
            return self._compute_score_from_stats(np.sum(rows, axis=0))

    def run(test: str, a: np.ndarray, b: np.ndarray) -> float:
        metric = Mean()
        texts = [[repr(float(x)) for x in values] for values in (a, b)]
        held = metric._extract_corpus_statistics(texts[0], None)
        baseline = {"mean": (held, metric._aggregate_and_compute(held))}
        function = {"ar": significance._paired_ar_test, "bs": significance._paired_bs_test}[test]
        _, results = function(baseline, "b", texts[1], None, {"mean": metric}, RESAMPLES, seed=3)
        return results["mean"].p_value

    return run


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_permutation_is_sacrebleus(systems: dict, sacrebleu: Callable, one: str, other: str) -> None:
    assert near(compare(systems[one], systems[other], seed=1).p_permutation,
                sacrebleu("ar", systems[one], systems[other]))  # fmt: skip


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_the_bootstrap_is_sacrebleus_on_both_sides(systems: dict, sacrebleu: Callable, one: str, other: str) -> None:
    """Of draws as far off as the difference sacrebleu counts those on its side, ours also those on the other side of 0.

    The real scores are moved to where that is two errors away, so that both sides have draws. Its absolute values
    then change next to nothing: 1 in 1,000.
    """
    a, b = systems[one], systems[other]
    a = a - (a - b).mean() + 2 * stats.sem(a - b)
    drawn = stats.bootstrap((a - b,), np.mean, random_state=4, method="percentile").bootstrap_distribution
    assert 0.005 < (drawn <= 0).mean() < 0.05
    expected = sacrebleu("bs", a, b)
    assert expected > 0.005
    assert near(compare(a, b, seed=1).p_bootstrap, expected + (drawn <= 0).mean())
