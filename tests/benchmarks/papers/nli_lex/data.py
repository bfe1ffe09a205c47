"""NLI+lex's data folder, small: made on the spot, in the words of `tests.tiny_table`."""

from pathlib import Path

import numpy as np
import pandas as pd

QUESTIONS = 10
MODELS = ("claude", "phi")
DATASETS = ("aqa", "medqa")
RIGHT = ("the dog", "a man", "12 dogs", "the cat", "no")


def judged(key: str) -> pd.DataFrame:
    """A set with the columns of its file: two answers to each question, of which one is often right.

    NQ-open 301 has two gold answers joined as in its file, and published judgements with gaps; EVOUNA's are joined by a
    slash. The first question of each set is the same.
    """
    rng = np.random.default_rng(["diver_qa", "nq301", "evouna"].index(key))
    rows = []
    for i in range(QUESTIONS):
        gold = RIGHT[i % len(RIGHT)]
        for model in MODELS:
            right = bool(rng.random() < 0.6)
            said = f"it is {gold} and runs" if right else f"a man {'sleeps ' * int(rng.integers(1, 4))}"
            question = "who is it" if i == 0 else f"who is it {key[0]} {i}"
            label = int(right if rng.random() < 0.9 else not right)
            rows.append((question, gold, said, label, DATASETS[i % 2], model))
    frame = pd.DataFrame(rows, columns=["question", "reference", "candidate", "human_label", "source", "model"])
    if key == "diver_qa":
        return frame
    between = " | " if key == "nq301" else "/"
    frame["reference"] += between + "awake"
    if key == "nq301":
        frame["model"], frame["source"] = "pooled", "NQ"
        frame["bem_prob_max"] = rng.random(len(frame))
        frame["gpt4_label"] = frame["human_label"].astype(float)
        frame.loc[3, "gpt4_label"] = np.nan
    return frame


def write_data(folder: Path) -> Path:
    """A data folder with every file that the benchmark reads."""
    classes = ["entailment", "neutral", "contradiction"]
    pairs = {"premise": ["a dog runs"] * 6, "hypothesis": ["a cat sleeps"] * 6, "label": classes * 2}
    frames = {
        "diver_qa/sample": judged("diver_qa"),
        "openqa_eval/nq301": judged("nq301"),
        "evouna/nq": judged("evouna"),
        "snli/dev": pd.DataFrame(pairs),
    }
    for name, frame in frames.items():
        path = folder / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.to_parquet(path)
    return folder
