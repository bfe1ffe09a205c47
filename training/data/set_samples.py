"""An entry of a config's `sets` -> samples of the set criteria: A, B, and their overlap, difference or union."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from semantic_metrics.core.inputs import quote
from semantic_metrics.set_criteria.samples import OPERATORS
from training.data.sources import Entry, Example, check_columns


@dataclass(frozen=True, kw_only=True)
class SetSample(Example):
    """A as the reference, B as the correct text and the target, an operator's result, as the incorrect one."""

    operator: str


@dataclass(frozen=True, kw_only=True)
class SetSource(Entry):
    """Rows with the texts A, B and target.

    Attributes:
        a, b, target, operator: columns.
        compose: make more samples of each union, in the forms of the paper (Bansal et al., section 5) that need no
            model: what the union has and one part has not is the other part (two differences), and the union shares
            one part with that part followed by a sentence of the next row (an overlap).
    """

    a: str = "a"
    b: str = "b"
    target: str = "target"
    operator: str = "operator"
    compose: bool = False

    def examples(self, rows: pd.DataFrame) -> list[SetSample]:
        """The samples of the table's rows, in their order.

        Raises:
            ValueError: a column is missing, or an operator is unknown.
        """
        columns = [self.a, self.b, self.target, self.operator]
        check_columns(rows, columns, self.name)
        unknown = set(rows[self.operator]) - set(OPERATORS)
        if unknown:
            raise ValueError(
                f"{self.name}: expected operators among {', '.join(OPERATORS)}, got {quote(unknown.pop())}"
            )
        samples = []
        first = rows[self.a].tolist()
        following = first[1:] + first[:1]  # the first row follows the last
        texts = rows[columns].itertuples(index=False, name=None)
        for (a, b, target, operator), other in zip(texts, following, strict=True):
            samples.append(SetSample(a, b, target, operator=operator))
            if self.compose and operator == "union":
                samples += _composed(a, b, target, other)
        return samples


def _composed(a: str, b: str, union: str, other: str) -> Iterator[SetSample]:
    yield SetSample(union, a, b, operator="difference")
    yield SetSample(union, b, a, operator="difference")
    yield SetSample(union, f"{b} {other}", b, origin=(other,), operator="overlap")
