"""What a folder is refused for before a library reads it."""

import base64
import json
import os
from pathlib import Path

import pytest
from tokenizers.normalizers import Precompiled

from semantic_metrics.consensus.weights import Weights
from semantic_metrics.core.checkpoint_files import check_files, check_sizes, check_tokenizer
from semantic_metrics.core.threshold import read_threshold
from semantic_metrics.set_criteria.encoders import load_encoder
from tests import tiny_pairs as tiny

UNIT = b"\1\2\3\4"  # of a trie
DEEP = "[" * 100_000


def normalized(folder: Path, data: bytes | str, nested: bool = False) -> Path:
    stored = data if isinstance(data, str) else base64.b64encode(data).decode()
    normalizer = {"type": "Precompiled", "precompiled_charsmap": stored}
    if nested:
        normalizer = {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, normalizer]}
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps({"model": {}, "normalizer": normalizer}))
    return folder


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0\0\0",
        b"\3\0\0\0abc",  # no whole unit
        b"\xff\xff\xff\x7f" + UNIT,  # more than there is
        b"\4\0\0\0" + UNIT + b"\xff",  # no UTF-8
        "no base64!",
    ],
)
def test_a_table_of_characters_of_another_form_is_refused(data: bytes | str, nested: bool, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"tokenizer\.json: precompiled_charsmap: expected a trie of its stated size"):
        check_tokenizer(normalized(tmp_path / "model", data, nested))
    check_tokenizer(normalized(tmp_path / "model", b"\4\0\0\0" + UNIT + "a\0ü\0".encode(), nested))


@pytest.mark.parametrize("model", [3, {}, None])
def test_a_table_of_characters_is_checked_beside_a_damaged_model(model: object, tmp_path: Path) -> None:
    path = normalized(tmp_path / "model", b"\xff\xff\xff\x7f" + UNIT) / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"model": model}))
    with pytest.raises(ValueError, match="precompiled_charsmap: expected a trie"):
        check_tokenizer(path.parent)


def test_a_table_of_characters_is_found_however_deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = normalized(tmp_path / "model", b"") / "tokenizer.json"
    stored = json.loads(path.read_text())
    for _ in range(5000):  # more than Python's calls may nest; newer Pythons parse as much from the file
        stored["normalizer"] = {"type": "Sequence", "normalizers": [stored["normalizer"]]}
    monkeypatch.setattr(json, "loads", lambda text: stored)
    with pytest.raises(ValueError, match="precompiled_charsmap: expected a trie"):
        check_tokenizer(path.parent)


def test_a_table_of_characters_that_works_is_accepted(tmp_path: Path) -> None:
    """A trie of 256 units with one entry, "A"; its text, at place 0, is "a"."""
    units = [0] * 256
    units[ord("A")] = ord("A") | 1 << 8 | (ord("A") ^ 1) << 10  # label, whether it is an entry, way to its value
    data = (4 * len(units)).to_bytes(4, "little") + b"".join(unit.to_bytes(4, "little") for unit in units) + b"a\0"
    assert Precompiled(data).normalize_str("ABA") == "aBa"
    check_tokenizer(normalized(tmp_path / "model", data))


def test_a_pipe_in_the_folder_of_a_module_is_refused(tmp_path: Path) -> None:
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "config.json").write_text("{}")
    check_files(tmp_path)
    os.mkfifo(tmp_path / "1_Pooling" / "config.json")
    with pytest.raises(ValueError, match=r"expected regular files, got a device or a pipe: 1_Pooling/config\.json"):
        check_files(tmp_path)


def test_sizes_of_a_module_s_folder_are_checked(tmp_path: Path) -> None:
    (tmp_path / "0_Transformer").mkdir()
    (tmp_path / "0_Transformer" / "config.json").write_text(json.dumps({"num_hidden_layers": 10**6}))
    with pytest.raises(ValueError, match="num_hidden_layers: expected at most 1000, got 1e"):
        check_sizes(tmp_path)


def test_an_encoder_with_a_million_layers_is_refused(tmp_path: Path) -> None:
    folder = tiny.change(tiny.bert(tmp_path / "bert"), {"num_hidden_layers": 10**6})
    with pytest.raises(ValueError, match=r"bert: config\.json: num_hidden_layers: expected at most"):
        load_encoder(f"{folder}/")


def test_settings_are_read_from_regular_files_that_end(tmp_path: Path) -> None:
    deep, pipe = tmp_path / "deep.json", tmp_path / "pipe.json"
    deep.write_text(DEEP)
    os.mkfifo(pipe)
    for path, reason in ((deep, ""), (Path(os.devnull), "expected a regular file"), (pipe, "expected a regular file")):
        with pytest.raises(ValueError, match=f"weights: expected a JSON file, got .*{reason}"):
            Weights.read(path)
        with pytest.raises(ValueError, match=f"threshold .*: expected a JSON file with .*{reason}"):
            read_threshold(path)
