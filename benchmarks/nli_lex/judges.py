"""What the NLI+lex benchmark compares: ways to say whether an answer is right, each a score in [0, 1] cut at 0.5.

Of several gold answers the one with the highest score counts. The lexical baselines normalise as SQuAD's evaluation
script does (case, punctuation, articles, white space).

Source: Balamurali & Cheng 2025, section 4.1 and appendix C; token recall is this project's own baseline.
"""

import re
import string
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from benchmarks.common.baselines import bertscore, bleurt, rouge
from benchmarks.common.encoders import NotMeasured, Score, absence
from benchmarks.nli_lex.sets import BEM, GPT4, JudgedSet
from semantic_metrics.nli_lex.lexical import lexical_match

CORRECT_ABOVE = 0.5  # the paper's, for every evaluator (appendix C)
LEXICAL = "Lexical match alone"
RECALL = "Token recall"
BEM_TOKENS = 512  # of BERT
_BATCH = 64  # texts at a time
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True)
class Verdicts:
    """What a judge says of a set.

    Attributes:
        scores: (n,) in about [0, 1], higher is likelier right; not a number where it says nothing.
        seconds: that it took; None where it was not measured here.
        notes: what a reader must know of them.
    """

    scores: np.ndarray
    seconds: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Loaded:
    """A judge that can be asked.

    Attributes:
        ask: a set -> what it says of it.
        parameters: of its model; 0 without one, None if unknown.
    """

    ask: Callable[[JudgedSet], Verdicts]
    parameters: int | None = 0


@dataclass(frozen=True)
class Judge:
    """A row of the tables.

    Attributes:
        name: of the row.
        load: makes it ready; raises NotMeasured where something that it needs is absent.
        group: "lexical", "model", "nli", "endpoint" or "published".
        published: name of its row in the paper; None for what the paper does not print.
    """

    name: str
    load: Callable[[], Loaded]
    group: str = "lexical"
    published: str | None = None


@dataclass
class Judged:
    """What was measured, and why the rest was not.

    Attributes:
        verdicts: by judge's name and set's key.
        reasons: by judge's name and set's key, why there are none.
        parameters: by judge's name, of those that were loaded.
    """

    verdicts: dict[tuple[str, str], Verdicts] = field(default_factory=dict)
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)
    parameters: dict[str, int | None] = field(default_factory=dict)


def judge_sets(
    judges: list[Judge], sets: dict[str, JudgedSet], report: Callable[[str], None] = lambda line: None
) -> Judged:
    """Ask every judge about every set, one judge after the other, so that one model at a time is in memory.

    Args:
        judges: with names that differ.
        sets: by key.
        report: takes a line of progress.
    """
    found = Judged()
    for judge in judges:
        try:
            loaded = judge.load()
        except NotMeasured as reason:
            found.reasons |= {(judge.name, key): str(reason) for key in sets}
            continue
        found.parameters[judge.name] = loaded.parameters
        for key, held in sets.items():
            report(f"{judge.name}: {held.title}, {len(held)} answers")
            try:
                verdicts = loaded.ask(held)
            except NotMeasured as reason:
                found.reasons[judge.name, key] = str(reason)
                continue
            if verdicts.scores.shape != (len(held),) or np.isinf(verdicts.scores).any():
                raise ValueError(f"{judge.name}: expected {len(held)} finite scores, got {verdicts.scores.shape}")
            found.verdicts[judge.name, key] = verdicts
    return found


def tokens(text: str) -> list[str]:
    """Words of a text as SQuAD's evaluation script compares them."""
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def exact_match(answer: str, reference: str) -> float:
    """1 where both have the same words in the same order."""
    return float(tokens(answer) == tokens(reference))


def token_f1(answer: str, reference: str) -> float:
    """Harmonic mean of precision and recall of words, in [0, 1]."""
    ours, theirs = tokens(answer), tokens(reference)
    common = (Counter(ours) & Counter(theirs)).total()
    return 2 * common / (len(ours) + len(theirs)) if common else 0.0


def token_recall(answer: str, reference: str) -> float:
    """Share of the reference's words that the answer has, in [0, 1]."""
    theirs = Counter(tokens(reference))
    return (Counter(tokens(answer)) & theirs).total() / max(theirs.total(), 1)


def containment(answer: str, reference: str) -> float:
    """1 where the reference is a substring of the answer, case aside: `lm` of the paper, taken literally."""
    return float(reference.lower() in answer.lower())


