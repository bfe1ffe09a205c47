"""Train MATCHA (Li et al., Findings of ACL 2026, section 3.3 and appendix A) and write a checkpoint with its card.

    accelerate launch --cpu --num_cpu_threads_per_process 2 training/train.py \
        --config training/configs/matcha/matcha.yaml --data DATA --output runs/matcha
    accelerate launch training/train.py     # training/configs/smoke.yaml: under a minute, on bundled data

These run one process. More processes change only the first words of the line, and neither the global batch nor the
weights:

    accelerate launch --multi_gpu --num_processes 8 training/train.py ...
    accelerate launch --multi_gpu --num_machines 2 --num_processes 16 --machine_rank 0 ... training/train.py ...
    ACCELERATE_USE_CPU=true torchrun --nproc_per_node 2 training/train.py ...

(`accelerate launch --cpu --num_processes 2` would run ONE process, and `--cpu` alone would use one thread.)

The output folder holds `checkpoint/` (the best so far, folded, with its card), `network/` (the same unfolded, in the
authors' format), `state/` (what --resume continues from) and `logs/` (tensorboard). `--push ORG/NAME` pushes the
checkpoint to the Hub when it is trained.
"""

import shutil
import sys
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path

import torch
from accelerate import Accelerator, DataLoaderConfiguration, skip_first_batches
from accelerate.utils import set_seed
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader
from tqdm.auto import tqdm

from semantic_metrics.matcha.modeling_matcha import MatchaModel

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, python sees only training/

from training.cards import write_card
from training.data.config_checks import make_part, warn_of_slow_precision
from training.data.config_files import read_yaml
from training.data.run_arguments import make_parser
from training.data.sources import Entry, Example, load_source, read_excluded
from training.data.states import (
    UnusableState,
    check_values,
    config_values,
    discard,
    read_tensors,
    restore_folder,
    written_whole,
)
from training.matcha.batches import Batch, Corpus, SourceBatches, even_turns, levels_in_turn, round_robin, stages
from training.matcha.config import ROUND_ROBIN, SCHEDULES, TrainConfig
from training.matcha.initial_model import build_model, load_initial_model, save_checkpoint, save_network, scorer_of
from training.matcha.losses import LOSSES
from training.matcha.set_regulariser import REGULARISERS, SetSamples
from training.matcha.validate import Results, check_figure, load_validation, mean_figure, validate
from training.push import add_push_option, check_push, push_run

CONFIGS = Path(__file__).parent / "configs"
SMOKE = CONFIGS / "smoke.yaml"  # what is trained without --config
BATCH_SEED = 1_000_003  # a prime: batch k of seed s draws its random negatives from the seed BATCH_SEED * s + k
LOG_EVERY_STEPS = 10
RUN_STATE, RANDOM_STATE = "run.pt", "random_{}.pt"  # of the run, and of each process


