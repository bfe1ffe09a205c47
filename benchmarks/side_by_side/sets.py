"""The texts of the table: answers, summaries, captions, claims, paraphrases, and pairs that people rated.

No metric here was trained or fitted on any of them; four rows are no clean test all the same (`tables.notes`). They are
read by the modules of the single benchmarks. A set whose file is not in the data folder is left out, and the report
says so.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.long_texts.claims import FILE as WICE_FILE
from benchmarks.long_texts.claims import load_claims
from benchmarks.matcha.sets import TITLES
from benchmarks.nli_lex.denials import probe_answers
from benchmarks.nli_lex.sets import load_judged
from benchmarks.probes import (
    AUC,
    CCC,
    GAP,
    MULTINLI,
    NATIVE_CCC,
    PAWS,
    PEARSON,
    PEOPLE,
    SPEARMAN,
    STSB,
    Probe,
    data_probes,
)

DENIALS, WICE = "denials", "WiCE dev"
NQ301, DIVER_QA = "NQ-open 301", "DIVER-QA"
ANSWERS, SUMMARIES, CAPTIONS, CLAIMS = "answers", "summaries", "captions", "claims"
PARAPHRASES, STATEMENTS, RATED = "paraphrases", "statements", "rated by people"
KINDS = {  # of each set, in the order of the table
    NQ301: ANSWERS,
    DIVER_QA: ANSWERS,
    DENIALS: ANSWERS,
    TITLES["truthfulqa"]: ANSWERS,
    TITLES["newts"]: SUMMARIES,
    TITLES["coco"]: CAPTIONS,
    TITLES["climate_fever"]: CLAIMS,
    WICE: CLAIMS,
    MULTINLI: STATEMENTS,
    PAWS: PARAPHRASES,
    STSB: RATED,
    PEOPLE: RATED,
}
FIGURES = {STSB: (SPEARMAN, CCC, NATIVE_CCC), PEOPLE: (PEARSON, CCC, NATIVE_CCC)}  # of the others: `Probe.figures`


@dataclass(frozen=True)
class TextSet:
    """Texts to judge, and what is known of them.

    Attributes:
        title: name of the set.
        candidates: n texts to judge.
        references: n lists of texts that they are compared with, each with at least one.
        truth: (n,) 1 where a text is correct and 0 where not; or ratings on [0, 1].
        items: n names of items; texts of one item depend on each other and are drawn together.
        figures: names of what is measured on it.
        questions: n questions; None for texts that answer none.
        long: whether the references are whole articles.
    """

    title: str
    candidates: list[str]
    references: list[list[str]]
    truth: np.ndarray
    items: list[Hashable]
    figures: tuple[str, ...] = (AUC, GAP)
    questions: list[str] | None = None
    long: bool = False

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def kind(self) -> str:
        """What the texts are."""
        return KINDS[self.title]

    def sample(self, rows: int | None, seed: int) -> "TextSet":
        """Whole items at random, until there are at least `rows` texts; all of them where `rows` is None."""
        if rows is None or rows >= len(self):
            return self
        order = np.random.default_rng(seed).permutation(len(names := list(dict.fromkeys(self.items))))
        places: dict[Hashable, list[int]] = {}
        for place, item in enumerate(self.items):
            places.setdefault(item, []).append(place)
        kept: list[int] = []
        for number in order:
            if len(kept) >= rows:
                break
            kept += places[names[number]]
        return self.take(sorted(kept))

    def take(self, rows: list[int]) -> "TextSet":
        """The texts with these numbers."""
        texts = {name: [getattr(self, name)[i] for i in rows] for name in ("candidates", "references", "items")}
        questions = None if self.questions is None else [self.questions[i] for i in rows]
        return replace(self, truth=self.truth[rows], questions=questions, **texts)


def load_texts(data: Path) -> tuple[list[TextSet], list[str]]:
    """The sets of a data folder in the order of KINDS, and the titles of those whose file is not there.

    Raises:
        ValueError: a file is invalid, or the folder lacks STS-B or the triplets of MultiNLI; names it.
    """
    sets = {one.title: one for one in [*_answers(data), *_claims(data), *map(_of_probe, data_probes(data))]}
    return [sets[title] for title in KINDS if title in sets], [title for title in KINDS if title not in sets]


def _of_probe(probe: Probe) -> TextSet:
    references = [[text] for text in probe.references]
    figures = FIGURES.get(probe.name, probe.figures)
    return TextSet(probe.name, probe.candidates, references, probe.truth, probe.items.tolist(), figures)


def _answers(data: Path) -> list[TextSet]:
    """Answers that people judged, and the answers that name the reference to deny it, which need no data."""
    judged = load_judged(data, ("nq301", "diver_qa"))[0].values()
    sets = [
        TextSet(
            one.title, one.candidates, one.references, one.labels.astype(float), one.questions, (AUC,), one.questions
        )
        for one in judged
    ]
    denials = probe_answers()
    questions, references = denials["question"].tolist(), [[text] for text in denials["reference"]]
    truth = denials["label"].to_numpy(dtype=float)
    return [*sets, TextSet(DENIALS, denials["candidate"].tolist(), references, truth, questions, (AUC,), questions)]


def _claims(data: Path) -> list[TextSet]:
    if not (data / WICE_FILE).is_file():
        return []
    claims = load_claims(data)
    articles, truth = [[text] for text in claims.articles], claims.labels.astype(float)
    return [TextSet(WICE, claims.claims, articles, truth, list(range(len(truth))), (AUC,), long=True)]
