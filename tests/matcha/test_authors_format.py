"""The authors' checkpoint format: the scores of their package, one fold, the right tokeniser, refusals of damage."""

import base64
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import evaluate
import numpy as np
import pytest
import torch
from huggingface_hub.constants import HF_HUB_CACHE
from tokenizers import Tokenizer

from benchmarks.papers.matcha import authors_package as peer
from semantic_metrics.matcha import authors_format
from semantic_metrics.matcha.checkpoint import load_checkpoint
from semantic_metrics.matcha.modeling_matcha import MatchaModel
from semantic_metrics.matcha.table import MatchaTable
from tests.matcha.conftest import SCRIPT, SENTENCES, Authors, rewrite_json, text_of

PARITY = 1e-6  # largest score difference from the peer, which computes in float32
LENGTHS = (1, 511, 512, 513, 2000)
END = peer.END
ODD_TEXTS = [
    "",
    " ",
    END,
    f"The pond{END}was frozen.",
    f"{END} {END}{END}",
    "<|endoftext",
    "\N{GRINNING FACE} \N{SNOWMAN}\N{VARIATION SELECTOR-16} \x00 \n\t x",
    " \N{LATIN SMALL LETTER E WITH ACUTE}e\N{COMBINING ACUTE ACCENT}",
    "Ġpond",
]


def _long_pairs(tokenizer: Tokenizer) -> tuple[list[str], list[str]]:
    """Every length against 2,000 tokens of a few words, where scores spread, and against its neighbour."""
    texts = [text_of(tokenizer, length, seed=i) for i, length in enumerate(LENGTHS)]
    others = [text_of(tokenizer, 2000, seed=10 + i, palette=1 + i) for i in range(len(LENGTHS))]
    return texts + texts, others + texts[1:] + texts[:1]


def _differences(authors: Authors, left: list[str], right: list[str]) -> tuple[np.ndarray, np.ndarray]:
    expected = authors.peer.score(left, right).numpy()
    scores = np.array(authors.metric.compute(predictions=left, references=right)["scores"])
    return np.abs(scores - expected), expected


@pytest.mark.parametrize("shape", ["small", pytest.param("true_shape", marks=pytest.mark.slow)])
def test_scores_are_the_peers(shape: str, request: pytest.FixtureRequest) -> None:
    authors: Authors = request.getfixturevalue(shape)
    left, right = _long_pairs(authors.tokenizer)
    lengths = {len(authors.tokenizer.encode(text).ids) for text in left}
    assert lengths == set(LENGTHS)
    differences, expected = _differences(authors, left + SENTENCES[:1], right + SENTENCES[1:2])
    assert differences.max() <= PARITY
    assert np.ptp(expected) > 0.5  # not the padding's likeness of everything to everything
    assert authors.metric.encoder.weights.dtype == np.float32


def test_scores_of_odd_texts_are_the_peers(small: Authors) -> None:
    long = text_of(small.tokenizer, 600, seed=1)
    left = [text + long[:2000] for text in ODD_TEXTS] + ODD_TEXTS
    right = [long] * len(ODD_TEXTS) + SENTENCES[: len(ODD_TEXTS)]
    differences, _ = _differences(small, left, right)
    assert differences.max() <= PARITY
    (encoding,) = small.metric.encoder.tokenize([f"a{END}"])
    assert encoding.ids[-1] == peer.load_package(small.folder).tokenizer.pad_token_id
    result = small.metric.compute(predictions=["", ""], references=["", END])  # all padding, and so with a score
    assert result["scores"] == [1.0, 1.0]
    assert result["undefined"] == 0


