"""The texts of the suite, all as one kind of set: answers, summaries, captions, claims, paraphrases, rated pairs.

No metric here was trained on any of them; four are no clean test all the same (`tables.notes`). The files are those of
the papers' benchmarks and of this folder. A set whose file is not in the data folder is left out, and the
report says so.
"""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common.tables import read_table
from benchmarks.papers.matcha.sets import FILES, TITLES, TripletSet, read_set
from benchmarks.papers.nli_lex.nli_checks import ENTAILMENT, one_word_pairs, probe_answers
from benchmarks.papers.nli_lex.sets import load_judged
from benchmarks.suite.long_texts import FILE as WICE_FILE
from benchmarks.suite.long_texts import load_claims
from semantic_metrics.stats.bootstrap import rows_by_group

WORDS, ROLES, PAWS, MULTINLI, STSB = "one word", "roles", "PAWS-Wiki dev", "MultiNLI matched", "STS-B test"
PEOPLE, DENIALS, WICE = "people's ratings", "denials", "WiCE dev"
NQ301, DIVER_QA = "NQ-open 301", "DIVER-QA"
AUC, GAP, SPEARMAN, CCC, PEARSON, NATIVE_CCC = "auc", "gap", "spearman", "ccc", "pearson", "ccc, as it is"
ANSWERS, SUMMARIES, CAPTIONS, CLAIMS = "answers", "summaries", "captions", "claims"
PARAPHRASES, STATEMENTS, RATED = "paraphrases", "statements", "rated by people"
# of each set, in the order of the table
KINDS = dict.fromkeys((NQ301, DIVER_QA, DENIALS, TITLES["truthfulqa"]), ANSWERS)
KINDS |= {TITLES["newts"]: SUMMARIES, TITLES["coco"]: CAPTIONS, TITLES["climate_fever"]: CLAIMS, WICE: CLAIMS}
KINDS |= {MULTINLI: STATEMENTS, PAWS: PARAPHRASES, STSB: RATED, PEOPLE: RATED}
_PAWS_FILE = "paws_wiki/dev.parquet"
_ROLES_FILE = Path(__file__).with_name("word_order.csv")
JOINED = "one sentence of three"
_JOINED_FILES = ("nli_triplets/mnli_dev_mismatched.parquet", "nli_triplets/lingnli_val.parquet")  # for development
_JOINED_COLUMNS = ("premise", "correct_answer", "incorrect_answer")
SENTENCES, ITEMS = 3, 200  # of a joined text, of a file
_PREMISE_CHARACTERS = (30, 160)


@dataclass(frozen=True)
class TextSet:
    """Texts to judge, and what is known of them.

    Attributes:
        candidates: n texts to judge.
        references: n lists of texts that they are compared with, each with at least one.
        truth: (n,) 1 where a text is correct and 0 where not; or ratings on [0, 1].
        items: n names of items; texts of one item depend on each other and are drawn together.
        figures: names of what is measured on it.
        questions: n questions; None for texts that answer none.
        long: whether the references are whole articles.
        parts: n names of parts that are also reported alone; empty for none.
    """

    title: str
    candidates: list[str]
    references: list[list[str]]
    truth: np.ndarray
    items: list[Hashable]
    figures: tuple[str, ...] = (AUC,)
    questions: list[str] | None = None
    long: bool = False
    parts: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.candidates)

    def sample(self, rows: int | None, seed: int) -> "TextSet":
        """Whole items at random, until there are at least `rows` texts; all of them where `rows` is None."""
        if rows is None or rows >= len(self):
            return self
        groups, kept = rows_by_group(self.items), []
        for number in np.random.default_rng(seed).permutation(len(groups)):
            kept += groups[number].tolist() if len(kept) < rows else []
        return self.take(sorted(kept))

    def take(self, rows: list[int]) -> "TextSet":
        """The texts with these numbers."""
        lists = ("candidates", "references", "items", "questions", "parts")
        kept = {name: [given[i] for i in rows] for name in lists if (given := getattr(self, name))}
        return replace(self, truth=self.truth[rows], **kept)


def pairs(title: str, references: list[str], candidates: list[str], truth: np.ndarray, **more: object) -> TextSet:
    """A set of texts with one reference each, every one an item of its own unless `more` says otherwise."""
    given = {"items": list(range(len(truth)))} | more
    return TextSet(title, candidates, [[text] for text in references], np.asarray(truth, dtype=float), **given)


def triplets(title: str, references: list[list[str]], candidates: list[list[str]], **more: object) -> TextSet:
    """Correct texts and, behind them, incorrect ones, each with references; row i of both is an item."""
    size = len(candidates[0])
    truth, items = np.repeat([1.0, 0.0], size), [*range(size), *range(size)]
    return pairs(title, [*references[0], *references[1]], [*candidates[0], *candidates[1]], truth, items=items, **more)


def role_items() -> pd.DataFrame:
    """Sentences written for this project: columns kind, reference, paraphrase, and swap: its words, other roles."""
    return pd.read_csv(_ROLES_FILE, keep_default_na=False)


