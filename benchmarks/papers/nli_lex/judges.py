"""Judges of the NLI+lex benchmark: each scores in [0, 1] whether an answer is correct; above 0.5 it says so.

Where there are several gold answers, the one with the highest score counts. The lexical baselines normalise like
SQuAD's evaluation script (case, punctuation, articles, white space).

Source: Balamurali & Cheng 2025, section 4.1 and appendix C; token recall is this project's own baseline.
"""

import re
import string
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from benchmarks.common.baselines import bertscore, bleurt, rouge
from benchmarks.common.encoders import NotMeasured, Score, absence
from benchmarks.papers.nli_lex.sets import BEM, GPT4, JudgedSet
from semantic_metrics.nli_lex.lexical import lexical_match, substring
from semantic_metrics.stats.validation import word_f1

CORRECT_ABOVE = 0.5  # the paper's threshold for every evaluator (appendix C)
LEXICAL = "Lexical match alone"
RECALL = "Token recall"
BEM_TOKENS = 512  # maximal length of BERT
BLEURT_TOKENS = 512  # maximal length of BLEURT-20
_BATCH_SIZE = 64
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True)
class Verdicts:
    """Scores that a judge gives a set.

    Attributes:
        scores: (n,) in about [0, 1], higher is more likely correct; NaN where the judge gives none.
        seconds: time that scoring took; None where it was not measured here.
        notes: remarks for the report.
    """

    scores: np.ndarray
    seconds: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Loaded:
    """A judge whose model is loaded.

    Attributes:
        ask: function from a set to its verdicts.
        parameters: number of the model's parameters; 0 without a model, None if unknown.
    """

    ask: Callable[[JudgedSet], Verdicts]
    parameters: int | None = 0


@dataclass(frozen=True)
class Judge:
    """A row of the tables.

    Attributes:
        name: name of the row.
        load: loads the judge; raises NotMeasured where something that it needs is missing.
        group: "lexical", "model", "nli", "endpoint" or "published".
        published: name of its row in the paper; None where the paper has none.
    """

    name: str
    load: Callable[[], Loaded]
    group: str = "lexical"
    published: str | None = None


@dataclass
class Judged:
    """What was measured, and why the rest was not.

    Attributes:
        verdicts: verdicts by judge's name and set's key.
        reasons: why there are none, by judge's name and set's key.
        parameters: number of parameters of each loaded judge, by name.
    """

    verdicts: dict[tuple[str, str], Verdicts] = field(default_factory=dict)
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)
    parameters: dict[str, int | None] = field(default_factory=dict)


def judge_sets(
    judges: list[Judge], sets: dict[str, JudgedSet], report: Callable[[str], None] = lambda line: None
) -> Judged:
    """Ask every judge about every set, one judge after the other, so that only one model is in memory."""
    judged = Judged()
    for judge in judges:
        try:
            loaded = judge.load()
        except NotMeasured as reason:
            judged.reasons |= {(judge.name, key): str(reason) for key in sets}
            continue
        judged.parameters[judge.name] = loaded.parameters
        for key, answers in sets.items():
            report(f"{judge.name}: {answers.title}, {len(answers)} answers")
            try:
                verdicts = loaded.ask(answers)
            except NotMeasured as reason:
                judged.reasons[judge.name, key] = str(reason)
                continue
            if verdicts.scores.shape != (len(answers),) or np.isinf(verdicts.scores).any():
                raise ValueError(f"{judge.name}: expected {len(answers)} finite scores, got {verdicts.scores.shape}")
            judged.verdicts[judge.name, key] = verdicts
    return judged


def tokens(text: str) -> list[str]:
    """Words of a text as SQuAD's evaluation script compares them."""
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def exact_match(answer: str, reference: str) -> float:
    """1 where both have the same words in the same order."""
    return float(tokens(answer) == tokens(reference))


def token_f1(answer: str, reference: str) -> float:
    """Harmonic mean of precision and recall of words, in [0, 1]."""
    return word_f1(tokens(answer), tokens(reference))


def token_recall(answer: str, reference: str) -> float:
    """Share of the reference's words that the answer has, in [0, 1]."""
    theirs = Counter(tokens(reference))
    return (Counter(tokens(answer)) & theirs).total() / max(theirs.total(), 1)


def judge_pairs(score: Score) -> Callable[[JudgedSet], Verdicts]:
    """A judge of a function (answers, references) -> scores: takes the best of the gold answers, measures the time."""

    def ask(answers: JudgedSet) -> Verdicts:
        begin = time.perf_counter()
        texts = [text for text, group in zip(answers.candidates, answers.references, strict=True) for _ in group]
        each = np.asarray(score(texts, [text for group in answers.references for text in group]), dtype=np.float64)
        starts = np.cumsum([0, *map(len, answers.references[:-1])])
        return Verdicts(np.maximum.reduceat(each, starts), time.perf_counter() - begin)

    return ask