def test_folds_once_and_then_reads_the_cache(small: Authors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMANTIC_METRICS_CACHE", str(tmp_path))
    first = evaluate.load(SCRIPT, str(small.folder))
    (stored,) = tmp_path.glob("matcha/*/model.safetensors")
    stamp = stored.stat().st_mtime_ns
    assert [path.name for path in stored.parent.parent.iterdir()] == [stored.parent.name]  # nothing half-written

    def refuse(_: MatchaModel) -> torch.Tensor:
        raise AssertionError("folded again")

    monkeypatch.setattr(authors_format.MatchaModel, "fold", refuse)
    table = load_checkpoint(str(small.folder))
    assert np.array_equal(table.weights, first.encoder.weights)
    assert evaluate.load(SCRIPT, str(small.folder)).signature() == first.signature()
    assert stored.stat().st_mtime_ns == stamp
    changed = peer.write_random_checkpoint(tmp_path / "changed", small.tokenizer, 96, 4, seed=1)
    with pytest.raises(AssertionError, match="folded again"):
        load_checkpoint(str(changed))


@pytest.mark.parametrize("home", ["file", "x" * 300])  # a file in the place of a folder; a name that is too long
def test_a_home_without_access_loads(
    home: str, small: Authors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = load_checkpoint(str(small.folder)).weights
    (tmp_path / "file").write_text("in the place of a folder")
    monkeypatch.delenv("SEMANTIC_METRICS_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path / home))
    assert np.array_equal(load_checkpoint(str(small.folder)).weights, expected)


def test_a_cache_without_access_is_not_needed(small: Authors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load_checkpoint(str(small.folder)).weights
    monkeypatch.setenv("SEMANTIC_METRICS_CACHE", str(tmp_path))
    read = MatchaTable.from_folder

    def deny(folder: Path) -> MatchaTable:
        if folder.is_relative_to(tmp_path):
            raise PermissionError(13, "Permission denied")
        return read(folder)

    monkeypatch.setattr(authors_format.MatchaTable, "from_folder", staticmethod(deny))
    for _ in ("not yet cached", "cached"):
        assert np.array_equal(load_checkpoint(str(small.folder)).weights, expected)


def test_pads_with_the_tokenizers_own_pad_before_its_end(small: Authors, copy: Path) -> None:
    (copy / "tokenizer_config.json").write_text(json.dumps({"pad_token": "~", "eos_token": END}), encoding="utf-8")
    other = peer.load_package(copy)
    assert other.tokenizer.pad_token_id == small.tokenizer.token_to_id("~")
    metric = evaluate.load(SCRIPT, str(copy))
    assert metric.encoder.config.pad_token_id == other.tokenizer.pad_token_id
    left, right = [*SENTENCES, "", "a~b"], [text_of(small.tokenizer, 500, seed=i, palette=1) for i in range(14)]
    differences, expected = _differences(Authors(copy, small.tokenizer, other, metric), left, right)
    assert differences.max() <= PARITY
    assert np.ptp(expected) > 0.05


@pytest.fixture
def put_in_hub_cache() -> Iterator[Callable[[str, list[Path]], None]]:
    """Lay files out as `huggingface_hub` leaves a repository that it has downloaded."""
    repositories = []

    def put(name: str, files: list[Path]) -> None:
        revision = "0" * 40
        repositories.append(Path(HF_HUB_CACHE) / f"models--{name.replace('/', '--')}")
        snapshot = repositories[-1] / "snapshots" / revision
        snapshot.mkdir(parents=True)
        (repositories[-1] / "refs").mkdir()
        (repositories[-1] / "refs" / "main").write_text(revision, encoding="utf-8")
        for file in files:
            shutil.copy(file, snapshot)

    yield put
    for repository in repositories:
        shutil.rmtree(repository)


def test_without_a_tokenizer_gpt2s_is_named_when_the_hub_is_out_of_reach(copy: Path) -> None:
    for name in ("tokenizer.json", "vocab.json", "merges.txt"):
        (copy / name).unlink()
    with pytest.raises(ValueError, match=rf"(?s){copy}.*'gpt2'"):
        load_checkpoint(str(copy))


def test_a_hub_id_in_the_authors_format_takes_gpt2s_tokenizer(small: Authors, put_in_hub_cache: Callable) -> None:
    put_in_hub_cache("authors/matcha", [small.folder / peer.CONFIG, small.folder / peer.WEIGHTS])
    put_in_hub_cache("gpt2", [small.folder / "tokenizer.json"])
    table = load_checkpoint("authors/matcha")
    assert np.array_equal(table.encode(["a pond"]).vectors, small.metric.encoder.encode(["a pond"]).vectors)
    assert table.config.pad_token_id == 4999


class Intruder:
    """A pickle that makes a folder when it is loaded the trusting way."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable, tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("nested", [False, True], ids=["whole file", "one weight"])
def test_a_pickle_that_runs_code_is_refused_and_does_not_run(copy: Path, tmp_path: Path, nested: bool) -> None:
    marker, weights = tmp_path / "intruded", copy / peer.WEIGHTS
    payload = Intruder(marker)
    torch.save({"model_state_dict": {"transformation_matrix": payload}} if nested else payload, weights)
    with pytest.raises(ValueError, match=NOT_TENSORS):
        load_checkpoint(str(copy))
    assert not marker.exists()
    torch.load(weights, weights_only=False)  # the trap is a real one
    assert marker.exists()


Damage = Callable[[Path], object]
NOT_TENSORS = r"max_diff\.pth: not a file of plain tensors"
NOT_JSON = r"model_config\.json: expected a JSON object"
STATE = "model_state_dict"


def _bytes(name: str, content: bytes) -> Damage:
    return lambda folder: (folder / name).write_bytes(content)


def _stored(change: Callable[[dict], object]) -> Damage:
    """Store what `change` makes of the state dict."""
    return lambda folder: torch.save(change(torch.load(folder / peer.WEIGHTS)[STATE]), folder / peer.WEIGHTS)


def _weight(name: str, value: object) -> Damage:
    return _stored(lambda state: {STATE: state | {name: value}})


def _config(**changes: object) -> Damage:
    return lambda folder: rewrite_json(folder / peer.CONFIG, **changes)


def _tokenizer_that_panics(folder: Path) -> None:
    """Its table of characters has a trie of one unit, and a text leads to others."""
    table = base64.b64encode(b"\4\0\0\0\0\0\0\0a\0").decode()
    normalizer = {"type": "Precompiled", "precompiled_charsmap": table}
    rewrite_json(folder / "tokenizer.json", normalizer=normalizer)


def _tokenizer_with_id_5000(folder: Path) -> None:
    model = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    rewrite_json(folder / "tokenizer.json", model=model | {"vocab": model["vocab"] | {"Z": 5000}})


MATRIX = "transformation_matrix"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"
REFUSED: dict[str, tuple[Damage, str]] = {
    "weights cut": (lambda folder: os.truncate(folder / peer.WEIGHTS, 4096), NOT_TENSORS),
    **{f"weights {data}": (_bytes(peer.WEIGHTS, data), NOT_TENSORS) for data in (b"", POINTER, b"hi", b"\x80\x04aa")},
    "a zip header": (_bytes(peer.WEIGHTS, b"PK\x03\x04"), NOT_TENSORS),
    "no model_state_dict": (_stored(lambda state: state), STATE),
    "no dict of weights": (_stored(lambda state: {STATE: list(state.values())}), STATE),
    "a number as a weight": (_weight(MATRIX, 1.0), MATRIX),
    "a weight missing": (_stored(lambda state: {STATE: {k: v for k, v in state.items() if k != MATRIX}}), MATRIX),
    "a wrong shape": (_weight(MATRIX, torch.ones(96, 95)), MATRIX),
    "nan": (_weight(MATRIX, torch.full((96, 96), torch.nan)), "authors.*expected finite numbers"),
    **{
        f"config {name} {value}": (_config(**{name: value}), r"model_config\.json")
        for name, value in (
            *(("n_embd", "96"), ("n_embd", 95), ("vocab_size", -1), ("num_senses", 0)),
            *(("layer_norm_epsilon", "0.1"), ("layer_norm_epsilon", 2)),
        )
    },
    "an unknown activation": (_config(activation_function="soft"), r"model_config\.json"),
    **{
        f"config {content}": (_bytes(peer.CONFIG, content.encode()), NOT_JSON)
        for content in ("", "[]", '{"vocab_size": 5000}', "\ud7ff\x00")
    },
    "a tokenizer without a model": (_bytes("tokenizer.json", b"{}"), "authors: its tokenizer"),
    "a tokenizer that panics": (_tokenizer_that_panics, "authors: its tokenizer, .*did not load .PanicException"),
    "a padding row beyond the table": (  # its end is row 5000 of 5000
        lambda folder: peer.train_tokenizer(SENTENCES, 5001).save(str(folder / "tokenizer.json")),
        "checkpoint .*authors: pad_token_id: expected a row of the table",
    ),
    "a token beyond the table": (
        _tokenizer_with_id_5000,
        "checkpoint .*authors: tokenizer: expected ids below 5000, got 5000",
    ),
}


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")  # torch's, before it gives up
@pytest.mark.parametrize("case", REFUSED)
def test_a_damaged_checkpoint_is_refused_by_name(copy: Path, case: str) -> None:
    damage, message = REFUSED[case]
    damage(copy)
    with pytest.raises(ValueError, match=f"(?s){message}"):
        load_checkpoint(str(copy))
