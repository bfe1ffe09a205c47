"""What a folder is refused for before a library reads it."""

import base64
import json
import os
from pathlib import Path

import pytest

from semantic_metrics.consensus.weights import Weights
from semantic_metrics.core.checkpoint_files import check_files, check_sizes, check_tokenizer
from semantic_metrics.fitting.threshold import read_threshold
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
    for path, reason in ((deep, ""), (pipe, "expected a regular file"), (Path(os.devnull), "expected a regular file")):
        with pytest.raises(ValueError, match=f"weights: expected a JSON file, got .*{reason}"):
            Weights.read(path)
        with pytest.raises(ValueError, match=f"threshold .*: expected a JSON file with .*{reason}"):
            read_threshold(path)