def own_texts() -> list[TextSet]:
    """The two probes that this project wrote: one word exchanged, and roles exchanged."""
    words, roles = one_word_pairs(), role_items()
    truth, items = words["label"] == ENTAILMENT, [i // 2 for i in range(len(words))]
    texts = [words[name].tolist() for name in ("premise", "hypothesis")]
    reference, correct, swapped, kinds = (roles[name].tolist() for name in ("reference", "paraphrase", "swap", "kind"))
    return [
        pairs(WORDS, *texts, truth, items=items, parts=words["kind"].tolist()),
        triplets(ROLES, [reference, reference], [correct, swapped], parts=[*kinds, *kinds]),
    ]


def pair_texts(data: Path) -> list[TextSet]:
    """PAWS, the sets of the MATCHA paper, STS-B and people's ratings, as far as they are there.

    Raises ValueError: a file is invalid, or the folder lacks STS-B or the triplets of MultiNLI; names it.
    """
    for key in ("multinli", "stsb"):
        if not (data / FILES[key]).is_file():
            raise ValueError(f"--data: expected {FILES[key]} below it, got no file {data / FILES[key]}")
    sets = [_paws(data / _PAWS_FILE)] if (data / _PAWS_FILE).is_file() else []
    sets += [_labelled(read_set(key, data / FILES[key])) for key in TITLES if (data / FILES.get(key, "/")).is_file()]
    for title, key, first in ((STSB, "stsb", SPEARMAN), (PEOPLE, "human", PEARSON)):
        if (data / FILES[key]).is_file():
            rated = read_set(key, data / FILES[key])
            figures = (first, CCC, NATIVE_CCC)
            sets.append(pairs(title, rated.references, rated.candidates, rated.ratings, figures=figures))
    return sets


def _paws(path: Path) -> TextSet:
    frame = read_table(path, "sentence1", "sentence2", "label")
    if set(frame["label"]) != {0, 1}:
        raise ValueError(f"{path}: expected labels 0 and 1, got {sorted(set(frame['label']))}")
    return pairs(PAWS, frame["sentence1"].tolist(), frame["sentence2"].tolist(), frame["label"])


def _labelled(one: TripletSet) -> TextSet:
    """A set of the MATCHA paper: how its correct texts compare with its incorrect ones, and how far they lie apart."""
    title = MULTINLI if one.key == "multinli" else one.title
    references = [one.references, one.references_of_incorrect]
    return triplets(title, references, [one.correct, one.incorrect], figures=(AUC, GAP))


def joined_texts(data: Path) -> list[TextSet]:
    """Three pairs of NLI joined: premises, the sentences that they entail, and these with one that is contradicted.

    Without the files in the data folder there is no set; a ValueError names an invalid one.
    """
    rows = [row for name in _JOINED_FILES if (data / name).is_file() for row in _items(data / name)]
    if not rows:
        return []
    reference, correct, incorrect = map(list, zip(*rows, strict=True))
    return [triplets(JOINED, [reference, reference], [correct, incorrect])]


def _items(path: Path) -> list[tuple[str, str, str]]:
    frame = read_table(path, *_JOINED_COLUMNS)
    premises = frame["premise"].str.strip()
    frame = frame[premises.str.len().between(*_PREMISE_CHARACTERS) & premises.str.endswith(".")]
    frame = frame.sample(min(SENTENCES * ITEMS, len(frame) // SENTENCES * SENTENCES), random_state=0)
    changed = np.random.default_rng(0)
    items = []
    for begin in range(0, len(frame), SENTENCES):
        reference, correct, incorrect = (
            list(map(_ended, frame[name][begin : begin + SENTENCES])) for name in _JOINED_COLUMNS
        )
        place = int(changed.integers(SENTENCES))
        wrong = [*correct[:place], incorrect[place], *correct[place + 1 :]]
        items.append((" ".join(reference), " ".join(correct), " ".join(wrong)))
    return items


def _ended(sentence: str) -> str:
    """A sentence with a stop at its end."""
    sentence = sentence.strip()
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


def load_texts(data: Path, titles: Collection[str] = ()) -> tuple[list[TextSet], list[str]]:
    """The sets of a data folder in the order of KINDS, or those of these titles, and the titles that are not there."""
    by_title = {one.title: one for one in [*_answers(data), *_claims(data), *pair_texts(data)]}
    wanted = [title for title in KINDS if title in titles or not titles]
    return [by_title[title] for title in wanted if title in by_title], [one for one in wanted if one not in by_title]


def _answers(data: Path) -> list[TextSet]:
    """Answers that people judged, and the answers that name the reference to deny it, which need no data."""
    sets = []
    for one in load_judged(data, ("nq301", "diver_qa"))[0].values():
        texts = one.candidates, one.references, one.labels.astype(float), one.questions
        sets.append(TextSet(one.title, *texts, questions=one.questions))
    denials = probe_answers()
    questions, texts = denials["question"].tolist(), [denials[name].tolist() for name in ("reference", "candidate")]
    return [*sets, pairs(DENIALS, *texts, denials["label"], items=questions, questions=questions)]


def _claims(data: Path) -> list[TextSet]:
    found = [load_claims(data)] if (data / WICE_FILE).is_file() else []
    return [pairs(WICE, one.articles, one.claims, one.labels, long=True) for one in found]
