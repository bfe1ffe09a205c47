"""Triplets of claims, affirmed and denied in many wordings, for `train.py` (kind triplets).

    python training/denials.py --claims runs/contradictions.parquet --output runs/denials.parquet

Reads claims and their negations from what `contradictions.py` wrote (rows of the rule negation), and the wordings of
`denial_wordings.yaml`. A triplet's reference and correct text both affirm a claim, or both deny it, in two wordings;
its incorrect text does the other. So "it is a myth that" comes to lie beside "there is no evidence that", and away from
"studies confirm that": what is said of a claim counts, not its topic alone.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
import random
import sys

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, python sees only training/

from training.config import read_yaml
from training.data.sources import check_columns

WORDINGS = Path(__file__).with_name("denial_wordings.yaml")
COLUMNS = ["reference", "correct", "incorrect"]
RULE = "negation"
PLAIN = "{claim}", "{negated}"  # a claim or its negation without further words
# first words that lose their capital inside of a sentence; a name keeps it
SMALL = {
    "a",
    "an",
    "the",
    "this",
    "these",
    "there",
    "it",
    "he",
    "she",
    "they",
    "people",
    "some",
    "two",
    "three",
    "many",
}


@dataclass(frozen=True)
class Wordings:
    """The file: format strings with `{claim}` or `{negated}`."""

    affirmations: list[str]
    denials: list[str]

    def __post_init__(self) -> None:
        for name, wordings in vars(self).items():
            odd = [each for each in wordings if sum(place in each for place in PLAIN) != 1]
            if len(set(wordings)) < 2 or odd:
                raise ValueError(f"{name}: expected two or more, each with {' or '.join(PLAIN)}, got {odd or wordings}")


def triplet(claim: str, negated: str, wordings: Wordings, draw: random.Random) -> tuple[str, str, str]:
    """Reference, correct and incorrect text of one draw."""
    sides = [[plain, *forms] for plain, forms in zip(PLAIN, (wordings.affirmations, wordings.denials), strict=True)]
    draw.shuffle(sides)
    first, second = draw.sample(sides[0], 2)
    texts = (one.format(claim=_bare(claim), negated=_bare(negated)) for one in (first, second, draw.choice(sides[1])))
    reference, correct, incorrect = (text[0].upper() + text[1:] + "." for text in texts)
    return reference, correct, incorrect


def _bare(sentence: str) -> str:
    """Without the full stop, and without the capital if that only begins the sentence."""
    sentence = sentence.strip().rstrip(".")
    return sentence[0].lower() + sentence[1:] if sentence.split(" ")[0].lower() in SMALL else sentence


def build(claims: pd.DataFrame, wordings: Wordings, each: int, seed: int) -> pd.DataFrame:
    """`each` triplets of every claim, none twice.

    Args:
        claims: columns reference (the claim), incorrect (what contradicts it) and rule (by which it was made).
        wordings: that they are put in.
        each: how many of a claim are drawn.
        seed: of the draws.

    Raises:
        ValueError: a column is missing, or there is no negation.
    """
    check_columns(claims, ["reference", "incorrect", "rule"], "--claims")
    claims = claims[claims["rule"] == RULE]
    if claims.empty:
        raise ValueError(f"--claims: expected rows whose rule is {RULE}, got none")
    draw = random.Random(seed)
    pairs = list(zip(claims["reference"], claims["incorrect"], strict=True))
    made = [triplet(claim, negated, wordings, draw) for claim, negated in pairs for _ in range(each)]
    return pd.DataFrame(made, columns=COLUMNS).drop_duplicates(ignore_index=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--claims", type=Path, required=True, help="parquet file that contradictions.py wrote")
    parser.add_argument("--each", type=int, default=4, help="triplets of a claim (default 4)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, required=True, help="parquet file to write")
    arguments = parser.parse_args()
    if arguments.each < 1:
        parser.error(f"--each: expected 1 or more, got {arguments.each}")
    try:
        claims = pd.read_parquet(arguments.claims)
        made = build(claims, read_yaml(WORDINGS, Wordings), arguments.each, arguments.seed)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    made.to_parquet(arguments.output, index=False)
    sys.stdout.write(f"{len(made)} triplets\n")


if __name__ == "__main__":
    main()
