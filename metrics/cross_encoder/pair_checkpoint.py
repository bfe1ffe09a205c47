"""A cross-encoder's checkpoint: loaded by sentence-transformers, and refused where its scores would mean nothing."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from sentence_transformers import CrossEncoder
from tokenizers import Tokenizer
from torch import nn
from transformers import AutoConfig, PretrainedConfig, PreTrainedModel
from transformers.utils import logging

OTHER_WEIGHTS = ("pytorch_model.bin",)  # what a repository may hold instead of safetensors; read as plain tensors only
NO_LIMIT = 2**31 - 1  # tokens, of a model with relative positions
VOCABULARIES = ("tokenizer.json", "vocab.*", "*.model")  # without one, transformers makes an empty tokeniser up
LAYER = re.compile(r".*\.layers?\.\d+")  # in the name of a weight
SHOWN = 3  # names of missing weights
HEAD = "ForSequenceClassification"  # ends the name of every architecture of transformers that scores a pair


@dataclass(frozen=True)
class Tokens:
    """A pair as the model reads it.

    Attributes:
        ids: of its tokens, separators included.
        types: as many; which text a token is of, in the model's own numbers.
    """

    ids: list[int]
    types: list[int]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Template:
    """How a tokeniser joins two texts.

    Attributes:
        separators: what stands before, between and behind them.
        types: of the tokens of each.
    """

    separators: tuple[Tokens, Tokens, Tokens]
    types: tuple[int, int]

    def join(self, first: list[int], second: list[int]) -> Tokens:
        """Tokens of two texts -> of the pair."""
        before, between, behind = self.separators
        one, two = self.types
        return Tokens(
            before.ids + first + between.ids + second + behind.ids,
            before.types + [one] * len(first) + between.types + [two] * len(second) + behind.types,
        )


def read_config(folder: Path) -> PretrainedConfig:
    """The `config.json` of a checkpoint with a head that scores pairs.

    Raises:
        ValueError: there is none, it is damaged, or the checkpoint has no such head; names the folder.
    """
    try:
        config = AutoConfig.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
        labels = label_names(config)
    except Exception as error:  # transformers raises errors of many kinds on a damaged file
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise ValueError(f"checkpoint {folder}: expected a config.json of transformers ({reason})") from None
    architectures = config.architectures or []
    if not labels or not any(name.endswith(HEAD) for name in architectures):
        raise ValueError(f"checkpoint {folder}: expected an architecture ...{HEAD}, got {architectures or 'none'}")
    return config


def label_names(config: PretrainedConfig) -> list[str]:
    """Names of the labels, in the order of the logits."""
    return [str(config.id2label[i]) for i in range(config.num_labels)]


def read_activation(folder: Path, config: PretrainedConfig) -> str | None:
    """Name of the function that sentence-transformers puts on the logits of a checkpoint, or None if it does not say.

    Its versions have written it to three places; the newest counts, as it does to the library.
    """
    path = folder / "config_sentence_transformers.json"
    saved = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    older = getattr(config, "sentence_transformers", None) or {}
    oldest = getattr(config, "sbert_ce_default_activation_function", None)
    return saved.get("activation_fn") or older.get("activation_fn") or oldest


def load_encoder(folder: Path) -> CrossEncoder:
    """The cross-encoder of a folder, in float32, without the activation that it may have on top of its logits.

    Raises:
        ValueError: weights or tokeniser are missing or damaged, weights are not finite or not all there, the tokeniser
            knows more tokens than the model, or more than one module or a prompt is asked for; names the folder.
    """
    held = sorted(path.name for path in folder.glob("*"))[:20]
    if not weight_files(folder):
        raise ValueError(f"checkpoint {folder}: expected model.safetensors, found {held}")
    if not any(path for pattern in VOCABULARIES for path in folder.glob(pattern)):
        raise ValueError(f"checkpoint {folder}: expected tokenizer.json, found {held}")
    _check_modules(folder)
    try:
        with _quiet():
            encoder = CrossEncoder(
                str(folder),
                activation_fn=nn.Identity(),
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"dtype": torch.float32},
            )
    except Exception as error:  # damage raises errors of any kind
        raise ValueError(f"checkpoint {folder}: did not load ({type(error).__name__}: {error})") from error
    if prompt := getattr(encoder, "default_prompt_name", None):
        raise ValueError(f"checkpoint {folder}: expected texts without a prompt in front, got {prompt!r}")
    if not type(encoder.model).__name__.endswith(HEAD):
        raise ValueError(f"checkpoint {folder}: expected a model ...{HEAD}, got {type(encoder.model).__name__}")
    _check_weights(folder, encoder.model)
    tokens = max(encoder.tokenizer.get_vocab().values())
    if tokens >= (rows := encoder.model.get_input_embeddings().num_embeddings):
        raise ValueError(f"checkpoint {folder}: expected a tokeniser of {rows} tokens at most, got one of {tokens + 1}")
    return encoder


def _check_modules(folder: Path) -> None:
    """See that sentence-transformers will run one transformer and nothing else, and no code of the checkpoint."""
    path = folder / "modules.json"
    if not path.is_file():
        return
    try:
        types = [module["type"] for module in json.loads(path.read_text(encoding="utf-8"))]
    except (ValueError, TypeError, KeyError):
        types = ["a damaged file"]
    # before its version 6 the library imports whatever a local folder names
    if len(types) != 1 or not re.fullmatch(r"sentence_transformers\.[\w.]+\.Transformer", str(types[0])):
        raise ValueError(f"checkpoint {folder}: expected one module in modules.json, a Transformer, got {types}")


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the progress bars of transformers."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def weight_files(folder: Path) -> list[Path]:
    """The files that hold a checkpoint's weights; none if there are none."""
    found = sorted(folder.glob("model*.safetensors"))
    return found or [folder / name for name in OTHER_WEIGHTS if (folder / name).is_file()]