class Run:
    """One training run: the pieces that `accelerate` prepares, and the loop over them.

    Args:
        config: what is trained.
        data: folder of the config's relative paths.
        output: folder to write to.
    """

    def __init__(self, config: TrainConfig, data: Path | None, output: Path) -> None:
        config = replace(config, train=config.sources())
        self.config, self.data, self.output = config, data, output
        self.accelerator = Accelerator(
            gradient_accumulation_steps=config.accumulate,
            mixed_precision=config.precision,
            log_with="tensorboard",
            project_dir=str(output / "logs"),
            # a global batch is cut into equal parts: the run does not depend on the number of processes
            dataloader_config=DataLoaderConfiguration(split_batches=True),
        )
        if self.accelerator.is_main_process:
            warn_of_slow_precision(config.precision, self.accelerator.device.type)
        set_seed(config.seed)
        self.initial = load_initial_model(config.init)
        self.counts: dict[str, dict] = {}
        excluded = read_excluded(config.exclude, data)
        self.corpus = Corpus(self._load(config.train, excluded), self.initial.tokenizer, config.max_tokens)
        self.validation = load_validation(config.validate, data)
        check_figure(config.select_by, self.validation)
        self.steps = config.total_steps(len(self.corpus))
        self.loss = make_part("loss", config.loss, LOSSES)
        self._load_sets(excluded)
        self.step, self.best = 0, float("-inf")
        self._prepare()

    def _load_sets(self, excluded: frozenset[str]) -> None:
        """Read the samples of the regulariser, if there is one."""
        self.regulariser, self.penalty = None, None  # the latter: its value at the last batch, for the log
        if self.config.regulariser is None:
            return
        self.regulariser = make_part("regulariser", self.config.regulariser, REGULARISERS)
        if self.regulariser.batch_size % self.accelerator.num_processes:
            raise ValueError(
                f"regulariser.batch_size: expected a multiple of the {self.accelerator.num_processes} processes, "
                f"got {self.regulariser.batch_size}"
            )
        samples = list(chain.from_iterable(self._load(self.config.sets, excluded)))
        self.samples = SetSamples(samples, self.initial.tokenizer, self.config.max_tokens, self.config.seed)

    def _load(self, entries: list[Entry], excluded: frozenset[str]) -> list[list[Example]]:
        """The examples of each entry; the counts are kept for the card."""
        loaded = {entry.name: load_source(entry, self.data, excluded) for entry in entries}
        self.counts |= {name: dict(counts) for name, (_, counts) in loaded.items()}
        return [examples for examples, _ in loaded.values()]

    def _prepare(self) -> None:
        model = build_model(self.initial, self.config.network)
        optimizer = make_optimizer(model, self.config)
        steps_per_epoch = self.config.steps_per_epoch(len(self.corpus))
        scheduler = make_part("schedule", self.config.schedule, SCHEDULES)(optimizer, self.steps, steps_per_epoch)
        self.model, self.optimizer, self.loader, self.scheduler = self.accelerator.prepare(
            model, optimizer, make_loader(self.corpus, self.config, self.steps), scheduler
        )
        # the moving average of the weights is what is validated and kept; it is the same in all processes
        self.average = AveragedModel(
            self.accelerator.unwrap_model(self.model), multi_avg_fn=get_ema_multi_avg_fn(self.config.average)
        )
        self.accelerator.init_trackers(self.config.name)

    def train(self, resume: bool = False) -> None:
        """Run to the end; with `resume`, from the last saved state; else older states are removed first.

        Raises UnusableState: the saved state is damaged, or of a run with another config.
        """
        loader = self.loader
        if self.accelerator.is_main_process:
            for name in ("checkpoint", "network"):
                restore_folder(self.output / name)
            if not resume:
                discard(self.output / "state")
        self.accelerator.wait_for_everyone()
        state = find_state(self.output)
        if state is not None:
            self._load_state(state)
            loader = skip_first_batches(loader, self.step * self.config.accumulate)
        elif resume:
            self.accelerator.print(f"--resume: no state in {self.output}, starting at step 0")
        bar = tqdm(total=self.steps, initial=self.step, disable=None if self.accelerator.is_main_process else True)
        for number, batch in enumerate(loader, start=self.step * self.config.accumulate):
            with self.accelerator.accumulate(self.model):
                loss = self._batch_loss(batch, number)
                self.accelerator.backward(loss)
                self.optimizer.step()
                self.scheduler.step()
                self.optimizer.zero_grad()
            if self.accelerator.sync_gradients:
                self.step += 1
                self.average.update_parameters(self.accelerator.unwrap_model(self.model))
                bar.update()
                self._after_step(loss)
        bar.close()
        folder, kept = self.output / "checkpoint", self.best > float("-inf")
        self.accelerator.print(f"the best step's checkpoint is in {folder}" if kept else "no checkpoint was kept")
        self.accelerator.end_training()

    def _batch_loss(self, batch: Batch, number: int) -> torch.Tensor:
        ids, offsets, operators = batch.ids, batch.offsets, None
        if self.regulariser is not None:  # its texts are encoded in the same pass
            process, processes = self.accelerator.process_index, self.accelerator.num_processes
            drawn = self.samples.draw(number, self.regulariser.batch_size, process, processes)
            set_ids, set_offsets, operators = (tensor.to(ids.device) for tensor in drawn)
            ids, offsets = torch.cat([ids, set_ids]), torch.cat([offsets, set_offsets + len(ids)])
        vectors, set_vectors = self.model(ids, offsets).tensor_split([len(batch.offsets)])  # (3b, D) and (3k, D)
        generator = torch.Generator().manual_seed(BATCH_SEED * self.config.seed + number)
        # every process takes the same loss of the whole batch and the gradient of its own part, and DDP averages
        loss = self.loss(self._gather(vectors), self._gather_batch(batch), generator)
        if operators is not None:
            penalty = self.regulariser.loss(self._gather(set_vectors), operators)
            self.penalty = penalty.detach()
            loss = loss + self.regulariser.weight * penalty
        return loss * self.accelerator.num_processes

    def _gather(self, vectors: torch.Tensor) -> torch.Tensor:
        """(3b, D) vectors of this process -> those of all processes, (B, 3, D)."""
        vectors = vectors.unflatten(0, (3, -1)).transpose(0, 1)  # (b, 3, D)
        if self.accelerator.num_processes == 1:
            return vectors
        whole = self.accelerator.gather(vectors.detach())
        begin = self.accelerator.process_index * len(vectors)
        return torch.cat([whole[:begin], vectors, whole[begin + len(vectors) :]])  # own part, with its gradient

    def _gather_batch(self, batch: Batch) -> Batch:
        """The part that the losses read of the batches of all processes."""
        if self.accelerator.num_processes == 1:
            return batch
        present, same, target = map(self.accelerator.gather, (batch.present, batch.same, batch.target))
        return batch._replace(present=present, same=same, target=target)

    def _after_step(self, loss: torch.Tensor) -> None:
        step, last = self.step, self.step == self.steps
        if step % LOG_EVERY_STEPS == 0 or last:
            figures = {"loss": loss.item() / self.accelerator.num_processes, "lr": self.scheduler.get_last_lr()[-1]}
            if self.penalty is not None:
                figures["set_criteria"] = self.penalty.item()
            self.accelerator.log(figures, step=step)
        if step % self.config.validate_every == 0 or last:
            self._validate()
        if step % self.config.save_every == 0 or last:
            self._save_state()

    def _validate(self) -> None:
        """Measure the averaged weights, and keep them if they are the best so far."""
        results = validate(scorer_of(self.average.module, self.initial), self.validation)
        score = mean_figure(results.values(), self.config.select_by)
        flat = {f"{name}/{figure}": value for name, row in results.items() for figure, value in row.items()}
        self.accelerator.log(flat, step=self.step)
        is_better = score > self.best
        self.best = max(self.best, score)
        if not self.accelerator.is_main_process:
            return
        if is_better:
            self._keep(results)
        outcome = "kept" if is_better else "not kept"
        figures = "; ".join(f"{name} {value:.2f}" for name, value in flat.items())
        tqdm.write(f"step {self.step}: mean {self.config.select_by} {score:.2f}, {outcome}; {figures}")

    def _keep(self, results: Results) -> None:
        """Write the averaged weights: folded with a card, and unfolded in the authors' format."""
        model = self.average.module
        with written_whole(self.output / "checkpoint") as folder:
            save_checkpoint(model, self.initial, folder)
            write_card(folder, self._record(results))
        if isinstance(model, MatchaModel):
            with written_whole(self.output / "network") as folder:
                save_network(model, self.initial, folder)

    def _parts(self) -> dict:
        """The objects whose state is saved, by name."""
        model = self.accelerator.unwrap_model(self.model)
        return {"model": model, "average": self.average, "optimizer": self.optimizer, "scheduler": self.scheduler}

    def _random(self) -> list:
        """The modules with the random state of this process: dropout draws from nothing else."""
        kind = self.accelerator.device.type
        return [torch] if kind == "cpu" else [torch, getattr(torch, kind)]

    def _save_state(self) -> None:
        """Save what --resume continues from, renamed when complete: every `step-N` is whole."""
        states, new = self.output / "state", self.output / "state" / "new"
        if self.accelerator.is_main_process:
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(parents=True)
            state = {name: part.state_dict() for name, part in self._parts().items()}
            state |= {"step": self.step, "best": self.best, "config": config_values(self.config)}
            torch.save(state | {"processes": self.accelerator.num_processes}, new / RUN_STATE)
        self.accelerator.wait_for_everyone()
        states_of_process = [module.get_rng_state() for module in self._random()]
        torch.save(states_of_process, new / RANDOM_STATE.format(self.accelerator.process_index))
        self.accelerator.wait_for_everyone()
        if self.accelerator.is_main_process:
            new.rename(states / f"step-{self.step}")
            for folder in states.glob("step-*"):
                if folder.name != f"step-{self.step}":
                    shutil.rmtree(folder, ignore_errors=True)
        self.accelerator.wait_for_everyone()

    def _load_state(self, folder: Path) -> None:
        state = read_tensors(folder / RUN_STATE)
        try:
            check_values(state["config"], config_values(self.config), folder)
            for name, part in self._parts().items():
                part.load_state_dict(state[name])
            self.step, self.best = int(state["step"]), float(state["best"])
            if state["processes"] != self.accelerator.num_processes:
                self.accelerator.print(f"--resume: the state is of {state['processes']} processes: dropout will differ")
                return
            random_states = read_tensors(folder / RANDOM_STATE.format(self.accelerator.process_index))
            for module, random_state in zip(self._random(), random_states, strict=True):
                module.set_rng_state(random_state)
        except UnusableState:
            raise
        except Exception as error:  # a part is missing or of another shape: each raises its own
            reason = str(error).partition("\n")[0]
            raise UnusableState(f"--resume: {folder} is no state of this run ({reason}); start without") from None

    def _record(self, results: Results) -> dict:
        # DATA in place of the folder, whose name differs between machines
        words = ["DATA" if self.data is not None and word == str(self.data) else word for word in sys.argv]
        processes = self.accelerator.num_processes
        return {
            "config": asdict(self.config),
            "command": " ".join([f"accelerate launch --num_processes {processes}", *words]),
            "step": self.step,
            "steps": self.steps,
            "processes": processes,
            "tokens": self.corpus.tokens + (self.samples.corpus.tokens if self.regulariser is not None else 0),
            "counts": self.counts,
            "validation": results,
        }


