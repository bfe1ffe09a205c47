"""Small samples for the benchmark of set criteria, and its command as a user calls it."""

import numpy as np
import pandas as pd
from click.testing import CliRunner, Result

from benchmarks.papers.set_criteria.command import main
from semantic_metrics.endpoint import KEY_VARIABLE
from semantic_metrics.set_criteria.encoders import Encoder
from tests.tiny_table import WORDS

GROUPS = 12


def samples(groups: int = GROUPS, seed: int = 0) -> pd.DataFrame:
    """The forms of the paper in the words of `tests.tiny_table`: a union is the two texts one after the other."""
    rng, rows = np.random.default_rng(seed), []
    for group in range(groups):
        one, two, three = (" ".join(rng.choice(WORDS, 4)) for _ in range(3))
        left, right = f"{one} {two} {group}", f"{two} {three} {group}"
        for operator, a, b, target in [
            ("overlap", left, right, two),
            ("difference", left, two, one),
            ("difference", right, two, three),
            ("union", one, two, left),
        ]:
            rows.append({"operator": operator, "a": a, "b": b, "target": target, "source": "made", "group": group})
    return pd.DataFrame(rows)


def run(*arguments: object, **environment: str) -> Result:
    """Call the command in an environment without a key, unless one is given."""
    return CliRunner(env={KEY_VARIABLE: "", **environment}).invoke(main, list(map(str, arguments)))


def finish(*arguments: object, **environment: str) -> Result:
    """Call the command with few resamples, and expect success."""
    result = run(*arguments, "--resamples", 40, **environment)
    assert result.exit_code == 0, (result.output, result.exception)
    return result


def vectors_of(encoder: Encoder, frame: pd.DataFrame) -> tuple[np.ndarray, ...]:
    """A, B and targets of samples."""
    return tuple(encoder.encode(list(frame[column]))[0] for column in ("a", "b", "target"))
