r"""NLI pairs that differ in a word, a number, a name, a negation or in who does what: what single texts break on.

    python -m training.data.swaps --config training/configs/data/swaps_large.yaml --data DATA --output runs/swaps_large

Four sorts of pairs: real sentences in which a word is exchanged (`swap_words.py`, `swap_numbers.py`), or that are
denied or hedged; real sentences in another order (`swap_order.py`); sentences of the same words in another structure,
filled with what people do in real captions (`swap_forms.py`); and made ones about measures. A pair for training
exchanges no words that benchmarks/papers/nli_lex/one_word.csv exchanges, and holds none of its sentences or those of
benchmarks/suite/word_order.csv.

Writes train.parquet and held_out.parquet (sentence1, sentence2, label, kind); prints counts. An eighth of the words,
forms and relations, chosen by their digest, is held out, to distinguish the skill from the words it was learned on.
Not by word are `reordered` and `moved` pairs and denials with "not" alone, which are all for training, and numbers and
measures, held out by the pair of numbers or by sentence and amount: the parts share number words, units and sentences.
"""

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from semantic_metrics.contradictions import RULES
from semantic_metrics.contradictions.language import load_pipeline
from semantic_metrics.core.progress import with_progress
from training.data.config_files import read_yaml
from training.data.run_arguments import make_parser
from training.data.sources import Entry, Table, check_columns, normalise, read_excluded, take_limit
from training.data.swap_forms import FormPairs, activities
from training.data.swap_numbers import measures, number_edits
from training.data.swap_order import order_pairs
from training.data.swap_pairs import CONTRADICTION, ENTAILMENT, HELD_OUT_ONE_IN, LABELS, Pair, ProbeWords, embedded
from training.data.swap_words import WORDS, edits, hedge_pairs, is_proper

if TYPE_CHECKING:
    from spacy.tokens import Span

PROBE = Path(__file__).parents[2] / "benchmarks" / "papers" / "nli_lex" / "one_word.csv"
COLUMNS = ["sentence1", "sentence2", "label", "kind"]
MIN_WORDS, MAX_WORDS = 4, 32  # of a real sentence: longer ones are parsed worse
MAX_PREMISE_WORDS = 60  # of a premise that is kept as it is
PLAIN = re.compile(r"[A-Za-z0-9 ,.'%$&-]+")  # other characters are quotations, lists and damaged text
SECOND_PREMISE_SHARE = 0.4  # share of the changes made to a hypothesis whose premise is kept
MAX_EDITS = 3  # of a sentence
MIN_SLIP_LETTERS = 6  # of a word that is mistyped: shorter ones become other words
MAX_KEY_SHARE, MIN_KEY_PAIRS = 0.05, 30  # of a kind's pairs with one label that may exchange the same words
FORM_PAIRS, ROLE_PAIRS, MEASURE_PAIRS = 250_000, 100_000, 20_000  # candidates that are made
# kinds made of forms, which are all as frequent
MADE_KINDS = ("binding", "structure", "conjunction", "embedded", "order", "negation", "quantifier", "amount", "degree")
MADE_KINDS += ("opposite", "condition", "direction", "nouns", "denied", "measure")
CONTRACTIONS = re.compile(r"\b(is|are|was|were|does|do|did|has|have|had|could|would|should) not\b")


@dataclass(frozen=True)
class SwapSource(Entry):
    """An entry of the config's `train` list.

    Attributes:
        premise, hypothesis: columns of sentences to change; the premise entails the hypothesis.
        group, not_in: a column, and the path of a table with it: rows of groups in that table are left out.
        tokenised: whether there are spaces around the marks of the texts ("He left , too ."), which are taken out.
    """

    premise: str = "premise"
    hypothesis: str | None = "hypothesis"
    group: str | None = None
    not_in: str | None = None
    tokenised: bool = False

    def read(self, data: Path | None, excluded: frozenset[str]) -> list[tuple[str, str | None]]:
        """Premises with their hypotheses, or None; without texts of evaluation sets.

        Raises ValueError: the table or one of its columns is missing.
        """
        columns = [name for name in (self.premise, self.hypothesis) if name]
        rows = self.table.read(data, columns)
        check_columns(rows, [*columns, *([self.group] if self.group else [])], self.name)
        if self.not_in is not None:
            rows = rows[~rows[self.group].isin(Table(path=self.not_in).read(data)[self.group])]
        if self.tokenised:
            rows = rows.assign(**{name: rows[name].map(_detokenised, na_action="ignore") for name in columns})
        rows = rows[~rows[columns].fillna("").map(normalise).isin(excluded | {""}).any(axis=1)]
        rows = take_limit(rows.drop_duplicates(columns), self.limit, Counter())
        hypotheses = rows[self.hypothesis] if self.hypothesis else [None] * len(rows)
        return list(zip(rows[self.premise], hypotheses, strict=True))


def _detokenised(text: str) -> str:
    """Text without the spaces that a tokeniser put around its marks."""
    from nltk.tokenize.treebank import TreebankWordDetokenizer

    return TreebankWordDetokenizer().detokenize(text.split())