def make_loader(corpus: Corpus, config: TrainConfig, steps: int) -> DataLoader:
    """The batches of a run of so many optimiser steps."""
    shares = [s.share if s.share is not None else n for s, n in zip(config.train, corpus.sizes, strict=True)]
    steps *= config.accumulate
    if config.strategy == "sequential":
        turns = stages(shares, steps)
    elif config.strategy == "curriculum":
        turns = levels_in_turn([source.level for source in config.train], shares, steps)
    elif config.turns == ROUND_ROBIN:
        turns = round_robin(corpus.sizes, config.batch_size, steps)
    else:
        turns = even_turns(shares, steps)
    batches = SourceBatches(corpus.sizes, turns, config.batch_size, config.seed)
    # a generator of its own: the loader must not draw from the stream that dropout draws from
    return DataLoader(corpus, batch_sampler=batches, collate_fn=corpus.collate, generator=torch.Generator())


def make_optimizer(model: nn.Module, config: TrainConfig) -> torch.optim.Optimizer:
    """AdamW, which is Adam without weight decay, with a learning rate of their own for the token embeddings."""
    named = dict(model.named_parameters())
    embeddings = [named.pop(name) for name in list(named) if name.endswith("word_embeddings.weight")]
    groups = [{"params": embeddings, "lr": config.lr * config.embedding_lr}]
    if named:
        groups.append({"params": list(named.values())})
    return torch.optim.AdamW(groups, lr=config.lr, weight_decay=config.weight_decay)


