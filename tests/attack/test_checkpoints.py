"""Checkpoints with damaged files: each loads and scores, or is refused in one line."""

import base64
import json
import os
import random
import shutil
from pathlib import Path

import pytest

import semantic_metrics
from tests.attack.conftest import answer

pytestmark = pytest.mark.slow

BATCHES = 4
CHECKPOINTS = 70  # in a batch and for a checkpoint: 1,960 together
VALUES = (
    *(None, True, False, 0, -1, 1, 1.5, 10**6, 10**18, 1e-30, 1e300, float("nan"), float("inf"), "", "x", "cpu", "1"),
    *([], {}, [1], {"a": 1}, [[[]]], "relu", "cuda", "../../etc", {"0": "x"}, {"entailment": 0}, "float64", "[UNK]"),
)
TEXTS = {"predictions": ["the dog bites", "no"], "references": ["a dog bites", "日本"], "questions": ["who bites", ""]}


def damage_json(draw: random.Random, path: Path) -> str:
    """Change, remove or add one value of a JSON file, or cut the file; returns what was done."""
    text = path.read_text(encoding="utf-8")
    kind = draw.random()
    if kind < 0.1:
        path.write_text(text[: draw.randrange(len(text))], encoding="utf-8")
        return f"{path.name} cut"
    content = json.loads(text)
    if kind < 0.2 or not isinstance(content, dict):  # modules.json is a list
        value = draw.choice(
            ("[" * 5000 + "]" * 5000, "null", "3", '"x"', "[]", "{}", '{"a":' * 3000 + "1" + "}" * 3000, "\ufeff{}")
        )
        path.write_text(value, encoding="utf-8")
        return f"{path.name} is {value[:20]}"
    place, keys = content, []
    while isinstance(place, dict) and place:
        keys.append(draw.choice(list(place)))
        if not isinstance(place[keys[-1]], dict) or not place[keys[-1]] or draw.random() < 0.6:
            break
        place = place[keys[-1]]
    if kind < 0.35:
        place.pop(keys[-1])
        what = "removed"
    else:
        place[keys[-1]] = what = draw.choice(VALUES)
    path.write_text(json.dumps(content), encoding="utf-8")
    return f"{path.name}: {keys} {what!r}"


def damage(draw: random.Random, folder: Path) -> str:
    """Damage one file of a checkpoint; returns what was done."""
    path = draw.choice(sorted(path for path in folder.iterdir() if path.is_file()))
    if path.suffix == ".json" and draw.random() < 0.9:
        return damage_json(draw, path)
    kind, data = draw.random(), path.read_bytes()
    if kind < 0.3:
        path.unlink()
        return f"{path.name} removed"
    if kind < 0.6:
        path.write_bytes(data[: draw.randrange(len(data))])
        return f"{path.name} cut"
    if kind < 0.7:
        path.unlink()
        path.mkdir()
        return f"{path.name} is a folder"
    place = draw.randrange(min(len(data), 200))
    path.write_bytes(data[:place] + bytes([data[place] ^ (1 << draw.randrange(8))]) + data[place + 1 :])
    return f"{path.name} bit of byte {place} turned"


def score(name: str, folder: Path) -> dict:
    columns = TEXTS if name == "nli_lex" else {key: TEXTS[key] for key in ("predictions", "references")}
    name = {"contextual": "matcha", "eight_bits": "consensus"}.get(name, name)
    return semantic_metrics.load(name, f"{folder}/", keep_in_memory=True).compute(**columns)


@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("name", ["consensus", "eight_bits", "matcha", "contextual", "stsscore", "nli_lex", "support"])
def test_damaged_checkpoints(name: str, batch: int, checkpoints: dict[str, Path], tmp_path: Path) -> None:
    draw = random.Random(f"{name} {batch}")
    loaded = 0
    for number in range(CHECKPOINTS):
        folder = tmp_path / str(number)
        shutil.copytree(checkpoints[name], folder)
        done = damage(draw, folder)
        try:
            result, refusal = answer(lambda folder=folder: score(name, folder))
        except BaseException as error:
            if hasattr(error, "add_note"):
                error.add_note(f"{name} {batch}, checkpoint {number}: {done}")
            raise
        if refusal is None:
            loaded += 1
            assert all(abs(value) < 1e9 for value in result["scores"]), done  # neither NaN nor infinite
        shutil.rmtree(folder)
    assert 0 < loaded < CHECKPOINTS