def _check_weights(folder: Path, model: PreTrainedModel) -> None:
    """See that all weights came from the checkpoint (transformers makes up what is missing), and are finite."""
    stored: set[str] = set()
    for path in weight_files(folder):
        if path.suffix == ".safetensors":
            with safe_open(path, "pt") as file:
                stored.update(file.keys())
        else:
            stored.update(torch.load(path, map_location="cpu", weights_only=True))
    missing = {name for name, _ in model.named_parameters()} - stored
    if missing:  # or transformers knows them by an older name: it says so when asked, and takes as long as to load
        with _quiet():
            options = {"output_loading_info": True, "local_files_only": True, "trust_remote_code": False}
            missing &= set(type(model).from_pretrained(str(folder), **options)[1]["missing_keys"])
    if missing:
        some = ", ".join(sorted(missing)[:SHOWN]) + f" and {len(missing) - SHOWN} more" * (len(missing) > SHOWN)
        raise ValueError(f"checkpoint {folder}: expected all weights of its {type(model).__name__}, missing {some}")
    if unused := sorted(_layers(stored) - _layers(model.state_dict())):
        raise ValueError(f"checkpoint {folder}: expected as many layers as config.json says, got {unused[0]} too")
    for name, values in model.named_parameters():
        if not bool(torch.isfinite(values).all()):
            raise ValueError(f"checkpoint {folder}: expected finite numbers, got inf or nan in {name}")


def _layers(names: Iterable[str]) -> set[str]:
    return {found[0] for name in names if (found := LAYER.match(name))}


def positions(model: PreTrainedModel) -> int:
    """Tokens of the longest sequence that the model has positions for."""
    said = getattr(model.config, "max_position_embeddings", None)
    longest = said if isinstance(said, int) and said > 0 else NO_LIMIT
    for module in model.modules():
        table = getattr(module, "position_embeddings", None)
        if isinstance(table, nn.Embedding):  # RoBERTa's positions begin behind that of the padding
            taken = 0 if table.padding_idx is None else table.padding_idx + 1
            longest = min(longest, table.num_embeddings - taken)
    return longest


def read_template(folder: Path, tokenizer: Tokenizer) -> Template:
    """What a tokeniser adds to two texts; read once, as it cannot join and cut pairs in two threads at a time.

    Raises:
        ValueError: it does anything but to put separators around two texts.
    """
    first, second = (tokenizer.encode(text, add_special_tokens=False) for text in ("a", "b"))
    pair = tokenizer.encode("a", "b")
    sides = pair.sequence_ids
    if 0 in sides and 1 in sides:
        one, two = sides.index(0), sides.index(1)
        spans = slice(one), slice(one + len(first), two), slice(two + len(second), None)
        separators = tuple(Tokens(pair.ids[span], pair.type_ids[span]) for span in spans)
        template = Template(separators, (pair.type_ids[one], pair.type_ids[two]))
        if template.join(first.ids, second.ids) == Tokens(pair.ids, pair.type_ids):
            return template
    raise ValueError(f"checkpoint {folder}: expected a tokeniser that puts separators around texts, got {pair.tokens}")
