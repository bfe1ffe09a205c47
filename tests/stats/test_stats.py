"""Figures of agreement and separation, intervals and paired tests: against scipy, scikit-learn and counts by hand."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.metrics import f1_score, roc_auc_score

from semantic_metrics.stats import binary as calibration
from semantic_metrics.stats.agreement import closeness, concordance, kendall, pearson, ranked_groups, ranking, spearman
from semantic_metrics.stats.bootstrap import bootstrap_groups
from semantic_metrics.stats.separation import (
    COSINE,
    THRESHOLDS,
    auc,
    macro_f1,
    matching_line,
    paired_t_test,
    separation,
    threshold_curve,
    wasserstein,
)
from semantic_metrics.stats.significance import RESAMPLES, compare, compare_all, holm, interval

DEVIATIONS = 5  # allowed distance of two Monte-Carlo figures; more happens once in a million
SMALL = settings(max_examples=25)
scores = st.lists(st.tuples(st.floats(-1, 1, width=16), st.floats(-1, 1, width=16)), min_size=2, max_size=12)
PAIRS = [("whole", "cut"), ("whole", "near"), ("cut", "near")]


@pytest.fixture(scope="module")
def systems() -> dict[str, np.ndarray]:
    """Scores of three systems on 60 texts of which some are easier: a clear, a small and hardly any difference."""
    rng = np.random.default_rng(0)
    whole = rng.beta(6, 3, 60)
    return {"whole": whole, "cut": whole - rng.gamma(2, 0.05, 60), "near": whole - rng.normal(0.01, 0.06, 60)}


def near(p: float, q: float, draws: int = RESAMPLES, other: int = RESAMPLES) -> bool:
    """Whether two Monte-Carlo shares can be of one probability."""
    spread = max((p + q) * (1 - (p + q) / 2) / 2, 1 / draws)
    return abs(p - q) < DEVIATIONS * np.sqrt(spread * (1 / draws + 1 / other))


def near_ends(found: tuple[float, float], expected: tuple[float, float], error: float) -> bool:
    """Whether two intervals can be of one distribution: a 2.5% quantile of 10,000 draws is known to .027 errors."""
    return np.abs(np.subtract(found, expected)).max() < DEVIATIONS * np.sqrt(2) * 0.027 * error


def test_intervals_are_scipys(systems: dict) -> None:
    x = systems["cut"]
    drawn = stats.bootstrap((np.sort(x),), np.mean, method="percentile", random_state=np.random.default_rng(1))
    mean = interval(x, seed=1)
    assert (mean.mean, mean.low, mean.high) == pytest.approx((x.mean(), *drawn.confidence_interval))


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_paired_tests_are_scipys(systems: dict, one: str, other: str) -> None:
    a, b = systems[one], systems[other]
    found = compare(a, b, seed=1)

    def gap(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        return (x - y).mean(axis=axis)

    swapped = stats.permutation_test((a, b), gap, permutation_type="samples", random_state=2)
    drawn = stats.bootstrap((a, b), gap, paired=True, method="percentile", random_state=2)
    shifted = np.abs(drawn.bootstrap_distribution - (a - b).mean()) >= abs((a - b).mean())
    assert found.difference == pytest.approx((a - b).mean())
    assert near(found.p_permutation, swapped.pvalue)
    assert near(found.p_bootstrap, shifted.mean())
    assert near_ends((found.low, found.high), tuple(drawn.confidence_interval), stats.sem(a - b))


def test_error_rates_are_the_nominal_ones() -> None:
    """Among 400 pairs of systems that do not differ, one in twenty is significant."""
    rng = np.random.default_rng(0)
    texts = rng.normal(size=(400, 60))
    found = [compare(x + rng.normal(size=60), x + rng.normal(size=60), resamples=499) for x in texts]
    for wrong in (
        np.mean([one.p_permutation <= 0.05 for one in found]),
        np.mean([one.p_bootstrap <= 0.05 for one in found]),
        np.mean([not one.low <= 0 <= one.high for one in found]),
    ):
        assert near(wrong, 0.05, 400, 10**9)


@given(scores)
@SMALL
def test_a_system_equals_itself(rows: list) -> None:
    a = [x for x, _ in rows]
    found = compare(a, a, resamples=99)
    assert (found.difference, found.low, found.high, found.p_bootstrap, found.p_permutation) == (0, 0, 0, 1, 1)
    assert (found.wins, found.ties, found.losses) == (0, len(a), 0)


@given(scores)
@SMALL
def test_swapped_systems_change_signs_alone(rows: list) -> None:
    a, b = zip(*rows, strict=True)
    there, back = compare(a, b, resamples=99), compare(b, a, resamples=99)
    assert (there.p_bootstrap, there.p_permutation) == (back.p_bootstrap, back.p_permutation)
    assert (there.difference, there.low, there.high) == (-back.difference, -back.high, -back.low)
    assert (there.wins, there.ties, there.losses) == (back.losses, back.ties, back.wins)


@given(scores, st.randoms(use_true_random=False))
@SMALL
def test_the_order_of_rows_changes_nothing(rows: list, random: object) -> None:
    mixed = list(rows)
    random.shuffle(mixed)
    assert compare(*zip(*rows, strict=True), resamples=99) == compare(*zip(*mixed, strict=True), resamples=99)
    assert interval([x for x, _ in rows], resamples=99) == interval([x for x, _ in mixed], resamples=99)


def test_ties_are_counted() -> None:
    a, b = [0.5, 0.5, 0.5, 0.5], [0.5, 0.5 + 1e-7, 0.6, 0.3]
    plain, loose = compare(a, b, resamples=9), compare(a, b, resamples=9, tie=1e-6)
    assert (plain.wins, plain.ties, plain.losses) == (1, 1, 2)
    assert (loose.wins, loose.ties, loose.losses) == (1, 2, 1)
    assert loose.p_permutation == plain.p_permutation


def test_seeds_and_levels_count() -> None:
    x = np.random.default_rng(0).random(50)
    assert interval(x, seed=3) == interval(x, seed=3) != interval(x, seed=4)
    wide, narrow = interval(x, level=0.99), interval(x, level=0.5)
    assert wide.low < narrow.low < narrow.mean < narrow.high < wide.high


@pytest.mark.parametrize("draws", [10, 500])
@pytest.mark.parametrize("size", [64, 67])  # 67 rows take nine bytes of signs, which fill up no word of the generator
def test_batches_change_no_figure(monkeypatch: pytest.MonkeyPatch, size: int, draws: int) -> None:
    a, b = np.random.default_rng(0).random((2, size))
    whole = compare(a, b, resamples=draws)
    monkeypatch.setattr("semantic_metrics.stats.significance._BATCH", size * 5)
    assert compare(a, b, resamples=draws) == whole


def test_holm_by_hand() -> None:
    """Four values: .01 x 4, then .02 x 3, .03 x 2 and .04, none below the one before."""
    assert holm([0.03, 0.01, 0.04, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


def test_all_pairs_or_those_with_a_baseline(systems: dict) -> None:
    pairs = compare_all(systems)
    assert [(one.name, one.other) for one in pairs] == [("cut", "whole"), ("near", "whole"), ("near", "cut")]
    assert [one.p_holm for one in pairs] == holm([one.comparison.p_permutation for one in pairs])
    assert pairs[1].comparison == compare(systems["near"], systems["whole"])
    some = compare_all(systems, baseline="cut")
    assert [(one.name, one.other) for one in some] == [("whole", "cut"), ("near", "cut")]
    assert some[1].comparison == pairs[2].comparison
    assert some[1].p_holm <= pairs[2].p_holm


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([1.0], {}, "a: expected a list of at least 2 scores, got 1"),
        ([[1.0, 2.0]], {}, r"a: expected a list of at least 2 scores, got shape \(1, 2\)"),
        ([1.0, float("nan")], {}, "a: expected finite numbers, got nan in row 1"),
        (["0.5", "0.6"], {}, "a: expected a list of numbers, got "),
        ([[1.0], [1.0, 2.0]], {}, "a: expected a list of numbers, got "),
        ([0.5] * 3, {}, "b: expected 3 scores, as many as a, got 2"),
        ([0.1, 0.2], {"level": 1.0}, "level: expected a number between 0 and 1, got 1.0"),
        ([0.1, 0.2], {"resamples": 0}, "resamples: expected a whole number from 1 on, got 0"),
        ([0.1, 0.2], {"tie": -0.1}, "tie: expected a number from 0 on, got -0.1"),
    ],
)
def test_invalid_scores_and_options_are_refused(values: object, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare(values, [0.1, 0.2], **options)


@pytest.mark.parametrize(
    ("systems", "baseline", "message"),
    [
        ({"a": [1, 2]}, None, "systems: expected at least two, got 1"),
        ({"a": [1, 2], "b": [1, 2]}, "c", "baseline: expected one of 'a', 'b', got 'c'"),
        ({"a": [1, 2], "b": [1, 2, 3]}, None, "systems: expected as many scores of each, got 2 of a, 3 of b"),
    ],
)
def test_systems_that_cannot_be_compared_are_refused(systems: dict, baseline: str | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_all(systems, baseline)


def test_rows_of_a_group_are_drawn_together() -> None:
    """Each text four times says no more than once; drawn by rows, its interval would be half as wide."""
    x = np.repeat(np.random.default_rng(0).random(40), 4)

    def spread(groups: object) -> float:
        return bootstrap_groups(lambda rows: {"mean": x[rows].mean()}, groups, resamples=400)["mean"].std()

    together, apart = spread(np.repeat(np.arange(40), 4).tolist()), spread(range(160))
    assert together == pytest.approx(x.std() / np.sqrt(40), rel=0.15)
    assert apart == pytest.approx(together / 2, rel=0.2)


levels = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=20)


@given(levels)
@settings(max_examples=50)
def test_correlations_are_scipys(rows: list) -> None:
    x, y = np.array(rows, dtype=float).T
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert (pearson(x, y), spearman(x, y), kendall(x, y)) == (0, 0, 0)
        return
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    assert kendall(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-9)


def test_ranking_by_hand() -> None:
    groups = ["a", "b", "a", "b", "c", "d", "d", "a"]
    ratings = np.array([1.0, 0.2, 0.5, 0.8, 0.3, 0.6, 0.6, 0.0])
    scores = np.array([0.9, 0.7, 0.1, 0.7, 0.5, 0.1, 0.2, 0.3])
    ranked = ranked_groups(ratings, groups)  # c has one candidate, people rated those of d alike
    assert [rows.tolist() for rows in ranked] == [[0, 2, 7], [1, 3]]
    found = ranking(scores, ratings, ranked)
    assert found["r1"].tolist() == [1, 0.5]  # the two of b share the first place
    third, second = 1 / np.log2(4), 1 / np.log2(3)
    assert found["dcg"] == pytest.approx(
        [(1 + 0.5 * third) / (1 + 0.5 * second), 0.5 * (1 + second) / (0.8 + 0.2 * second)]
    )


def test_concordance_by_hand() -> None:
    x = np.array([0.0, 1.0])
    assert concordance(x, x) == 1
    assert concordance(x, 1 - x) == -1
    assert concordance(x, x + 1) == pytest.approx(1 / 3)  # 2 * 0.25 / (0.25 + 0.25 + 1)
    assert concordance(x, 2 * x) == pytest.approx(2 * 0.5 / (0.25 + 1 + 0.25))
    for value in (1, 0.1):  # of three times .1 the mean is another number
        assert concordance(np.full(3, value), np.full(3, value)) == 0  # no spread, nothing to agree on


def test_closeness_by_hand() -> None:
    ratings = np.array([0.0, 1.0, 0.5])
    scores = np.array([[0.1, 0.8, 0.5], [0.3, 0.8, 1.0], [0.6, 0.5, 0.7]])
    near = closeness(scores, ratings)
    np.testing.assert_array_equal(near["r1"], [[1, 0, 1], [0, 0, 0], [0, 0, 0]])  # the tie of row 1 is nobody's
    ranks = np.array([[1, 1.5, 1], [2, 1.5, 3], [3, 3, 2]])
    np.testing.assert_allclose(near["dcg"], 1 / np.log2(ranks + 1))
    np.testing.assert_allclose(near["mae"], np.abs(scores - ratings))


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_calibration_error_by_hand(rows: list[tuple[float, bool]]) -> None:
    p, labels = (np.array(column) for column in zip(*rows, strict=True))
    bins = [min(int(value * 10), 9) for value in p]
    expected = sum(abs(sum(p[i] - labels[i] for i in range(len(p)) if bins[i] == which)) / len(p) for which in {*bins})
    assert calibration.reliability(p, labels).error == pytest.approx(expected, abs=1e-12)


def test_figures_of_a_perfect_judge() -> None:
    labels = np.array([True, False, True])
    found = calibration.figures(labels.astype(float), labels)
    assert found == {"accuracy": 1.0, "f1": 1.0, "mcc": 1.0, "ece": 0.0}
    half = calibration.figures(np.array([0.9, 0.6, 0.5]), labels)  # 0.5 itself is not correct
    assert half["f1"] == pytest.approx(f1_score(labels, [True, True, False]))


CORRECT, INCORRECT = np.array([0.5, 0.0]), np.array([-0.5, 0.2])  # on [0, 1]: 0.75 0.5, and 0.25 0.6

# multiples of 1/64 make ties, and scores of exactly 0.5, as likely as they are with ROUGE
grid = st.integers(0, 64).map(lambda i: i / 64)


def pairs_of_scores(least: int = 1) -> st.SearchStrategy:
    sizes = st.integers(least, 30)
    return sizes.flatmap(
        lambda n: st.tuples(arrays(np.float64, n, elements=grid), arrays(np.float64, n, elements=grid))
    )


def test_figures_by_hand() -> None:
    figures = separation(CORRECT, INCORRECT, COSINE, paired=True)
    expected = {
        "correct": 25,  # native scale
        "incorrect": -15,
        "n_delta": 20,  # 0.625 - 0.425
        "macro_f1": 100 * (0.8 + 2 / 3) / 2,  # 0.5 counts as correct: 2 hits, 1 false alarm, 1 rejected
        "wasserstein": 20,  # sorted: 0.5 - 0.25 and 0.75 - 0.6
        "auc": 75,  # 0.5 < 0.6 is the only pair the wrong way round
        "pairwise": 50,
    }
    assert {name: pytest.approx(value) for name, value in expected.items()} == figures


@given(pairs_of_scores())
@settings(max_examples=50)
def test_figures_are_those_of_scikit_learn_and_scipy(scores: tuple[np.ndarray, np.ndarray]) -> None:
    labels = np.repeat([1, 0], len(scores[0]))
    together = np.concatenate(scores)
    assert macro_f1(*scores) == pytest.approx(f1_score(labels, (together >= 0.5).astype(int), average="macro"))
    assert wasserstein(*scores) == pytest.approx(stats.wasserstein_distance(*scores))
    assert auc(*scores) == pytest.approx(roc_auc_score(labels, together))


def test_threshold_curve_by_hand() -> None:
    correct, incorrect = np.array([0.9, 0.6, 1.0, 0.4]), np.array([0.1, 0.55, 0.0, 0.3])
    with_midpoint = threshold_curve(correct, incorrect)
    without = threshold_curve(correct, incorrect, midpoint=False)
    assert len(with_midpoint) == len(without) == 100
    assert with_midpoint[0] == 50  # row 1 has both above the midpoint, row 3 both below
    assert without[0] == 100
    t = THRESHOLDS
    np.testing.assert_array_equal(
        without, 100 * ((t < 0.05) * 0.25 + (t < 0.1) * 0.25 + (t < 0.8) * 0.25 + (t < 1) * 0.25)
    )


def test_paired_t_test_by_hand() -> None:
    gaps, others = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, 1.5, 2.0, 2.5])
    d = gaps - others
    t = d.mean() / (d.std(ddof=1) / 2)
    assert paired_t_test(gaps, others) == pytest.approx(2 * stats.t.sf(t, 3))
    assert paired_t_test(gaps, gaps) == 1


@given(pairs_of_scores(2))
@example((np.full(3, 0.1), np.array([0, 0.5, 1])))
@settings(max_examples=50)
def test_matching_line_gives_mean_and_spread_and_the_best_concordance(scores: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = scores
    if np.ptp(x) == 0:
        with pytest.raises(ValueError, match="scores: expected some that differ"):
            matching_line(x, y)
        return
    slope, intercept = matching_line(x, y)
    mapped = slope * x + intercept
    assert mapped.mean() == pytest.approx(y.mean())
    assert mapped.std() == pytest.approx(y.std(), abs=1e-12)
    if np.ptp(y) > 0:
        assert concordance(mapped, y) == pytest.approx(abs(np.corrcoef(x, y)[0, 1]), abs=1e-9)
