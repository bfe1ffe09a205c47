"""Damaged and hostile checkpoints in the authors' format: a ValueError that names the file, and no code runs."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from benchmarks.matcha import authors_package as peer
from semantic_metrics.matcha import checkpoint
from tests.matcha.authors import SENTENCES, Authors, rewrite_json


class Intruder:
    """A pickle that makes a folder when it is loaded the trusting way."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable, tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("nested", [False, True], ids=["whole file", "one weight"])
def test_a_pickle_that_runs_code_is_refused_and_does_not_run(copy: Path, tmp_path: Path, nested: bool) -> None:
    marker, weights = tmp_path / "intruded", copy / "max_diff.pth"
    payload = Intruder(marker)
    torch.save({"model_state_dict": {"transformation_matrix": payload}} if nested else payload, weights)
    with pytest.raises(ValueError, match=r"max_diff\.pth: not a file of plain tensors"):
        checkpoint.load_checkpoint(str(copy))
    assert not marker.exists()
    torch.load(weights, weights_only=False)  # the trap is a real one
    assert marker.exists()


@pytest.mark.parametrize("kept", [0, 1, 100, 4096, -1])
def test_a_truncated_weights_file_is_refused(copy: Path, kept: int) -> None:
    weights = copy / "max_diff.pth"
    weights.write_bytes(weights.read_bytes()[:kept])
    with pytest.raises(ValueError, match=r"max_diff\.pth: not a file of plain tensors"):
        checkpoint.load_checkpoint(str(copy))


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")  # torch's, before it gives up
@pytest.mark.parametrize(
    "content",
    [b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", b"hello", b"\x80\x04aaaa", b"PK\x03\x04"],
    ids=["LFS pointer", "text", "pickle header", "zip header"],
)
def test_a_file_that_is_no_torch_file_is_refused(copy: Path, content: bytes) -> None:
    (copy / "max_diff.pth").write_bytes(content)
    with pytest.raises(ValueError, match=r"max_diff\.pth: not a file of plain tensors"):
        checkpoint.load_checkpoint(str(copy))


MISFITS: dict[str, tuple[Callable[[dict], object], str]] = {
    "a list": (lambda state: [state], "model_state_dict"),
    "no model_state_dict": (lambda state: state, "model_state_dict"),
    "not a dict": (lambda state: {"model_state_dict": list(state.values())}, "model_state_dict"),
    "a number as a key": (lambda state: {"model_state_dict": {**state, 7: torch.ones(1)}}, "model_state_dict"),
    "a number as a weight": (
        lambda state: {"model_state_dict": {**state, "transformation_matrix": 1.0}},
        "transformation_matrix",
    ),
    "a weight missing": (
        lambda state: {"model_state_dict": {k: v for k, v in state.items() if k != "sense_network.ln.bias"}},
        r"sense_network\.ln\.bias",
    ),
    "a weight too many": (
        lambda state: {"model_state_dict": {**state, "sense_network.gate": torch.ones(1)}},
        r"sense_network\.gate",
    ),
    "a wrong shape": (
        lambda state: {"model_state_dict": {**state, "transformation_matrix": torch.ones(96, 95)}},
        "transformation_matrix",
    ),
}


@pytest.mark.parametrize("case", MISFITS)
def test_weights_that_do_not_fit_are_refused_by_name(copy: Path, case: str) -> None:
    change, named = MISFITS[case]
    weights = copy / "max_diff.pth"
    torch.save(change(torch.load(weights, weights_only=True)["model_state_dict"]), weights)
    with pytest.raises(ValueError, match=rf"(?s)max_diff\.pth: .*{named}"):
        checkpoint.load_checkpoint(str(copy))


def test_weights_that_are_no_numbers_are_refused(copy: Path) -> None:
    weights = copy / "max_diff.pth"
    stored = torch.load(weights, weights_only=True)
    stored["model_state_dict"]["transformation_matrix"][0, 0] = float("nan")
    torch.save(stored, weights)
    with pytest.raises(ValueError, match=r"authors.*expected finite numbers"):
        checkpoint.load_checkpoint(str(copy))


@pytest.mark.parametrize(
    "changes",
    [{"n_embd": "96"}, {"n_embd": 95}, {"vocab_size": -1}, {"num_senses": 0}, {"activation_function": "soft"}],
    ids=str,
)
def test_a_config_that_does_not_fit_is_refused(copy: Path, changes: dict) -> None:
    rewrite_json(copy / "model_config.json", **changes)
    with pytest.raises(ValueError, match=r"model_config\.json"):
        checkpoint.load_checkpoint(str(copy))


@pytest.mark.parametrize("content", ["", "[]", "{", '{"vocab_size": 5000}', '"gpt2"', "\ud7ff\x00"])
def test_a_config_that_is_no_config_is_refused(copy: Path, content: str) -> None:
    (copy / "model_config.json").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=r"model_config\.json: expected a JSON object"):
        checkpoint.load_checkpoint(str(copy))


@pytest.mark.parametrize("content", ["", "{}", "[1]", "no json"])
def test_a_damaged_tokenizer_is_refused(copy: Path, content: str) -> None:
    (copy / "tokenizer.json").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=r"authors: its tokenizer"):
        checkpoint.load_checkpoint(str(copy))


def test_a_padding_row_beyond_the_table_is_refused(copy: Path) -> None:
    peer.train_tokenizer(SENTENCES, 5001).save(str(copy / "tokenizer.json"))  # its end is row 5000 of 5000
    with pytest.raises(ValueError, match=r"checkpoint .*authors: pad_token_id: expected a row of the table"):
        checkpoint.load_checkpoint(str(copy))


def test_a_token_beyond_the_table_is_refused(small: Authors, copy: Path) -> None:
    stored = json.loads(small.tokenizer.to_str())
    stored["model"]["vocab"]["Z"] = 5000  # of 5000 rows, far fewer of them used
    (copy / "tokenizer.json").write_text(json.dumps(stored), encoding="utf-8")
    with pytest.raises(ValueError, match=r"checkpoint .*authors: tokenizer: expected ids below 5000, got 5000"):
        checkpoint.load_checkpoint(str(copy))