def lexical_judges() -> list[Judge]:
    """Judges that need no model."""

    def one_by_one(name: str, function: Callable[[str, str], float], published: str | None = None) -> Judge:
        return Judge(name, lambda: Loaded(judge_pairs(lambda *texts: list(map(function, *texts)))), published=published)

    return [
        Judge("ROUGE-L", lambda: Loaded(judge_pairs(rouge("rougeL"))), published="ROUGE-L"),
        one_by_one("Exact match", exact_match),
        one_by_one("Token F1", token_f1, "F1-score"),
        one_by_one("Containment", substring),
        one_by_one(LEXICAL, lexical_match),
        one_by_one(RECALL, token_recall),
    ]


def model_judges(models: dict[str, object]) -> list[Judge]:
    """BERTScore, BLEURT and BEM; one whose model is not given is not measured.

    `models` has `bertscore`, `bertscore_layer`, `bleurt` and `bem`, None where not given; and `run`.
    """
    device, layer = models["run"].get("device"), models["bertscore_layer"]

    def judge(name: str, load: Callable[[str], Loaded]) -> Judge:
        def load_given() -> Loaded:
            if models[name.lower()] is None:
                raise NotMeasured(f"no model given (--{name.lower()} FOLDER_OR_ID)")
            return load(models[name.lower()])

        return Judge(name, load_given, "model", name)

    def of_pairs(score: Score, model: str) -> Loaded:
        return Loaded(judge_pairs(score), count_parameters(model))

    bleurt_20 = partial(bleurt, device=device, reference_first=True, tokens=BLEURT_TOKENS)
    return [
        judge("BERTScore", lambda model: of_pairs(bertscore(model, layer, device), model)),
        judge("BLEURT", lambda model: of_pairs(bleurt_20(model), model)),
        judge("BEM", lambda model: bem(model, device)),
    ]


def count_parameters(model: str) -> int:
    """Number of an encoder's parameters, from its configuration alone; no weights are read.

    Raises:
        NotMeasured: the configuration does not load.
    """
    import torch
    from transformers import AutoConfig, AutoModel

    with absence(model), torch.device("meta"):
        return AutoModel.from_config(AutoConfig.from_pretrained(model)).num_parameters()


def bem(model: str, device: str | None) -> Loaded:
    """BEM from a transformers port (the paper's: kortukov/answer-equivalence-bem), the probability of "equivalent".

    It reads the answer as the first text, reference and question as the second, each closed by a separator.

    Raises:
        NotMeasured: the model does not load, or does not have two labels.
    """
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    with absence(model):
        tokenizer = AutoTokenizer.from_pretrained(model)
        network = AutoModelForSequenceClassification.from_pretrained(model).to(device or "cpu").eval()
    if network.config.num_labels != 2:
        raise NotMeasured(f"{model}: expected a model with two labels, got {network.config.num_labels}")
    first, last = tokenizer.cls_token, tokenizer.sep_token
    options = {"max_length": BEM_TOKENS, "truncation": True, "padding": True, "return_tensors": "pt"}

    def ask(answers: JudgedSet) -> Verdicts:
        rows = zip(answers.questions, answers.candidates, answers.references, strict=True)
        pairs = [
            (f"{first} {answer} {last}", f"{reference} {last} {question} {last}")
            for question, answer, group in rows
            for reference in group
        ]

        def score(*_: list[str]) -> np.ndarray:
            parts = []
            for i in range(0, len(pairs), _BATCH_SIZE):
                sides = map(list, zip(*pairs[i : i + _BATCH_SIZE], strict=True))
                inputs = tokenizer(*sides, add_special_tokens=False, **options)
                with torch.inference_mode():
                    parts.append(network(**inputs.to(network.device)).logits.softmax(-1)[:, 1].double().cpu().numpy())
            return np.concatenate(parts)

        return judge_pairs(score)(answers)

    return Loaded(ask, network.num_parameters())


def published_judges() -> list[Judge]:
    """BEM and GPT-4, whose judgements of NQ-open 301 Kamalloo et al. published row by row."""

    def ask(name: str, answers: JudgedSet) -> Verdicts:
        if name not in answers.before:
            raise NotMeasured("not published for this set")
        return Verdicts(answers.before[name])

    return [Judge(name, lambda name=name: Loaded(partial(ask, name), None), "published") for name in (BEM, GPT4)]
