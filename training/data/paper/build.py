"""Items of a set -> a parquet file of triplets: sampled, without evaluation texts, with random incorrect texts."""

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from random import Random

import pandas as pd
import pyarrow as pa

from semantic_metrics.core.progress import with_progress
from training.data.paper.loaders import Item, digest
from training.data.paper.rows import Place, Row
from training.data.paper.sets import PaperSet
from training.data.sources import normalise

SEED = 42  # the authors', appendix A.3
FORMAT = 2  # version of the files; a file of another version is built again
WINDOW_ITEMS = 10_000  # a random incorrect text is drawn from an item's window and the one before
_MAX_DRAWS = 20  # to get a text that differs

DROPS = ("no text", "same text twice", "in an evaluation set", "twice", "over the cap", "no other text")


class ExcludedTexts:
    """Texts that must not be trained on.

    Args:
        texts: as they are; those without a letter or digit count for nothing.

    Attributes:
        texts: the distinct ones.
        forms: all of them, normalised.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = list(dict.fromkeys(texts))
        self.forms = frozenset(map(normalise, self.texts)) - {""}

    def digest(self) -> str:
        """First 16 hex digits of the forms' SHA-256."""
        return sha256("\n".join(sorted(self.forms)).encode()).hexdigest()[:16]

    def write(self, path: Path) -> None:
        """Write the column text, for `exclude` of a config."""
        _write_whole(path, pd.DataFrame({"text": pd.Series(self.texts, dtype=str)}))


def build_set(
    name: str, paper_set: PaperSet, place: Place, output: Path, excluded: ExcludedTexts, seed: int
) -> Counter:
    """Build `output/name.parquet`, unless it was built before from the same source, seed and excluded texts.

    Returns:
        How many `rows` were read, `triplets` made, `kept`, and dropped for each of DROPS; `cached` is 1 if the file
        was there.

    Raises:
        ValueError: the source cannot be read or has other columns, or nothing is left.
    """
    path = output / f"{name}.parquet"
    settings = {"format": FORMAT, "from": str(place), "seed": seed, "cap": paper_set.cap}
    settings["excluded"] = excluded.digest()
    stored = _record(path)
    if stored.get("settings") == settings:
        return Counter(stored["counts"], cached=1)
    counts, random = Counter(), Random(f"{seed} {name}")
    items = _counted(paper_set.load(_counted(place.rows(), counts, "rows")), counts, "triplets")
    if paper_set.cap is not None:
        items = sample(items, paper_set.cap, random)
    items = clean(items, excluded.forms, counts)
    if not paper_set.contrastive:
        items = with_random(items, random, counts)
    table = pd.DataFrame(items, columns=Item._fields, dtype=str)
    counts["kept"] = len(table)
    counts["over the cap"] = max(0, counts["triplets"] - (paper_set.cap or counts["triplets"]))
    if table.empty:
        raise ValueError(f"nothing is left ({dict(counts)})")
    table.attrs = {"settings": settings, "counts": dict(counts)}
    _write_whole(path, table)
    return counts


def sample(items: Iterable[Item], size: int, random: Random) -> Iterator[Item]:
    """`size` of the items, each equally likely, in random order; only so many are in memory (reservoir sampling)."""
    items = iter(items)
    reservoir = list(islice(items, size))
    for seen, item in enumerate(items, start=size + 1):
        place = random.randrange(seen)
        if place < size:
            reservoir[place] = item
    random.shuffle(reservoir)  # the first items would otherwise keep their places
    yield from reservoir


def clean(items: Iterable[Item], excluded: frozenset[str], counts: Counter) -> Iterator[Item]:
    """The items without those that lack a text, have one twice or have an excluded one, and without repeated pairs."""
    seen: set[bytes] = set()
    for item in with_progress(items, "item"):
        texts = [text for text in item if text is not None]
        forms = [normalise(text) if isinstance(text, str) else "" for text in texts]
        pair = digest("\n".join(forms[:2]))
        if len(texts) < 2 or not all(forms):
            counts["no text"] += 1
        elif len(set(forms)) < len(forms):
            counts["same text twice"] += 1
        elif not excluded.isdisjoint(forms):
            counts["in an evaluation set"] += 1
        elif pair in seen:
            counts["twice"] += 1
        else:
            seen.add(pair)
            yield Item(*(" ".join(text.split()) for text in texts))


def with_random(items: Iterable[Item], random: Random, counts: Counter) -> Iterator[Item]:
    """Give each item as incorrect text the correct text of a random other item nearby, which differs from its own."""
    items, before = iter(items), []
    while window := list(islice(items, WINDOW_ITEMS)):
        pool = before + window
        for item in window:
            other = _other(item, pool, random)
            if other is None:
                counts["no other text"] += 1
            else:
                yield item._replace(incorrect=other)
        before = window


def _other(item: Item, pool: list[Item], random: Random) -> str | None:
    own = {normalise(item.reference), normalise(item.correct)}
    for _ in range(_MAX_DRAWS):
        drawn = random.choice(pool)
        # an item that shares a text may be about the same image
        if own.isdisjoint((normalise(drawn.reference), normalise(drawn.correct))):
            return drawn.correct
    return None


def _counted(items: Iterable[Row | Item], counts: Counter, name: str) -> Iterator[Row | Item]:
    for item in items:
        counts[name] += 1
        yield item


def _record(path: Path) -> dict:
    """The settings and counts in a built file; empty if there is no file or it is something else."""
    try:
        return pd.read_parquet(path, columns=[]).attrs
    except (OSError, pa.ArrowInvalid):
        return {}


def _write_whole(path: Path, table: pd.DataFrame) -> None:
    """Write to another name and rename, so that a file of this name is always complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    try:
        table.to_parquet(part, index=False)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
