"""Samples whose texts share no content word: captions that several people wrote of the same pictures.

The paper's targets repeat words of their inputs, so that an encoder that sees words alone does well. Here each mention
of a picture is another person's caption, and no two of a sample's three texts share the stem of a content word. P1 and
P2 are captions of one picture, C1 to C3 of another, N1 of a third; two captions one after the other are their fusion:

* overlap: P1 C1 and C2 N1 -> C3
* difference: P1 C1 and P2 -> C2; P1 C1 and C2 -> P2; only where P1 and C1, and C1 and P2, are dissimilar (`chains`)
* union: P1 and C1 -> P2 C2

Captions of one picture need not say the same: people notice different things.
"""

import re
import zlib
from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
from nltk.stem.snowball import SnowballStemmer

from benchmarks.common.encoders import Score
from benchmarks.set_data.chains import FORMS, Chain, Dropped, Form, dissimilar
from benchmarks.set_data.fusion import CONCATENATION, concatenate
from benchmarks.set_data.sources import Lengths, tidy, unfit

OVERLAPS = 3  # overlaps of each picture with three captions that share nothing: few pictures have them
_FUNCTION_WORDS = """
a about above across after all along also an and another are around as at away be been before behind being below
beside between both but by can could do does down during each for from had has have he her here him his how i if in
into is it its just many more most near next no not of off on one onto or other out outside over s she so some than
that the their them then there these they this those through to together too toward towards under until up upon
very was were what when where which while who whose will with within without would you your"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
_WORD = re.compile(r"[^\W_]+")
_FORMS = {form.name: form for form in FORMS}
_stem = cache(SnowballStemmer("english").stem)

Mention = tuple[str, frozenset[str]]


def content_words(text: str) -> frozenset[str]:
    """Stems of the words of a text that are no function words.

    >>> sorted(content_words("Two dogs are running with a stick."))
    ['dog', 'run', 'stick', 'two']
    """
    return frozenset(_stem(word) for word in _WORD.findall(text.lower()) if word not in FUNCTION_WORDS)


def caption_samples(
    frame: pd.DataFrame,
    columns: tuple[str, str],
    place: tuple[str, str],
    lengths: Lengths,
    seed: int,
    scores: Sequence[Score],
    threshold: float,
    dropped: Dropped,
) -> list[dict[str, str]]:
    """Captions of pictures -> samples whose texts share no content word.

    Args:
        frame: a row for each caption.
        columns: names of the columns of the picture and of the caption.
        place: names of the source and of the file, for the names of the samples and the draw.
        lengths: lengths of a caption.
        seed: seed of the draw of captions and of pictures that go together.
        scores: cosine of each encoder that filters the differences.
        threshold: threshold of the cosines.
        dropped: counter of captions, pictures and samples that are left out.
    """
    source, file = place
    rng = np.random.default_rng([seed, zlib.crc32("/".join(place).encode())])
    pictures = {}
    for picture, captions in frame.groupby(columns[0], sort=True)[columns[1]]:
        texts = list(dict.fromkeys(filter(None, map(tidy, captions))))
        fit = [(text, content_words(text)) for text in texts if not unfit([text], lengths)]
        dropped[source, "caption: empty, repeated or of another length"] += len(captions) - len(fit)
        pictures[picture] = [fit[i] for i in rng.permutation(len(fit))]
    pairs = {picture: pair for picture, captions in pictures.items() if (pair := _apart(captions, 2))}
    dropped[source, "picture: any two captions share a content word"] += len(pictures) - len(pairs)
    order = [list(pairs)[i] for i in rng.permutation(len(pairs))]
    couples, rows = list(_couples(order, pairs)), []
    dropped[source, "picture: shares words with every other that is left"] += len(pairs) - 2 * len(couples)
    chains = [Chain(source, "", pairs[p][0][0], pairs[c][0][0], pairs[p][1][0]) for p, c in couples]
    for (p, c), far in zip(couples, dissimilar(chains, scores, threshold), strict=True):
        (p1, p2), (c1, c2) = ([text for text, _ in pairs[picture]] for picture in (p, c))
        group = f"{source}/{file}:{p}+{c}"
        rows.append(_row("({prev,curr},S1)", (p1, c1, *concatenate([(p2, c2)])), source, group))
        if far:
            [fused] = concatenate([(p1, c1)])
            rows.append(_row("((S1,prev),curr)", (fused, p2, c2), source, group))
            rows.append(_row("((S1,curr),prev)", (fused, c2, p2), source, group))
        else:
            dropped[source, f"difference: its chain has neighbours of cosine >= {threshold}"] += 2
    for picture, captions in pictures.items():
        if not (three := _apart(captions, 3)):
            continue
        others = [pictures[name] for name in order if name != picture]
        partners = _partners(three, [others[i][0] for i in rng.permutation(len(others))])
        (c1, c2, c3), group = (text for text, _ in three), f"{source}/{file}:{picture}"
        for number, (p1, n1) in enumerate(partners):
            texts = (*concatenate([(p1, c1), (c2, n1)]), c3)
            rows.append(_row("({S1,S2},curr)", texts, source, group, f":{number}"))
        dropped[source, "overlap: no other pictures without its words"] += OVERLAPS - len(partners)
    return rows


def _apart(captions: list[Mention], number: int) -> tuple[Mention, ...] | None:
    """The first `number` captions that share no content word with one another; None if there are none."""
    for chosen in combinations(captions, number):
        if not any(one[1] & other[1] for one, other in combinations(chosen, 2)):
            return chosen
    return None


def _couples(order: list, pairs: dict) -> list[tuple]:
    """Each picture with the next one that shares no word with it; none is in two couples."""
    words = {picture: frozenset().union(*(words for _, words in pairs[picture])) for picture in order}
    left, couples = dict.fromkeys(order), []
    for picture in order:
        if picture not in left:
            continue
        del left[picture]
        if (other := next((one for one in left if not words[one] & words[picture]), None)) is not None:
            del left[other]
            couples.append((picture, other))
    return couples


def _partners(three: tuple[Mention, ...], others: list[Mention]) -> list[tuple[str, str]]:
    """Captions for both sides of a picture's overlaps, which share no word with it or with one another."""
    words, partners = frozenset().union(*(words for _, words in three)), []
    fit = iter([mention for mention in others if not mention[1] & words])
    for one, one_words in fit:
        other = next((text for text, other_words in fit if not other_words & one_words), None)
        if other is None or len(partners) == OVERLAPS:
            break
        partners.append((one, other))
    return partners


def _row(form: str, texts: tuple[str, ...], source: str, group: str, number: str = "") -> dict[str, str]:
    which: Form = _FORMS[form]
    about = {"operator": which.operator, "form": form, "source": source, "fusion": CONCATENATION, "group": group}
    return dict(zip(("a", "b", "target"), texts, strict=True)) | about | {"id": f"{group}:{form}{number}"}
