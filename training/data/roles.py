r"""Triplets whose incorrect text exchanges who did what to whom, for `train.py` (kind triplets).

    python -m training.data.roles --output runs/roles

Every relation of `role_frames.yaml` lists wordings that say the same of x and y. A triplet's reference and correct
text are two of them; its incorrect text is one of them with x and y exchanged: the same words in another order. For a
symmetric relation ("x met y") the exchange says the same, so it counts as correct, and the incorrect text names
somebody else.

Writes train.parquet and held_out.parquet (reference, correct, incorrect, relation) into the output folder. An eighth of
the relations, chosen by their digest, is held out, to distinguish learning the order from learning words.
"""

import argparse
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from training.data.config_files import read_yaml
from training.data.swap_pairs import HELD_OUT_ONE_IN, is_held_out

FRAMES = Path(__file__).with_name("role_frames.yaml")
COLUMNS = ["reference", "correct", "incorrect", "relation"]
TRIPLETS = 40_000  # that are drawn
SAME_WORDING_SHARE = 0.3  # share of the triplets whose incorrect text is the reference with its roles exchanged
ADJUNCT_SHARE = 0.4  # share of the triplets whose texts also say when or where


@dataclass(frozen=True)
class Relation:
    """A relation between x and y, drawn from one of the lists that `fillers` names; see role_frames.yaml.

    `wordings` are format strings with `{x}` and `{y}`, and `{z}` if there is a list of them. Words of when or where,
    `adjuncts`, are not added if they would belong to one clause only. A `symmetric` one holds between y and x as well.
    """

    wordings: list[str]
    fillers: list[str] = field(default_factory=lambda: ["people"])
    z: list[str] = field(default_factory=list)
    adjuncts: bool = True
    symmetric: bool = False

    @property
    def name(self) -> str:
        """Its first wording."""
        return self.wordings[0]

    @property
    def held_out(self) -> bool:
        """Whether nothing is trained on it."""
        return is_held_out(self.name)


@dataclass(frozen=True)
class Frames:
    """The file: lists of noun phrases by name, words of when and where, and the relations."""

    fillers: dict[str, list[str]]
    adjuncts: list[str]
    relations: list[Relation]


def triplet(relation: Relation, frames: Frames, draw: random.Random) -> tuple[str, str, str]:
    """Reference, correct and incorrect text of one draw."""
    x, y, other = draw.sample(frames.fillers[draw.choice(relation.fillers)], 3)
    z = draw.choice(relation.z) if relation.z else ""
    first, second = draw.sample(relation.wordings, 2)
    adjunct = draw.choice(frames.adjuncts) if relation.adjuncts and draw.random() < ADJUNCT_SHARE else ""

    def text(wording: str, x: str, y: str) -> str:
        return _sentence(wording.format(x=x, y=y, z=z), adjunct, draw)

    reference = text(first, x, y)
    if relation.symmetric:
        turned = draw.random() < 0.5 and first.format(x=x, y=y, z=z) != second.format(x=y, y=x, z=z)
        pairs = ((y, x), (other, x)) if turned else ((x, y), (x, other))
        return reference, text(second, *pairs[0]), text(second, *pairs[1])
    changed = first if draw.random() < SAME_WORDING_SHARE else second
    return reference, text(second, x, y), text(changed, y, x)


def _sentence(clause: str, adjunct: str, draw: random.Random) -> str:
    """A clause with its adjunct before or after it, with a capital at its start and mostly a full stop at its end."""
    if adjunct:
        clause = f"{adjunct}, {clause}" if draw.random() < 1 / 3 else f"{clause} {adjunct}"
    return clause[0].upper() + clause[1:] + ("." if draw.random() < 0.8 else "")


def build(frames: Frames, count: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Distinct triplets of the training relations, and an eighth as many of the held-out relations."""
    parts = []
    for held_out, wanted in ((False, count), (True, count // HELD_OUT_ONE_IN)):
        draw = random.Random(f"{seed} {held_out}")
        relations = [relation for relation in frames.relations if relation.held_out == held_out]
        chosen = draw.choices(relations, k=wanted) if relations else []
        drawn = [(relation, triplet(relation, frames, draw)) for relation in chosen]
        made = pd.DataFrame([(*texts, relation.name) for relation, texts in drawn], columns=COLUMNS)
        parts.append(made.drop_duplicates(COLUMNS[:3], ignore_index=True))
    return parts[0], parts[1]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="Folder to write to.")
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    for name, made in zip(("train", "held_out"), build(read_yaml(FRAMES, Frames), TRIPLETS, seed=0), strict=True):
        made.to_parquet(output / f"{name}.parquet", index=False)
        sys.stdout.write(f"{name}: {len(made)} triplets of {made['relation'].nunique()} relations\n")


if __name__ == "__main__":
    main()