@dataclass(frozen=True)
class SwapConfig:
    """Where real sentences come from, and by kind how many pairs are entailed, neutral and contradicted.

    `exclude` are tables with `columns` of texts that no pair may contain.
    """

    train: list[SwapSource]
    pairs: dict[str, list[int]]
    exclude: list[dict] = field(default_factory=list)


def is_plain(text: str) -> bool:
    """Whether a text is one sentence of letters and figures, of a length that is parsed well."""
    inner = text.strip().rstrip(".")
    return MIN_WORDS <= len(inner.split()) <= MAX_WORDS and bool(PLAIN.fullmatch(text.strip())) and ". " not in inner


def real_pairs(rows: Iterable[tuple[str, str | None]], seed: int) -> Iterator[Pair]:
    """Pairs of real sentences and their changes: of premises, each with a hypothesis that it entails, or None.

    The seed decides which words are exchanged, for each sentence by itself.
    """
    texts, premises = [], {}
    for premise, hypothesis in rows:
        texts += [text for text in (premise, hypothesis) if text is not None and is_plain(text)]
        if hypothesis is not None and len(premise.split()) <= MAX_PREMISE_WORDS:
            premises[hypothesis] = premise
    distinct = dict.fromkeys(texts)
    for doc in with_progress(load_pipeline().pipe(distinct, batch_size=256), "text", len(distinct)):
        draw = random.Random(f"{seed} {doc.text}")
        sentence, premise = next(doc.sents), premises.get(doc.text)
        if len(sentence) == len(doc):
            changes = [*edits(sentence, draw), *number_edits(sentence, draw)]
            yield from _edited(doc.text, premise, changes, draw)
            yield from _denied(sentence, premise, draw)
            yield from order_pairs(sentence, premise, draw)
            yield from hedge_pairs(sentence, draw)
            yield from _written(doc.text, draw)


def _edited(text: str, premise: str | None, changes: list, draw: random.Random) -> Iterator[Pair]:
    """Pairs of a sentence, or of the premise that entails it, and a few of its changes."""
    for edit in draw.sample(changes, min(MAX_EDITS, len(changes))):
        changed = edit.change.apply(text)
        if premise is not None and draw.random() < SECOND_PREMISE_SHARE:
            if _still_follows(premise, text, edit.kind):
                yield Pair(premise, changed, edit.label, edit.kind, edit.keys)
        elif draw.random() < 0.5:
            yield Pair(text, changed, edit.label, edit.kind, edit.keys)
        else:
            yield Pair(changed, text, edit.reverse, edit.kind, edit.keys)


def _still_follows(premise: str, text: str, kind: str) -> bool:
    """Whether the change of a hypothesis concerns its premise too: they tell of one thing in the same words."""
    words = set(normalise(premise).split())
    own = [word for word in normalise(text).split() if len(word) > 3]
    return kind in ("hypernym", "synonym", "dropped", "number") or sum(word in words for word in own) >= 0.8 * len(own)


def _denied(sentence: "Span", premise: str | None, draw: random.Random) -> Iterator[Pair]:
    """Pairs of a sentence and its negation, and of both with "it is true that" or "it is not true that" before them."""
    text = sentence.doc.text
    changes = [change for rule in ("negation", "affirmation", "modality") for change in RULES[rule](sentence)]
    if not changes:
        return
    opposite = draw.choice(changes).apply(text)
    if draw.random() < 0.4:
        opposite = CONTRACTIONS.sub(r"\1n't", opposite)
    keep = partial(embedded, proper=is_proper(sentence))
    deny, assert_ = draw.choice(WORDS["denials"]), draw.choice(WORDS["assertions"])
    options = [
        (text, opposite, CONTRADICTION, "not"), (opposite, text, CONTRADICTION, "not"),
        (text, keep(deny, opposite), ENTAILMENT, deny), (opposite, keep(deny, text), ENTAILMENT, deny),
        (text, keep(deny, text), CONTRADICTION, deny), (opposite, keep(assert_, text), CONTRADICTION, assert_),
        (text, keep(assert_, text), ENTAILMENT, assert_), (opposite, keep(assert_, opposite), ENTAILMENT, assert_),
    ]  # fmt: skip
    if premise is not None:
        options += [
            (premise, opposite, CONTRADICTION, "not"), (premise, keep(deny, opposite), ENTAILMENT, deny),
            (premise, keep(deny, text), CONTRADICTION, deny), (premise, keep(assert_, text), ENTAILMENT, assert_),
        ]  # fmt: skip
    for first, second, label, key in draw.sample(options, 2):
        yield Pair(first, second, label, "denied", () if key == "not" else (key,))


def _written(text: str, draw: random.Random) -> Iterator[Pair]:
    """A sentence and the same in another writing: no full stop, one more mark, or a slip of the keys."""
    bare = text.rstrip(" .")
    other = draw.choice([bare, f"{bare}!", f"{bare} .", f'"{bare}"', _slip(bare, draw), _slip(text, draw)])
    if other != text:
        first, second = (text, other) if draw.random() < 0.5 else (other, text)
        yield Pair(first, second, ENTAILMENT, "writing", ())


