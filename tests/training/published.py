"""A few self-written rows of each of the paper's training sets, in files as the set is published in."""

import gzip
import json
from pathlib import Path

import pandas as pd

NLI = {
    "premise": ["A cook stirs soup.", "A cook stirs soup.", "A cook stirs soup.", "Two boys swim.", "A bus is late."],
    "hypothesis": ["Someone cooks.", "It is Monday.", "The cook sleeps.", "The boys are dry.", "A bus is late now."],
    "label": [0, 1, 2, 2, -1],
}
SIMPLER = {
    "text": ["The committee , which met in May , resigned .", "He was born in the city of Bern in 1950 ."],
    "simplified": ["The committee resigned .", "He was born in Bern ."],
}
CAPTIONS = {
    "caption1": ["A dog on a beach.", "A red kite in the sky.", "A man fixes a bike."],
    "caption2": ["A wet dog runs on sand.", "Someone flies a red kite.", "A bike is being repaired."],
}
ALTLEX = [(SIMPLER["text"][i], SIMPLER["simplified"][i], None) for i in range(2)]
IMAGES = [(CAPTIONS["caption1"][i], CAPTIONS["caption2"][i], None) for i in range(3)]
COOK = ("A cook stirs soup.", "Someone cooks.", "The cook sleeps.")


def _repository(folder: Path, columns: dict, file: str, subset: str = "default") -> Path:
    """A folder as the Hub has it: a card that names the files, and one parquet file."""
    path = folder / file
    path.parent.mkdir(parents=True)
    pd.DataFrame(columns).to_parquet(path)
    split = path.name.partition("-")[0]
    files = f"  data_files:\n  - split: {split}\n    path: {path.parent.relative_to(folder)}/{split}-*\n"
    (folder / "README.md").write_text(f"---\nconfigs:\n- config_name: {subset}\n{files}---\n")
    return folder


def _snli(folder: Path) -> Path:
    return _repository(folder, NLI, "plain_text/train-00000-of-00001.parquet", "plain_text")


def _multinli(folder: Path) -> Path:
    return _repository(folder, NLI | {"pairID": list("abcde")}, "data/train-00000-of-00001.parquet")


def _vitaminc(folder: Path) -> Path:
    folder.mkdir()
    rows = [
        ("It opened in 1990.", "It opened before 1995.", "SUPPORTS"),
        ("It opened in 1999.", "It opened before 1995.", "REFUTES"),
        ("It opened in 1990.", "It is a museum.", "NOT ENOUGH INFO"),
        ("It opened in 1990.", "It opened after 1995.", "REFUTES"),
    ]
    lines = [json.dumps({"unique_id": "5", "claim": c, "evidence": e, "label": label}) for e, c, label in rows]
    (folder / "train.jsonl").write_text("\n".join(lines))
    return folder


def _qqp(folder: Path) -> Path:
    rows = [("How do I swim?", "How can I swim?", 1), ("Why swim?", "How do I swim?", 0), ("Who am I?", "What?", 0)]
    frame = pd.DataFrame(rows, columns=["question1", "question2", "label"]).assign(idx=range(3))
    return _repository(folder, frame.to_dict("list"), "qqp/train-00000-of-00001.parquet", "qqp")


def _climate_fever(folder: Path) -> Path:
    claims = ["The sea rises.", "The ice grows."]
    found = [[("Sea levels went up.", 0), ("Fish swim.", 2)], [("The ice sheet gained mass.", 0), ("It shrank.", 1)]]
    evidences = [[{"evidence": text, "evidence_label": label} for text, label in one] for one in found]
    return _repository(folder, {"claim": claims, "evidences": evidences}, "data/test-00000-of-00001.parquet")


def _newts(folder: Path) -> Path:
    row = {"article": "Long, long.", "summary1": "A star sang.", "sentences1": "This topic is about songs."}
    row |= {"summary2": 'A "club" was sold, and closed.', "sentences2": "This topic is about money, trade, None."}
    folder.mkdir()
    pd.DataFrame([row]).to_csv(folder / "NEWTS_train_2400.csv")  # with a first column of row numbers, as published
    return folder / "NEWTS_train_2400.csv"


def _pairs(folder: Path) -> Path:
    return _repository(folder, SIMPLER, "pair/train-00000-of-00001.parquet", "pair")


def _wikihow(folder: Path) -> Path:
    columns = {"summary": ["Rinse the rice.", "Call a vet."], "text": ["Put it under water.", "A vet knows more."]}
    return _repository(folder, columns, "pair/train-00000-of-00001.parquet", "pair")


def _stsb(folder: Path) -> Path:
    rows = [("A man eats.", "A man is eating.", 1.0), ("A cat.", "A train.", 0.0), ("He runs.", "He is running.", 0.8)]
    frame = pd.DataFrame(rows, columns=["sentence1", "sentence2", "score"])
    return _repository(folder, frame.to_dict("list"), "data/train-00000-of-00001.parquet")


def _captions(folder: Path) -> Path:
    return _repository(folder, CAPTIONS, "pair/train-00000-of-00001.parquet", "pair")


def _paranmt(folder: Path) -> Path:
    folder.mkdir()
    lines = [
        "so , what 's half an hour ?\thalf an hour wo n't kill you .\t0.47",
        "no tab here",
        'he said " no\tnever .\t0.9',
    ]
    (folder / "para-nmt-50m.txt").write_text("\n".join(lines) + "\n")
    return folder / "para-nmt-50m.txt"


def _wikianswers(folder: Path) -> Path:
    folder.mkdir()
    rows = [
        ["how tall is a giraffe", "what is the height of a giraffe", "giraffe tall"],
        ["why"],
        ["who won", "the winner is"],
    ]
    text = "\n".join(json.dumps({"set": row}) for row in rows)
    (folder / "wikianswers.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    return folder


PUBLISHED = {  # name of the set -> what writes its files, and the items that they hold
    "snli": (_snli, [COOK]),
    "multinli": (_multinli, [COOK]),
    "vitaminc": (_vitaminc, [("It opened in 1990.", "It opened before 1995.", "It opened after 1995.")]),
    "qqp": (_qqp, [("How do I swim?", "How can I swim?", "Why swim?")]),
    "climate_fever": (
        _climate_fever,
        [("Sea levels went up.", "The sea rises.", None), ("The ice sheet gained mass.", "The ice grows.", None)],
    ),
    "newts": (
        _newts,
        [
            ("A star sang.", "This topic is about songs.", None),
            ('A "club" was sold, and closed.', "This topic is about money, trade, None.", None),
        ],
    ),
    "altlex": (_pairs, ALTLEX),
    "simplewiki": (_pairs, ALTLEX),
    "sentence_compression": (_pairs, ALTLEX),
    "wikihow": (
        _wikihow,
        [("Put it under water.", "Rinse the rice.", None), ("A vet knows more.", "Call a vet.", None)],
    ),
    "stsb": (_stsb, [("A man eats.", "A man is eating.", None), ("He runs.", "He is running.", None)]),
    "coco": (_captions, IMAGES),
    "flickr30k": (_captions, IMAGES),
    "paranmt": (
        _paranmt,
        [
            ("so , what 's half an hour ?", "half an hour wo n't kill you .", None),
            ('he said " no', "never .", None),
        ],
    ),
    "wikianswers": (
        _wikianswers,
        [
            ("how tall is a giraffe", "what is the height of a giraffe", None),
            ("who won", "the winner is", None),
        ],
    ),
}
