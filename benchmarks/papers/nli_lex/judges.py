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
from pathlib import Path

import numpy as np

from benchmarks.common.baselines import bertscore, bleurt, given_model, rouge
from benchmarks.common.encoders import NotMeasured, Score, absence, transformer
from benchmarks.papers.nli_lex.sets import BEM, GPT4, JudgedSet
from semantic_metrics.endpoint import EndpointError, chat_endpoint
from semantic_metrics.nli_lex.lexical import lexical_match, substring
from semantic_metrics.stats.validation import word_f1

CORRECT_ABOVE = 0.5  # the paper's threshold for every evaluator (appendix C)
LEXICAL = "Lexical match alone"
RECALL = "Token recall"
BEM_TOKENS = 512  # maximal length of BERT
BLEURT_TOKENS = 512  # maximal length of BLEURT-20
PROMPT = """\
Question: {question}
Reference answer: {reference}
Candidate answer: {answer}

Does the candidate answer match the reference answer? It does if it says the same in other words, or names the same
person, place or number. Reply with 1 if it does and with 0 if it does not, and with nothing else."""
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True)
class Verdicts:
    """(n,) scores of a set in about [0, 1], NaN where there is none; the seconds that they took, if known; remarks."""

    scores: np.ndarray
    seconds: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Loaded:
    """A judge whose model is loaded, and the number of its parameters: 0 without a model, None if unknown."""

    ask: Callable[[JudgedSet], Verdicts]
    parameters: int | None = 0


@dataclass(frozen=True)
class Judge:
    """A row of the tables, and the paper's name of it; `load` raises NotMeasured where something is missing.

    `group` is "lexical", "model", "nli", "endpoint" or "published".
    """

    name: str
    load: Callable[[], Loaded]
    group: str = "lexical"
    published: str | None = None


@dataclass
class Judged:
    """Verdicts, and why there are none, by judge's name and set's key; parameters by judge's name."""

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
    """BERTScore, BLEURT and BEM, with the models that the options name; one without a model is not measured."""
    device, layer = models["run"].get("device"), models["bertscore_layer"]
    bleurt_20 = partial(bleurt, device=device, reference_first=True, tokens=BLEURT_TOKENS)

    def judge(name: str, load: Callable[[str], Loaded]) -> Judge:
        return Judge(name, lambda: load(given_model(models, name)), "model", name)

    def pairs(name: str, score: Callable[[str], Score]) -> Judge:
        return judge(name, lambda model: Loaded(judge_pairs(score(model)), count_parameters(model)))

    return [
        pairs("BERTScore", lambda model: bertscore(model, layer, device)),
        pairs("BLEURT", bleurt_20),
        judge("BEM", lambda model: bem(model, device)),
    ]


def count_parameters(model: str) -> int:
    """Number of an encoder's parameters, from its configuration alone (or NotMeasured); no weights are read."""
    import torch
    from transformers import AutoConfig, AutoModel

    with absence(model), torch.device("meta"):
        return AutoModel.from_config(AutoConfig.from_pretrained(model)).num_parameters()


def bem(model: str, device: str | None) -> Loaded:
    """BEM from a transformers port (the paper's: kortukov/answer-equivalence-bem), the probability of "equivalent".

    It reads the answer as the first text, reference and question as the second, each closed by a separator.
    """
    tokenizer, network, run = transformer(model, "AutoModelForSequenceClassification", device, outputs=2)
    first, last = tokenizer.cls_token, tokenizer.sep_token
    options = {"max_length": BEM_TOKENS, "add_special_tokens": False}

    def ask(answers: JudgedSet) -> Verdicts:
        rows = zip(answers.questions, answers.candidates, answers.references, strict=True)
        pairs = [
            (f"{first} {answer} {last}", f"{reference} {last} {question} {last}")
            for question, answer, group in rows
            for reference in group
        ]
        return judge_pairs(lambda *_: run(pairs, lambda output: output.logits.softmax(-1)[:, 1], **options))(answers)

    return Loaded(ask, network.num_parameters())


def published_judges() -> list[Judge]:
    """BEM and GPT-4, whose judgements of NQ-open 301 Kamalloo et al. published row by row."""

    def ask(name: str, answers: JudgedSet) -> Verdicts:
        if name not in answers.before:
            raise NotMeasured("not published for this set")
        return Verdicts(answers.before[name])

    return [Judge(name, lambda name=name: Loaded(partial(ask, name), None), "published") for name in (BEM, GPT4)]


def endpoint_judge(url: str, model: str, kept: Path | None = None) -> Judge:
    """A language model behind OpenAI's chat API that is asked about each answer once, at temperature 0.

    Replies that `kept` holds from an earlier run are not asked for again, and take no time. One that is neither 1 nor 0
    counts as incorrect; the report says how many there were. Like in the paper (appendix C), the server lets the model
    write nothing else, if it can. The key is in the environment variable SEMANTIC_METRICS_API_KEY.

    A ValueError says that `url` is neither http nor https, or that `kept` is not a file of replies.
    """
    endpoint = chat_endpoint(url, kept=kept)

    def ask(answers: JudgedSet) -> Verdicts:
        begin = time.perf_counter()
        rows = zip(answers.questions, answers.references, answers.candidates, strict=True)
        texts = [PROMPT.format(question=a, reference=" or ".join(b), answer=c) for a, b, c in rows]
        chats = [[{"role": "user", "content": text}] for text in texts]
        try:
            replies = [endpoint.choose(model, chat, ("1", "0"), temperature=0) for chat in chats]
        except EndpointError as error:
            raise NotMeasured(str(error)) from error
        seconds, unclear = time.perf_counter() - begin, replies.count(None)
        notes = (f"{unclear} of {len(replies)} replies were neither 1 nor 0",) if unclear else ()
        return Verdicts(np.array([float(reply or 0) for reply in replies]), seconds, notes)

    return Judge(f"Judge {model}", lambda: Loaded(ask, None), "endpoint")
