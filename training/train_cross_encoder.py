"""Train a cross-encoder with sentence-transformers: NLI, similarity, or both, as `consensus` and two more metrics read.

    python training/train_cross_encoder.py --task nli --data DATA --output runs/nli
    python training/train_cross_encoder.py --task stsb --data DATA --output runs/stsb [--resume]
    accelerate launch training/train_cross_encoder.py --config my.yaml --data DATA --output runs/mine
    ACCELERATE_USE_CPU=true torchrun --nproc_per_node 2 training/train_cross_encoder.py --config my.yaml ...

On a shared CPU two processes of one thread (torchrun) are faster than one of two, whose threads wait for each other.

--task names a config of training/configs/cross_encoder; --config takes any other file, and --set changes values of
either (--set epochs=2 frozen_layers=null). The output
folder holds `checkpoint/` (fp16 safetensors, tokeniser, card) and `state/` (what --resume continues from).
"""

import copy
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from pickle import UnpicklingError

import numpy as np
import pandas as pd
import torch
from datasets import Dataset
from sentence_transformers import CrossEncoder
from sentence_transformers.base.evaluation import SequentialEvaluator
from sentence_transformers.base.sampler import DefaultBatchSampler
from sentence_transformers.cross_encoder import CrossEncoderTrainer, CrossEncoderTrainingArguments
from transformers import AutoConfig, TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR, set_seed

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, python sees only training/

from semantic_metrics.cross_encoder import eight_bits
from semantic_metrics.cross_encoder.heads import SIMILARITY
from semantic_metrics.cross_encoder.pair_checkpoint import HEAD, label_names
from semantic_metrics.files import one_line
from training.cards import started_from, write_card
from training.cross_encoder.pairs import CrossEncoderConfig, leave_out_long, to_dataset
from training.cross_encoder.targets import TargetEvaluator, TargetLoss
from training.data.config_checks import find_model, warn_of_slow_precision
from training.data.config_files import read_yaml
from training.data.run_arguments import make_parser
from training.data.sources import read_excluded
from training.data.states import UnusableState, check_values, config_values, discard, restore_folder, written_whole
from training.interpolate import interpolate
from training.push import add_push_option, check_push, push_run

CONFIGS = Path(__file__).parent / "configs" / "cross_encoder"
COMPLETE = "complete.json"  # file in a complete state: names and sizes of its files, and the config
PAD_TO_TOKENS = 8  # keeps shapes few: on a CPU, oneDNN compiles kernels for each, and forgets them beyond a thousand
POOL_PAIRS = 6400  # sorted by length together: enough to pad little, few enough to stay random


class InvalidRun(ValueError):
    """Something that a run needs cannot be read; one line that says why."""


class CompleteStates(TrainerCallback):
    """Marks each state of the trainer once it is written: a kill leaves some half written, or half removed.

    With each the config is stored and `start`, the digest of the weights that the run starts from: it fits no other.
    """

    def __init__(self, config: CrossEncoderConfig, start: str) -> None:
        self.config = started(config, start)

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object) -> None:
        """List the files of a state with their sizes."""
        if state.is_world_process_zero:
            folder = Path(args.output_dir) / f"{PREFIX_CHECKPOINT_DIR}-{state.global_step}"
            content = json.dumps({"config": self.config, "files": _sizes(folder)})
            (folder / COMPLETE).write_text(content, encoding="utf-8")


def _sizes(folder: Path) -> dict[str, int]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != COMPLETE)
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}


