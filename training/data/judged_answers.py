r"""Answers that people judged -> pairs that an NLI model learns from.

    python -m training.data.judged_answers --config training/configs/data/judged_answers.yaml --data DATA \
        --output runs/judged

Writes train.parquet and held_out.parquet into the output folder: question, sentence1 (question and answer), sentence2
(question and reference) and label (entailment or not_entailment). A fifth of the questions, chosen by their digest, is
held out: the weights of the judge are fitted and measured on answers that the model has not seen (`semantic-metrics fit
--exclude runs/judged/train.parquet`). With `long_words` in the config also train_long.parquet: the answers to the
training questions among sentences of answers to similar questions. Prints what was kept and dropped.
"""

import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path

import numpy as np
import pandas as pd

from semantic_metrics.core.progress import with_progress
from semantic_metrics.fitting.judged_answers import JudgedAnswers, question_key
from semantic_metrics.fitting.lengthen import lengthen
from semantic_metrics.nli_lex.features import TEMPLATE
from semantic_metrics.nli_lex.lexical import stem_recall
from semantic_metrics.nli_lex.windows import fill
from training.data.config_files import read_yaml
from training.data.run_arguments import make_parser
from training.data.sources import Table, check_columns, normalise, read_excluded
from training.data.swap_pairs import is_held_out

HELD_OUT_ONE_IN = 5  # questions
LABELS = ("entailment", "not_entailment")  # names of training.cross_encoder.targets

JudgedAnswer = tuple[str, str, list[str], bool]  # question, answer, references, and whether the answer is correct


@dataclass(frozen=True)
class JudgedSource:
    """A table of judged answers.

    Attributes:
        columns: question, answer, reference, label.
        separator: text between several references; empty if there is one.
        correct_from: labels from this number on mean a correct answer.
    """

    name: str
    table: Table
    columns: list[str]
    separator: str = ""
    correct_from: float = 1.0
    licence: str = "not stated"
    credit: str = ""

    def answers(self, data: Path | None, excluded: frozenset[str]) -> tuple[list[JudgedAnswer], Counter]:
        """The answers, and counts of what was kept and dropped; questions whose key is in `excluded` are left out.

        Raises ValueError: a file or column is missing, or nothing is left.
        """
        rows = self.table.read(data, self.columns[:3])
        check_columns(rows, self.columns, self.name)
        counts, answers = Counter(rows=len(rows)), []
        texts, labels = rows[self.columns[:3]].fillna("").itertuples(index=False, name=None), rows[self.columns[3]]
        for (question, answer, reference), label in zip(texts, labels, strict=True):
            if pd.isna(label):
                counts["dropped: no label"] += 1
                continue
            references = reference.split(self.separator) if self.separator else [reference]
            references = [text for text in references if normalise(text)]
            if not references or not normalise(answer):
                counts["dropped: empty text"] += 1
            elif question_key(question) in excluded:
                counts["dropped: in an evaluation set"] += 1
            else:
                answers.append((question, answer, references, bool(label >= self.correct_from)))
        if not answers:
            raise ValueError(f"{self.name}: no answer is left ({dict(counts)})")
        counts["kept"] = len(answers)
        return answers, counts


def pairs_of(answers: list[JudgedAnswer]) -> pd.DataFrame:
    """Answers with their references as pairs: columns question, sentence1, sentence2, label, part.

    A right answer is paired with the reference whose words it has most of, a wrong one with every reference.
    """
    pairs = []
    for question, answer, references, correct in with_progress(answers, "answer", title="paired"):
        if correct:
            pairs.append((question, answer, max(references, key=lambda text: stem_recall(answer, text)), LABELS[0]))
        else:
            pairs += [(question, answer, text, LABELS[1]) for text in references]
    made = [
        (q, fill(TEMPLATE, q, a).text, fill(TEMPLATE, q, r).text, label, part_of(q))
        for q, a, r, label in with_progress(pairs, "pair", title="written")
    ]
    return pd.DataFrame(made, columns=["question", "sentence1", "sentence2", "label", "part"])


def long_pairs(answers: list[JudgedAnswer], words: tuple[int, int]) -> pd.DataFrame:
    """The answers to the training questions, made long, of a number of words in this range, as `pairs_of` returns them.

    Those that stay short are left out.
    """
    own = [answer for answer in answers if part_of(answer[0]) == "train"]
    questions, texts, references, labels = (list(column) for column in zip(*own, strict=True))
    long = lengthen(JudgedAnswers(questions, texts, references, np.array(labels), [0] * len(own)), words=words)
    longer = [text != old for text, old in zip(long.answers, texts, strict=True)]
    return pairs_of(list(compress(zip(questions, long.answers, references, labels, strict=True), longer)))


def part_of(question: str) -> str:
    """The file that a question's answers belong to: "held_out" for one of HELD_OUT_ONE_IN, else "train"."""
    return "held_out" if is_held_out(question_key(question), HELD_OUT_ONE_IN) else "train"


@dataclass(frozen=True)
class JudgedConfig:
    """The tables, and `exclude`: tables with `columns` of questions whose answers are left out.

    `long_words`, two numbers, is the range of words of the long forms; none are made without it.
    """

    train: list[JudgedSource]
    exclude: list[dict] = field(default_factory=list)
    long_words: tuple[int, int] | None = None


def main() -> None:
    """Command line."""
    arguments = make_parser(__doc__, "A YAML file; see JudgedConfig.").parse_args()
    config = read_yaml(arguments.config, JudgedConfig)
    excluded, answers = frozenset(map(question_key, read_excluded(config.exclude, arguments.data))), []
    for source in config.train:
        found, counts = source.answers(arguments.data, excluded)
        sys.stdout.write(f"{source.name}: {dict(counts)}\n")
        answers += found
    arguments.output.mkdir(parents=True, exist_ok=True)
    written = dict(list(distinct(pairs_of(answers)).groupby("part")))
    if config.long_words is not None:
        written["train_long"] = distinct(long_pairs(answers, config.long_words)).sample(frac=1, random_state=0)
    for part, rows in written.items():
        sys.stdout.write(f"{part}: {rows['label'].value_counts().to_dict()}\n")
        rows.drop(columns="part").to_parquet(arguments.output / f"{part}.parquet", index=False)


def distinct(pairs: pd.DataFrame) -> pd.DataFrame:
    """Pairs without repeats and without those that have both labels; prints how many were dropped, and what is left."""
    once = pairs.drop_duplicates()
    contradicted = once.duplicated(["sentence1", "sentence2"], keep=False)
    sys.stdout.write(f"{len(pairs) - len(once)} repeated, {contradicted.sum()} judged both ways: dropped\n")
    kept = once[~contradicted]
    sys.stdout.write(f"{len(kept)} pairs: {kept['label'].value_counts().to_dict()}\n")
    return kept


if __name__ == "__main__":
    main()
