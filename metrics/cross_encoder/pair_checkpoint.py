"""A cross-encoder's checkpoint, of transformers or sentence-transformers: refused if its scores would mean nothing."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import safe_open
from tokenizers import Tokenizer
from tokenizers.normalizers import Lowercase, Sequence
from torch import nn
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from semantic_metrics.core.checkpoint_files import CONFIG, check_sizes, describe_error, refuse_damage
from semantic_metrics.core.inputs import quote
from semantic_metrics.cross_encoder import eight_bits
from semantic_metrics.transformer.backends import default_device, without_bars

OTHER_WEIGHTS = ("pytorch_model.bin",)  # accepted where safetensors are missing; read as plain tensors only
UNLIMITED_TOKENS = 2**31 - 1  # for a model with relative positions
VOCABULARY_FILES = ("tokenizer.json", "vocab.*", "*.model")  # without one, transformers invents an empty tokeniser
MODULES = "modules.json"  # of sentence-transformers
LAYER = re.compile(r".*\.layers?\.\d+")  # part of a weight's name
NAMED_WEIGHTS = 3  # missing weights that an error names
HEAD = "ForSequenceClassification"  # ends the name of every transformers architecture that scores pairs


Found = TypeVar("Found")


@dataclass(frozen=True)
class Tokens:
    """The tokens of a pair, separators included."""

    ids: list[int]
    types: list[int]  # for each token the model's number for the text that it belongs to

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Template:
    """How a tokeniser joins two texts."""

    separators: tuple[Tokens, Tokens, Tokens]  # before, between and behind the texts
    types: tuple[int, int]  # the model's numbers for the two texts

    def join(self, first: list[int], second: list[int]) -> Tokens:
        """Token ids of two texts -> tokens of the pair."""
        before, between, behind = self.separators
        one, two = self.types
        return Tokens(
            before.ids + first + between.ids + second + behind.ids,
            before.types + [one] * len(first) + between.types + [two] * len(second) + behind.types,
        )


def read_config(folder: Path) -> PretrainedConfig:
    """The `config.json` of a checkpoint with a head that scores pairs.

    Raises:
        ValueError: the file is missing or damaged, or the checkpoint has no such head; names the folder.
    """
    try:
        config = AutoConfig.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
        labels = label_names(config)
    except Exception as error:  # transformers raises errors of many kinds on a damaged file
        reason = describe_error(error)
        raise ValueError(f"checkpoint {folder}: expected a config.json of transformers ({reason})") from None
    architectures = config.architectures or []
    is_list = isinstance(architectures, list)
    if not labels or not is_list or not any(str(name).endswith(HEAD) for name in architectures):
        got = quote(architectures) if architectures else "none"
        raise ValueError(f"checkpoint {folder}: expected an architecture ...{HEAD}, got {got}")
    return config


def label_names(config: PretrainedConfig) -> list[str]:
    """Names of the labels, in the order of the logits."""
    return [str(config.id2label[i]) for i in range(config.num_labels)]


def check_labels(folder: Path, config: PretrainedConfig, check: Callable[[list[str]], Found]) -> Found:
    """Find by `check`, such as `heads.nli_labels`, among a checkpoint's labels; its ValueError names the folder."""
    try:
        return check(label_names(config))
    except ValueError as error:
        raise ValueError(f"checkpoint {folder}: {error}") from None


def load_encoder(folder: Path) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    """The tokeniser and the model of a cross-encoder, in float32, on a GPU if there is one.

    What sentence-transformers saved is read without that library, whose import takes seconds.

    Raises:
        ValueError: weights or tokeniser are missing or damaged, a weight is missing or not finite, the tokeniser knows
            more tokens than the model, or the checkpoint has several modules or a prompt; names the folder.
    """
    files = sorted(path.name for path in folder.glob("*"))[:20]
    if not weight_files(folder):
        raise ValueError(f"checkpoint {folder}: expected model.safetensors, found {files}")
    if not any(path for pattern in VOCABULARY_FILES for path in folder.glob(pattern)):
        raise ValueError(f"checkpoint {folder}: expected tokenizer.json, found {files}")
    _check_modules(folder)
    check_sizes(folder)
    if prompt := _read_settings(folder, "config_sentence_transformers.json").get("default_prompt_name"):
        raise ValueError(f"checkpoint {folder}: expected texts without a prompt in front, got {prompt!r}")
    with refuse_damage(f"checkpoint {folder}: did not load"), without_bars():
        options = {"local_files_only": True, "trust_remote_code": False}
        model = _load_model(folder, options)
        tokenizer = _load_tokenizer(folder, options)
        model = model.to(default_device())
    _check_weights(folder, model)
    tokens = max(tokenizer.get_vocab().values())
    if tokens >= (rows := model.get_input_embeddings().num_embeddings):
        raise ValueError(f"checkpoint {folder}: expected a tokeniser of {rows} tokens at most, got one of {tokens + 1}")
    return tokenizer, model


def _load_model(folder: Path, options: dict[str, Any]) -> PreTrainedModel:
    """The model in float32, from weights in 8 bits too."""
    files = weight_files(folder)
    if not eight_bits.is_in_eight_bits(files):
        return AutoModelForSequenceClassification.from_pretrained(str(folder), dtype=torch.float32, **options)
    config = AutoConfig.from_pretrained(str(folder), **options)
    model = AutoModelForSequenceClassification.from_config(config, dtype=torch.float32, trust_remote_code=False)
    model.load_state_dict(eight_bits.read(files), strict=False)  # `_check_weights` says what is missing
    return model.eval()