def start_digest(model: CrossEncoder) -> str:
    """Digest of a model's weights: --init may name the same ones by another folder, or others by the same."""
    digest = hashlib.sha256()
    for name, values in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(values.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def started(config: CrossEncoderConfig, start: str) -> dict:
    """The values that tell one run from another: its config, with the weights it starts from in place of their name."""
    return config_values(config) | {"init": start}


def find_state(folder: Path, config: CrossEncoderConfig, start: str) -> Path | None:
    """The last complete state of a run.

    Raises UnusableState: it is of a run with another config, or one that started from other weights.
    """
    states = {}
    for marker in folder.glob(f"{PREFIX_CHECKPOINT_DIR}-*/{COMPLETE}"):
        try:
            content = json.loads(marker.read_text(encoding="utf-8"))
            step = int(marker.parent.name.rpartition("-")[2])
        except (OSError, ValueError):
            continue
        if isinstance(content, dict) and content.get("files") == _sizes(marker.parent):
            states[step] = (marker.parent, content.get("config"))
    if not states:
        return None
    state, stored = states[max(states)]
    check_values(stored, started(config, start), state)
    return state


class SimilarLengths(DefaultBatchSampler):
    """Batches of pairs of similar length, in a random order that the seed and the epoch decide.

    A batch of short pairs has more of them than one of long pairs: its tokens are what memory and time depend on. Of
    several processes each takes every n-th batch: the batches of one step are neighbours, so that none waits for
    another's longer texts.

    Args:
        lengths: (n,) number of tokens of each pair.
        tokens: most tokens of a batch, padding included.
        dataset, args, options: as the base class takes them.
    """

    def __init__(self, lengths: np.ndarray, tokens: int, dataset: Dataset, *args: object, **options: object) -> None:
        super().__init__(dataset, *args, **options)
        self.lengths = -(-lengths // PAD_TO_TOKENS) * PAD_TO_TOKENS
        self.tokens = tokens
        self.batch_size = None  # accelerate would take a batch of another size for the last one
        self.processes = int(os.environ.get("WORLD_SIZE", "1"))

    def __len__(self) -> int:
        return sum(len(step) for step in self._steps(np.random.default_rng([self.seed, self.epoch])))

    def __iter__(self) -> Iterator[list[int]]:
        rng = np.random.default_rng([self.seed, self.epoch])
        steps = self._steps(rng)
        for i in rng.permutation(len(steps)):
            yield from steps[i]

    def _steps(self, rng: np.random.Generator) -> list[list[list[int]]]:
        """Batches of each step, one for each process; pairs that do not fill a last step are left for another epoch."""
        order = rng.permutation(len(self.lengths))
        batches = []
        for begin in range(0, len(order), POOL_PAIRS):
            pool = order[begin : begin + POOL_PAIRS]
            batches += self._batches(pool[np.argsort(self.lengths[pool], kind="stable")])
        whole = len(batches) // self.processes * self.processes
        return [batches[i : i + self.processes] for i in range(0, whole, self.processes)]

    def _batches(self, pairs: np.ndarray) -> list[list[int]]:
        """Pairs in ascending order of length -> batches of at most `tokens` tokens."""
        batches: list[list[int]] = [[]]
        for pair in pairs.tolist():
            if batches[-1] and (len(batches[-1]) + 1) * self.lengths[pair] > self.tokens:
                batches.append([])
            batches[-1].append(pair)
        return batches


def build_model(config: CrossEncoderConfig, init: str) -> CrossEncoder:
    """The pretrained encoder with a head: one output for each class, and a raw score for the similarity.

    If the start has a head of another size (an NLI model from which an STS scorer is trained), it gets a new one.
    """
    names = config.outputs.names
    config_kwargs = {name: config.dropout for name in ("hidden_dropout_prob", "attention_probs_dropout_prob")}
    config_kwargs |= {"id2label": dict(enumerate(names)), "label2id": {name: i for i, name in enumerate(names)}}
    with eight_bits.in_half(Path(find_model(init))) as start:
        model = CrossEncoder(
            str(start),
            num_labels=len(names),
            max_length=config.max_length,
            activation_fn=torch.nn.Identity(),
            # on a CPU the backward pass of the fused attention takes a third of a step
            model_kwargs={
                "ignore_mismatched_sizes": True,
                "attn_implementation": "sdpa" if torch.cuda.is_available() else "eager",
            },
            config_kwargs=config_kwargs,
            device=None if torch.cuda.is_available() else "cpu",
        ).float()  # the shipped weights are fp16, which does not train
    encoder = model.model.base_model.encoder
    if config.layers is not None:  # the others are dropped (Sajjad et al., 2023)
        if config.layers[-1] >= len(encoder.layer):
            raise ValueError(f"layers: expected numbers from 0 to {len(encoder.layer) - 1}, got {config.layers}")
        encoder.layer = torch.nn.ModuleList([encoder.layer[i] for i in config.layers])
        model.config.num_hidden_layers = len(config.layers)
    if config.outputs.similarity:
        model.config.stsscore = {"scale": config.top_score}  # the metric reads what to divide the raw score by
        if config.centre_head and not has_similarity_head(init, len(names)):
            head = [module for module in model.modules() if isinstance(module, torch.nn.Linear)][-1]
            torch.nn.init.constant_(head.bias[-1:], config.top_score / 2)  # else the first steps only learn the mean
    model[0].processing_kwargs = {"text": {"pad_to_multiple_of": PAD_TO_TOKENS}}
    if config.frozen_layers is not None:
        for part in (model.model.base_model.embeddings, *encoder.layer[: config.frozen_layers]):
            part.requires_grad_(False)
    return model


def has_similarity_head(init: str, outputs: int) -> bool:
    """Whether a checkpoint has as many outputs, the last a similarity: its head is trained, and stays as it is."""
    start = AutoConfig.from_pretrained(find_model(init))
    labels = label_names(start)
    if len(labels) != outputs or not any(name.endswith(HEAD) for name in start.architectures or ()):
        return False
    return outputs == 1 or labels[-1].strip().lower() == SIMILARITY


def load_pairs(config: CrossEncoderConfig, data: Path | None) -> tuple[Dataset, SequentialEvaluator, dict]:
    """Training pairs of one pass, an evaluator of all validation sets, and counts of the rows by source."""
    excluded = read_excluded(config.exclude, data)
    passes, counts, evaluators = [], {}, []
    for source in config.train:
        pairs, count = source.load(data, config.outputs, excluded)
        counts[source.name] = dict(count)
        passes.append(source.passes(pairs))
    for source in config.validate:
        pairs, _ = source.load(data, config.outputs, frozenset())
        texts, targets = list(zip(pairs["sentence1"], pairs["sentence2"], strict=True)), np.stack(pairs["label"])
        evaluators.append(TargetEvaluator(texts, targets, len(config.outputs.classes), source.name, config.precision))
    evaluator = SequentialEvaluator(evaluators, main_score_function=lambda scores: float(np.mean(scores)))
    return to_dataset(pd.concat(passes)), evaluator, counts


def training_arguments(
    config: CrossEncoderConfig, lengths: np.ndarray, output: Path, steps: int | None = None
) -> CrossEncoderTrainingArguments:
    """The config as the trainer's arguments; bf16 is autocast on a CPU."""
    return CrossEncoderTrainingArguments(
        output_dir=str(output / "state"),
        num_train_epochs=config.epochs,
        max_steps=steps or -1,
        accelerator_config={"even_batches": False},
        learning_rate=config.lr,
        warmup_steps=config.warmup,
        weight_decay=config.weight_decay,
        seed=config.seed,
        data_seed=config.seed,
        bf16=config.precision == "bf16",
        use_cpu=not torch.cuda.is_available(),
        batch_sampler=partial(SimilarLengths, lengths, config.batch_tokens),
        eval_strategy="steps",
        eval_steps=config.validate_every,
        save_steps=config.validate_every,
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="eval_sequential_score",
        greater_is_better=True,
        logging_steps=10,
        report_to=[],
        disable_tqdm=not sys.stderr.isatty(),
        dataloader_pin_memory=False,
        ddp_find_unused_parameters=False,  # all are used; the search does not look into what the model returns
    )


def train(
    config: CrossEncoderConfig,
    data: Path | None,
    output: Path,
    init: str | None = None,
    resume: bool = False,
    steps: int | None = None,
) -> dict[str, float]:
    """Train, keep the step with the best mean validation score, write `output/checkpoint`.

    `init` is the folder of the model that `config.init` names, if it is elsewhere, and `steps` the number of optimiser
    steps after which a try stops. Returns the validation figures of the written checkpoint, by set and figure; none in
    all processes but the first.

    Raises:
        InvalidRun: the data, or the model that it starts from, cannot be read.
        UnusableState: the saved state is of a run with another config, or one that started from other weights.
    """
    set_seed(config.seed)
    with _invalid_run():
        dataset, evaluator, counts = load_pairs(config, data)
    with _invalid_run(f"init: expected a model, got {init or config.init!r}"):
        model = build_model(config, init or config.init)
    digest = start_digest(model)
    start = copy.deepcopy(model.state_dict()) if config.share_of_start else {}
    state = find_state(output / "state", config, digest) if resume else None
    pairs = len(dataset)
    dataset, lengths = leave_out_long(model, dataset, config.max_length)
    if not len(dataset):
        raise InvalidRun(f"max_length: expected tokens for one of {pairs:,} pairs or more, got {config.max_length}")
    mean_batch = config.batch_tokens / float(lengths.mean())
    trainer = CrossEncoderTrainer(
        model=model,
        args=training_arguments(config, lengths, output, steps),
        train_dataset=dataset,
        loss=TargetLoss(model, len(config.outputs.classes), config.top_score, config.similarity_weight, mean_batch),
        evaluator=evaluator,
        callbacks=[CompleteStates(config, digest)],
    )
    if trainer.is_world_process_zero():
        warn_of_slow_precision(config.precision, trainer.args.device.type)
        restore_folder(output / "checkpoint")
        if state is None:
            discard(output / "state")
            sys.stderr.write(f"--resume: no state in {output}, starting at step 0\n" if resume else "")
    trainer.accelerator.wait_for_everyone()
    try:
        trainer.train(resume_from_checkpoint=None if state is None else str(state))
    except UnpicklingError:  # the trainer reads tensors and plain values alone
        raise UnusableState(f"--resume: {state} contains other objects than tensors; start without") from None
    figures = {}
    if start:
        model.load_state_dict(interpolate(model.state_dict(), start, config.share_of_start))
    if trainer.is_world_process_zero():
        record = {"config": asdict(config), "data": counts, "pairs_per_pass": len(dataset)}
        record |= {"pairs_too_long": pairs - len(dataset), "steps": trainer.state.global_step}
        record |= {"command": _command(data, init), **started_from(find_model(init or config.init))}
        figures = write_checkpoint(output / "checkpoint", model, evaluator, record)
    trainer.accelerator.end_training()
    return figures


@contextmanager
def _invalid_run(expected: str = "") -> Iterator[None]:
    """Turn errors of what a run begins with into InvalidRun."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise InvalidRun(f"{expected} ({one_line(error)})" if expected else one_line(error)) from error


def write_checkpoint(
    folder: Path, model: CrossEncoder, evaluator: SequentialEvaluator, record: dict[str, object]
) -> dict[str, float]:
    """Write a trained model with its card, whole or not at all; its figures as written, in float16, run in float32.

    `record` is what the card says of the run, but for the figures.
    """
    with written_whole(folder) as written:
        save(model, written)
        shipped = CrossEncoder(str(written), device="cpu").float()
        figures = {name: float(value) for name, value in evaluator(shipped).items() if name != "sequential_score"}
        write_card(written, record | {"validation": figures})
    return figures


def _command(data: Path | None, init: str | None) -> str:
    """The command line, with DATA and INIT for folders whose names differ between machines."""
    names = {str(data): "DATA", init: "INIT"}
    processes = os.environ.get("WORLD_SIZE", "1")
    run = ["python"] if processes == "1" else ["torchrun", "--nproc_per_node", processes]
    return " ".join([*run, *(names.get(word, word) for word in sys.argv)])


def save(model: CrossEncoder, folder: Path) -> None:
    """Write the checkpoint to ship: fp16 safetensors, and a tokeniser that transformers 4.57 loads as well."""
    model[0].processing_kwargs = {}  # padding changes scores by rounding only: left to the one who loads it
    model = model.half()
    model.config.dtype = torch.float16
    model.save_pretrained(str(folder), create_model_card=False)
    settings = folder / "tokenizer_config.json"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace("TokenizersBackend", "PreTrainedTokenizerFast"), encoding="utf-8")


def main() -> None:
    """Command line."""
    parser = make_parser(__doc__)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--task", choices=["nli", "stsb"], help="Train with the config of this name.")
    which.add_argument("--config", type=Path, help="YAML file; see training/cross_encoder/pairs.py.")
    parser.add_argument(
        "--set", nargs="+", action="extend", metavar="NAME=VALUE", default=[], help="Other values of the config."
    )
    parser.add_argument("--steps", type=int, metavar="N", help="Stop after N steps, to try a config.")
    parser.add_argument("--init", help="Folder to start from, instead of the config's `init`.")
    parser.add_argument("--resume", action="store_true", help="Continue from output/state.")
    add_push_option(parser)
    arguments = parser.parse_args()
    check_push(parser, arguments.push)
    try:
        path = arguments.config or CONFIGS / f"{arguments.task}.yaml"
        config = read_yaml(path, CrossEncoderConfig, arguments.set)
        if arguments.steps is not None and arguments.steps < 1:
            raise ValueError(f"--steps: expected 1 or more, got {arguments.steps}")
    except ValueError as error:
        parser.error(str(error))
    try:
        figures = train(config, arguments.data, arguments.output, arguments.init, arguments.resume, arguments.steps)
    except (InvalidRun, UnusableState) as error:
        parser.error(str(error))
    sys.stdout.write("".join(f"{name}: {value:.4f}\n" for name, value in figures.items()))
    push_run(arguments.output, arguments.push)


if __name__ == "__main__":
    main()
