"""Twenty summaries with one planted error each, written by hand for this benchmark, and whether the judge finds it."""

import json
from dataclasses import dataclass
from pathlib import Path

from semantic_metrics.support.judge import Judge, JudgedText

FILE = Path(__file__).with_name("planted.json")


@dataclass(frozen=True)
class Planted:
    """A summary with one wrong sentence.

    Attributes:
        name: name of its source.
        source: the source.
        sentences: sentences of the summary.
        planted: index of the wrong one.
        kind: number, name, negation, swapped roles or invented.
        place: what the source says instead; None where it says nothing of it.
    """

    name: str
    source: str
    sentences: tuple[str, ...]
    planted: int
    kind: str
    place: str | None


@dataclass(frozen=True)
class Found:
    """What the judge made of a planted error.

    Attributes:
        planted: the summary.
        judged: the judge's result.
    """

    planted: Planted
    judged: JudgedText

    @property
    def lowest(self) -> bool:
        """Whether the planted sentence has the lowest support, alone."""
        supports = [one.support for one in self.judged.sentences]
        wrong = supports.pop(self.planted.planted)
        return wrong < min(supports)

    @property
    def shown(self) -> bool | None:
        """Whether the first place shown for it overlaps what the source says instead; None where it says nothing."""
        if self.planted.place is None:
            return None
        begin = self.planted.source.index(self.planted.place)
        end = begin + len(self.planted.place)
        return any(
            one.begin < end and begin < one.end for one in self.judged.sentences[self.planted.planted].places[:1]
        )

    @property
    def verdict(self) -> str:
        """The verdict on the planted sentence."""
        return self.judged.sentences[self.planted.planted].verdict


def load_planted() -> list[Planted]:
    """The twenty summaries."""
    return [
        Planted(one["name"], one["source"], tuple(row["sentences"]), row["planted"], row["kind"], row["place"])
        for one in json.loads(FILE.read_text(encoding="utf-8"))
        for row in one["summaries"]
    ]


def find_planted(judge: Judge) -> list[Found]:
    """Judge the twenty summaries."""
    planted = load_planted()
    texts, sources = [" ".join(one.sentences) for one in planted], [[one.source] for one in planted]
    return [Found(*pair) for pair in zip(planted, judge.judge(texts, sources), strict=True)]


def planted_lines(found: list[Found]) -> list[str]:
    """The report: a line for each summary, and the totals."""
    lines = []
    for one in found:
        supports = " ".join(f"{sentence.support:.2f}" for sentence in one.judged.sentences)
        wrong = "lowest" if one.lowest else "NOT lowest"
        place = {None: "no place", True: "right place", False: "WRONG place"}[one.shown]
        kind = f"{one.planted.kind}, sentence {one.planted.planted + 1}"
        lines.append(f"{one.planted.name:10} {kind:26} {supports}  {wrong}, {one.verdict}, {place}")
    shown = [one.shown for one in found if one.shown is not None]
    right = [sentence for one in found for sentence in one.judged.sentences]
    wrong = [one.judged.sentences[one.planted.planted] for one in found]
    flagged = sum(one.verdict != "supported" for one in wrong)
    alarms = sum(one.verdict != "supported" for one in right) - flagged
    return [
        *lines,
        f"the planted sentence is the lowest in {sum(one.lowest for one in found)} of {len(found)}; "
        f"the first place shown is the right one in {sum(shown)} of {len(shown)}",
        f"verdicts other than supported: {flagged} of {len(wrong)} wrong sentences, "
        f"{alarms} of {len(right) - len(wrong)} right ones",
    ]