def charsmap(data: bytes) -> dict:
    return {"normalizer": {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(data).decode()}}


DEEP = "[" * 5000 + "]" * 5000
PLANTED = [
    ("config.json", {"num_hidden_layers": 10**6}, "num_hidden_layers: expected at most"),
    ("config.json", {"hidden_size": 10**9, "num_attention_heads": 1}, "hidden_size: expected at most"),
    ("config.json", {"max_position_embeddings": 10**12}, "max_position_embeddings: expected at most"),
    ("config.json", {"layer_norm_eps": "0.1"}, "checkpoint"),
    ("config.json", DEEP, "checkpoint"),
    ("tokenizer.json", {"post_processor": None}, "expected a tokeniser that puts separators around texts"),
    ("tokenizer.json", {"model": {"unk_token": "[NONE]"}}, "checkpoint"),
    ("tokenizer.json", DEEP, "checkpoint"),
]
CHARSMAPS = [
    *(
        (data, "precompiled_charsmap: expected a trie of its stated size")
        for data in (b"", b"\x03\0\0\0abc", b"\0" * 4, b"\xff\xff\xff\x7f", b"\x04\0\0\0\0\0\0\0\xff")
    ),
    (b"\x04\0\0\0\0\0\0\0a\0", "PanicException"),  # the trie lacks the units that a text leads to
]


@pytest.mark.parametrize("name", ["consensus", "stsscore", "nli_lex"])
@pytest.mark.parametrize(("file", "change", "message"), PLANTED)
def test_what_an_attacker_plants_is_refused_in_time(
    name: str, file: str, change: object, message: str, checkpoints: dict[str, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(checkpoints[name], tmp_path / "planted"))
    stored = json.loads((folder / file).read_text(encoding="utf-8"))
    if isinstance(change, dict):
        changed = {key: {**stored[key], **value} if key == "model" else value for key, value in change.items()}
        change = json.dumps(stored | changed)
    (folder / file).write_text(change, encoding="utf-8")
    refused_in_time(name, folder, message)


@pytest.mark.parametrize("name", ["consensus", "matcha", "contextual", "stsscore", "nli_lex"])
@pytest.mark.parametrize(("data", "message"), CHARSMAPS)
def test_a_planted_table_of_characters_is_refused_in_time(
    name: str, data: bytes, message: str, checkpoints: dict[str, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(checkpoints[name], tmp_path / "planted"))
    stored = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    (folder / "tokenizer.json").write_text(json.dumps(stored | charsmap(data)), encoding="utf-8")
    refused_in_time(name, folder, message)


def refused_in_time(name: str, folder: Path, message: str) -> None:
    _, refusal = answer(lambda: score(name, folder))
    assert refusal is not None
    assert message in refusal


@pytest.mark.parametrize("name", ["consensus", "matcha", "contextual", "stsscore", "nli_lex", "support"])
@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_devices_and_pipes_are_not_read(name: str, file: str, checkpoints: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(checkpoints[name], tmp_path / "planted"))
    for plant in (lambda path: path.symlink_to("/dev/zero"), os.mkfifo):
        (folder / file).unlink()
        plant(folder / file)
        _, refusal = answer(lambda: score(name, folder))
        assert refusal == f"checkpoint {folder}: expected regular files, got a device or a pipe: {file}"


@pytest.mark.parametrize("scale", [0, 1e-30, -1, True, "5", [5], {"scale": 5}, None, "x" * 9000])
def test_a_scale_of_another_kind_is_refused(scale: object, checkpoints: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(checkpoints["stsscore"], tmp_path / "planted"))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"stsscore": {"scale": scale}}), encoding="utf-8")
    _, refusal = answer(lambda: score("stsscore", folder))
    assert refusal.startswith("scale: expected a number")