def _load_tokenizer(folder: Path, options: dict[str, Any]) -> PreTrainedTokenizerBase:
    """The tokeniser, with the limit and the lower case that sentence-transformers wrote down for it."""
    # the library reads them only beside its list of modules
    settings = _read_settings(folder, "sentence_bert_config.json") if (folder / MODULES).is_file() else {}
    limit = settings.get("max_seq_length")
    tokenizer = AutoTokenizer.from_pretrained(
        str(folder), **options, **({} if limit is None else {"model_max_length": limit})
    )
    if settings.get("do_lower_case") and tokenizer.is_fast:
        backend = tokenizer.backend_tokenizer
        backend.normalizer = Sequence([Lowercase(), *filter(None, [backend.normalizer])])
    return tokenizer


def _read_settings(folder: Path, name: str) -> dict[str, Any]:
    """A JSON file of sentence-transformers; empty if it is absent."""
    with refuse_damage(f"checkpoint {folder}: did not load {name}"):
        path = folder / name
        return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def _check_modules(folder: Path) -> None:
    """Check that the checkpoint is one transformer, nothing else and without code of its own."""
    path = folder / MODULES
    if not path.is_file():
        return
    try:
        types = [module["type"] for module in json.loads(path.read_text(encoding="utf-8"))]
    except (ValueError, TypeError, KeyError, RecursionError):
        types = ["a damaged file"]
    # a second module would change the scores, and one that is no Transformer is code of somebody
    if len(types) != 1 or not re.fullmatch(r"sentence_transformers\.[\w.]+\.Transformer", str(types[0])):
        raise ValueError(f"checkpoint {folder}: expected one module in modules.json, a Transformer, got {types}")


def weight_files(folder: Path) -> list[Path]:
    """Files with a checkpoint's weights; an empty list if there are none."""
    return sorted(folder.glob("model*.safetensors")) or [
        folder / name for name in OTHER_WEIGHTS if (folder / name).is_file()
    ]


def checkpoint_digest(folder: Path) -> str:
    """Sha256 of the weights' files and of `config.json`."""
    digest = hashlib.sha256()
    for path in [*weight_files(folder), folder / CONFIG]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _check_weights(folder: Path, model: PreTrainedModel) -> None:
    """Check that all weights come from the checkpoint (transformers invents missing ones) and are finite."""
    stored: set[str] = set()
    for path in weight_files(folder):
        if path.suffix == ".safetensors":
            with safe_open(path, "pt") as file:
                stored.update(file.keys())
        else:
            stored.update(torch.load(path, map_location="cpu", weights_only=True))
    missing = {name for name, _ in model.named_parameters()} - stored
    if missing and not eight_bits.is_in_eight_bits(
        weight_files(folder)
    ):  # or transformers knows them by an older name: loading the model again shows it
        with without_bars():
            options = {"output_loading_info": True, "local_files_only": True, "trust_remote_code": False}
            missing &= set(type(model).from_pretrained(str(folder), **options)[1]["missing_keys"])
    if missing:
        more = f" and {len(missing) - NAMED_WEIGHTS} more" * (len(missing) > NAMED_WEIGHTS)
        some = ", ".join(sorted(missing)[:NAMED_WEIGHTS]) + more
        raise ValueError(f"checkpoint {folder}: expected all weights of its {type(model).__name__}, missing {some}")
    if unused := sorted(_layers(stored) - _layers(model.state_dict())):
        raise ValueError(f"checkpoint {folder}: expected as many layers as config.json says, got {unused[0]} too")
    for name, values in model.named_parameters():
        if not bool(torch.isfinite(values).all()):
            raise ValueError(f"checkpoint {folder}: expected finite numbers, got inf or nan in {name}")


def _layers(names: Iterable[str]) -> set[str]:
    return {match[0] for name in names if (match := LAYER.match(name))}


def positions(model: PreTrainedModel) -> int:
    """Number of tokens in the longest sequence that the model has positions for."""
    limit = getattr(model.config, "max_position_embeddings", None)
    longest = limit if isinstance(limit, int) and limit > 0 else UNLIMITED_TOKENS
    for module in model.modules():
        table = getattr(module, "position_embeddings", None)
        if isinstance(table, nn.Embedding):  # RoBERTa's positions begin behind that of the padding
            unused = 0 if table.padding_idx is None else table.padding_idx + 1
            longest = min(longest, table.num_embeddings - unused)
    return longest


def read_template(folder: Path, tokenizer: Tokenizer) -> Template:
    """Separators that a tokeniser adds to a pair; read once, as it cannot join and cut pairs in two threads at once."""
    first, second = (tokenizer.encode(text, add_special_tokens=False) for text in ("a", "b"))
    pair = tokenizer.encode("a", "b")
    sides = pair.sequence_ids
    if 0 in sides and 1 in sides:
        one, two = sides.index(0), sides.index(1)
        spans = slice(one), slice(one + len(first), two), slice(two + len(second), None)
        begin, middle, end = (Tokens(pair.ids[span], pair.type_ids[span]) for span in spans)
        separators = begin, middle, end
        template = Template(separators, (pair.type_ids[one], pair.type_ids[two]))
        if any(map(len, separators)) and template.join(first.ids, second.ids) == Tokens(pair.ids, pair.type_ids):
            return template
    raise ValueError(f"checkpoint {folder}: expected a tokeniser that puts separators around texts, got {pair.tokens}")
