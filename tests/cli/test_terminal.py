"""The table of scores on a terminal."""

import pytest

from semantic_metrics.cli.terminal import table_lines

RED, YELLOW, GREEN = ("\x1b[31m", "\x1b[33m", "\x1b[32m")


@pytest.mark.parametrize(
    ("limits", "values"), [((0.0, 1.0), [0.26, 0.6, 0.8]), ((-1.0, 1.0), [-0.1, 0.3, 0.6])], ids=["from 0", "from -1"]
)
def test_colours_follow_the_range_of_the_scores(limits: tuple[float, float], values: list[float]) -> None:
    _, *lines = table_lines({"metric": values}, {"text": ["a", "b", "c"]}, 3, {"metric": limits})
    for line, colour in zip(lines, (RED, YELLOW, GREEN), strict=True):
        assert colour in line
