"""docs/tour.ipynb runs and prints what it shows."""

from pathlib import Path

import nbformat
import pytest

from tests.documents.blocks import difference
from tests.documents.notebook import PATH, execute, outputs


@pytest.mark.slow
def test_the_tour_prints_what_it_shows(tmp_path: Path) -> None:
    shown, printed = outputs(nbformat.read(PATH, as_version=4)), outputs(execute(tmp_path))
    assert all(shown), "every cell of code shows something"
    wrong = [found for pair in zip(shown, printed, strict=True) if (found := difference(*pair))]
    assert not wrong, "\n\n".join(wrong)