def find_state(output: Path) -> Path | None:
    """The last state that a run saved; a killed run may also have left parts of earlier ones."""
    steps = {int(folder.name[5:]): folder for folder in output.glob("state/step-*") if folder.name[5:].isdecimal()}
    return steps[max(steps)] if steps else None


def main() -> None:
    """Train what the command line asks for."""
    parser = make_parser("Train MATCHA.", output=None)
    described = "A YAML file, such as those of training/configs/matcha; default: smoke.yaml, a minute on bundled data."
    parser.add_argument("--config", type=Path, help=described)
    parser.add_argument("--output", type=Path, help="Folder to write to (default: runs/ and the config's name).")
    parser.add_argument("--resume", action="store_true", help="Continue from the output folder's saved state.")
    add_push_option(parser)
    args = parser.parse_args()
    if args.config is None:
        args.config = SMOKE
        sys.stderr.write(f"train.py: no --config: this trains {SMOKE}, a short run on bundled data\n")
    output = args.output or Path("runs") / args.config.stem
    check_push(parser, args.push)
    refused: tuple[type[Exception], ...] = (OSError, ValueError)
    try:
        run = Run(read_yaml(args.config, TrainConfig), args.data, output)
        refused = (UnusableState,)  # any other error of a run is a bug, whose traceback is wanted
        run.train(args.resume)
    except refused as error:
        sys.exit(f"train.py: {error}")
    push_run(output, args.push)


if __name__ == "__main__":
    main()