def _slip(text: str, draw: random.Random) -> str:
    """Text with two neighbouring letters of a longer word exchanged, or one of them left out or doubled."""
    words = text.split(" ")
    long = [i for i, word in enumerate(words) if len(word) >= MIN_SLIP_LETTERS and word.isalpha() and word.islower()]
    if not long:
        return text
    place = draw.choice(long)
    word = words[place]
    i = draw.randrange(1, len(word) - 2)
    words[place] = word[:i] + draw.choice([word[i + 1] + word[i], word[i], word[i] * 2 + word[i + 1]]) + word[i + 2 :]
    return " ".join(words)


def choose(
    pairs: Iterable[Pair], targets: dict[str, list[int]], allowed: Callable[[Pair], bool], seed: int
) -> list[Pair]:
    """Draw pairs, as many entailed as contradicted of each kind that has both, and not too many with the same words.

    Args:
        pairs: candidates.
        targets: by kind, how many pairs are wanted of each of LABELS.
        allowed: whether a pair may be drawn.
        seed: of the draw.
    """
    draw = random.Random(seed)
    by_label: dict[tuple[str, str], list[Pair]] = {}
    for pair in dict.fromkeys(pairs):
        by_label.setdefault((pair.kind, pair.label), []).append(pair)
    chosen = []
    for kind, counts in targets.items():
        wanted = dict(zip(LABELS, counts, strict=True))
        drawn = {}
        for label in LABELS:
            candidates = by_label.get((kind, label), [])
            draw.shuffle(candidates)
            drawn[label] = _capped(candidates, kind, wanted[label], allowed)
        if wanted[ENTAILMENT] and wanted[CONTRADICTION]:
            even = min(len(drawn[ENTAILMENT]), len(drawn[CONTRADICTION]))
            drawn |= {label: drawn[label][:even] for label in (ENTAILMENT, CONTRADICTION)}
        chosen += [pair for some in drawn.values() for pair in some]
    draw.shuffle(chosen)
    return chosen


def _capped(pairs: list[Pair], kind: str, wanted: int, allowed: Callable[[Pair], bool]) -> list[Pair]:
    """The first of the pairs that are allowed, at most `wanted`, and few with the same words."""
    cap = wanted if kind in MADE_KINDS else max(MIN_KEY_PAIRS, round(MAX_KEY_SHARE * wanted))
    counts: Counter = Counter()
    kept: list[Pair] = []
    for pair in pairs:
        if len(kept) == wanted:
            break
        if (not pair.keys or counts[pair.keys] < cap) and allowed(pair):
            counts[pair.keys] += 1
            kept.append(pair)
    return kept


def build(config: SwapConfig, data: Path | None, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Pairs for training, and an eighth as many of the words, forms and relations that are held out."""
    excluded = read_excluded(config.exclude, data)
    rows = [row for source in config.train for row in source.read(data, excluded)]
    forms = FormPairs(activities([text for row in rows for text in row if text is not None]))
    made = (
        islice(forms.draw(random.Random(f"{seed} forms")), FORM_PAIRS),
        islice(forms.roles(random.Random(f"{seed} roles")), ROLE_PAIRS),
        islice(measures(forms.fillers, random.Random(f"{seed} measures")), MEASURE_PAIRS),
    )
    candidates = [*real_pairs(rows, seed), *chain.from_iterable(made)]
    probe = ProbeWords(pd.read_csv(PROBE, keep_default_na=False))

    def allowed(pair: Pair) -> bool:
        texts = normalise(pair.premise), normalise(pair.hypothesis)
        differ = texts[0] != texts[1] or pair.kind == "writing"
        return differ and excluded.isdisjoint(texts) and not probe.contains(pair)

    parts = []
    for held_out, part in ((False, 1), (True, HELD_OUT_ONE_IN)):
        targets = {kind: [count // part for count in counts] for kind, counts in config.pairs.items()}
        drawn = choose((pair for pair in candidates if pair.held_out == held_out), targets, allowed, seed)
        parts.append(pd.DataFrame([(p.premise, p.hypothesis, p.label, p.kind) for p in drawn], columns=COLUMNS))
    return parts[0], parts[1]


def main() -> None:
    """Command line."""
    parser = make_parser(__doc__, "A YAML file; see SwapConfig.")
    arguments = parser.parse_args()
    try:
        train, held_out = build(read_yaml(arguments.config, SwapConfig), arguments.data, seed=0)
    except ValueError as error:
        parser.error(str(error))
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, part in (("train", train), ("held_out", held_out)):
        part.to_parquet(arguments.output / f"{name}.parquet", index=False)
        counts = part.groupby(["kind", "label"]).size().unstack(fill_value=0)
        sys.stdout.write(f"{name}: {len(part)} pairs\n{counts.to_string()}\n")


if __name__ == "__main__":
    main()