def of_pairs(score: Score) -> Callable[[JudgedSet], Verdicts]:
    """A function (answers, references) -> scores as a judge: the best of the gold answers counts, the time is taken."""

    def ask(found: JudgedSet) -> Verdicts:
        begin = time.perf_counter()
        answers = [answer for answer, group in zip(found.candidates, found.references, strict=True) for _ in group]
        each = np.asarray(score(answers, [text for group in found.references for text in group]), dtype=np.float64)
        starts = np.cumsum([0, *map(len, found.references[:-1])])
        return Verdicts(np.maximum.reduceat(each, starts), time.perf_counter() - begin)

    return ask


def _one_by_one(function: Callable[[str, str], float]) -> Score:
    return lambda answers, references: np.array(list(map(function, answers, references)), dtype=np.float64)


def lexical_judges() -> list[Judge]:
    """Those that need no model."""
    functions = {
        "Exact match": exact_match,
        "Token F1": token_f1,
        "Containment": containment,
        LEXICAL: lexical_match,
        RECALL: token_recall,
    }
    published = {"Token F1": "F1-score"}
    found = [Judge("ROUGE-L", lambda: Loaded(of_pairs(rouge("rougeL"))), published="ROUGE-L")]
    for name, function in functions.items():
        load = lambda function=function: Loaded(of_pairs(_one_by_one(function)))  # noqa: E731
        found.append(Judge(name, load, published=published.get(name)))
    return found


def model_judges(models: dict[str, object]) -> list[Judge]:
    """BERTScore, BLEURT and BEM; those whose model is not given say so when they are loaded.

    Args:
        models: `bertscore`, `bertscore_layer`, `bleurt`, `bem` and `device`, None for what is not given.
    """
    device, layer = models["device"], models["bertscore_layer"]
    pairwise = {
        "BERTScore": ("bertscore", lambda model: bertscore(model, layer, device)),
        "BLEURT": ("bleurt", lambda model: bleurt(model, device)),
    }
    found = []
    for name, (option, make) in pairwise.items():

        def load(option: str = option, make: Callable[[str], Score] = make) -> Loaded:
            model = _given(models, option)
            return Loaded(of_pairs(make(model)), count_parameters(model))

        found.append(Judge(name, load, "model", name))
    found.append(Judge("BEM", lambda: bem(_given(models, "bem"), device), "model", "BEM"))
    return found


def _given(models: dict[str, object], option: str) -> str:
    if models[option] is None:
        raise NotMeasured(f"no model given (--{option} FOLDER_OR_ID)")
    return models[option]


def count_parameters(model: str) -> int:
    """Parameters of an encoder, from its configuration; no weights are read.

    Raises:
        NotMeasured: the configuration cannot be had.
    """
    import torch
    from transformers import AutoConfig, AutoModel

    with absence(model), torch.device("meta"):
        return AutoModel.from_config(AutoConfig.from_pretrained(model)).num_parameters()


def bem(model: str, device: str | None) -> Loaded:
    """BEM from a transformers port (the paper's: kortukov/answer-equivalence-bem), the probability of "equivalent".

    It reads the answer as the first text, reference and question as the second, each closed by a separator.

    Raises:
        NotMeasured: the model does not load, or has other than two labels.
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

    def ask(found: JudgedSet) -> Verdicts:
        rows = zip(found.questions, found.candidates, found.references, strict=True)
        pairs = [
            (f"{first} {answer} {last}", f"{reference} {last} {question} {last}")
            for question, answer, group in rows
            for reference in group
        ]

        def score(*_: list[str]) -> np.ndarray:
            parts = []
            for i in range(0, len(pairs), _BATCH):
                sides = map(list, zip(*pairs[i : i + _BATCH], strict=True))
                inputs = tokenizer(*sides, add_special_tokens=False, **options)
                with torch.inference_mode():
                    parts.append(network(**inputs.to(network.device)).logits.softmax(-1)[:, 1].double().cpu().numpy())
            return np.concatenate(parts)

        return of_pairs(score)(found)

    return Loaded(ask, network.num_parameters())


def published_judges() -> list[Judge]:
    """BEM and GPT-4 as Kamalloo et al. published their judgements, row by row, of NQ-open 301."""

    def ask(name: str, found: JudgedSet) -> Verdicts:
        if name not in found.before:
            raise NotMeasured("not published for this set")
        return Verdicts(found.before[name])

    return [
        Judge(name, lambda name=name: Loaded(lambda found: ask(name, found), None), "published") for name in (BEM, GPT4)
    ]
