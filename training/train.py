"""Train MATCHA (Li et al., Findings of ACL 2026, section 3.3 and appendix A) and write a checkpoint with its card.

    accelerate launch --cpu --num_cpu_threads_per_process 2 training/train.py \
        --config training/configs/matcha.yaml --data DATA --output runs/matcha
    accelerate launch training/train.py --smoke          # under a minute, on bundled data

One process here. More only change the first words of the line, the weights stay those of the same global batch:

    accelerate launch --multi_gpu --num_processes 8 training/train.py ...
    accelerate launch --multi_gpu --num_machines 2 --num_processes 16 --machine_rank 0 ... training/train.py ...
    ACCELERATE_USE_CPU=true torchrun --nproc_per_node 2 training/train.py ...

(`accelerate launch --cpu --num_processes 2` would run ONE process, and `--cpu` alone one thread.)

The output folder holds `checkpoint/` (the best so far, folded, with its card), `network/` (the same unfolded, in the
authors' layout), `state/` (what --resume continues from) and `logs/` (tensorboard).
"""

import argparse
import os
import shutil
import sys
from dataclasses import asdict, replace
from pathlib import Path

import torch
from accelerate import Accelerator, DataLoaderConfiguration, skip_first_batches
from accelerate.utils import set_seed
from torch import nn
from torch.optim.lr_scheduler import LambdaLR, OneCycleLR
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader
from tqdm.auto import tqdm

from semantic_metrics.matcha.modeling_matcha import MatchaModel

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, python sees only training/

from training.cards import write_card
from training.data.sources import load_source, read_excluded
from training.matcha.batches import Batch, Corpus, InterleavedBatches, StagedBatches
from training.matcha.config import STAGED, TrainConfig, read_config
from training.matcha.initial_model import build_model, load_start, save_checkpoint, scorer_of
from training.matcha.losses import LOSSES
from training.matcha.validate import load_validation, mean_figure, validate

CONFIGS = Path(__file__).parent / "configs"
BATCH_SEED = 1_000_003  # a prime: batch k of seed s draws its random negatives from the seed BATCH_SEED * s + k


class Progress:
    """How far a run is; saved with its state."""

    def __init__(self) -> None:
        self.step = 0
        self.best = float("-inf")

    def state_dict(self) -> dict:
        """What `load_state_dict` takes."""
        return vars(self).copy()

    def load_state_dict(self, state: dict) -> None:
        """Continue where the state was saved."""
        vars(self).update(state)


class Run:
    """One training run: the pieces that `accelerate` prepares, and the loop over them.

    Args:
        config: what is trained.
        data: folder of the config's relative paths.
        output: folder that everything is written to.
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
        set_seed(config.seed)
        self.start = load_start(config.init)
        self.corpus, self.counts = self._read(data)
        self.validation = load_validation(config.validate, data)
        self.steps = config.total_steps(len(self.corpus))
        self.loss = LOSSES[config.loss["kind"]](**{k: v for k, v in config.loss.items() if k != "kind"})
        self.progress = Progress()
        self._prepare()

    def _read(self, data: Path | None) -> tuple[Corpus, dict[str, dict]]:
        excluded = read_excluded(self.config.exclude, data)
        loaded = [load_source(source, data, excluded) for source in self.config.train]
        counts = {s.name: dict(count) for s, (_, count) in zip(self.config.train, loaded, strict=True)}
        return Corpus([examples for examples, _ in loaded], self.start.tokenizer), counts

    def _prepare(self) -> None:
        config = self.config
        shares = [s.share if s.share is not None else n for s, n in zip(config.train, self.corpus.sizes, strict=True)]
        kind = StagedBatches if config.strategy in STAGED else InterleavedBatches
        batches = kind(self.corpus.sizes, shares, config.batch_size, self.steps * config.accumulate, config.seed)
        # a generator of its own: the loader must not draw from the stream that dropout draws from
        loader = DataLoader(
            self.corpus, batch_sampler=batches, collate_fn=self.corpus.collate, generator=torch.Generator()
        )
        model = build_model(self.start, config.network)
        optimizer = self._optimizer(model)
        scheduler = self._scheduler(optimizer)
        self.model, self.optimizer, self.loader, self.scheduler = self.accelerator.prepare(
            model, optimizer, loader, scheduler
        )
        # what is validated and kept: the moving average of the weights, which is on all processes the same
        self.average = AveragedModel(
            self.accelerator.unwrap_model(self.model), multi_avg_fn=get_ema_multi_avg_fn(config.average)
        )
        self.accelerator.register_for_checkpointing(self.progress, self.average)
        self.accelerator.init_trackers(config.name)

    def _optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        named = dict(model.named_parameters())
        embeddings = [p for name, p in named.items() if name.endswith("word_embeddings.weight")]
        rest = [p for name, p in named.items() if not name.endswith("word_embeddings.weight")]
        groups = [{"params": embeddings, "lr": self.config.lr * self.config.embedding_lr}]
        if rest:
            groups.append({"params": rest})
        return torch.optim.AdamW(groups, lr=self.config.lr, weight_decay=self.config.weight_decay)

    def _scheduler(self, optimizer: torch.optim.Optimizer) -> torch.optim.lr_scheduler.LRScheduler:
        schedule = self.config.schedule
        if schedule["kind"] == "one_cycle":
            peaks = [group["lr"] for group in optimizer.param_groups]
            return OneCycleLR(optimizer, peaks, total_steps=self.steps, pct_start=schedule["warmup"])
        if schedule["kind"] != "exponential":
            raise ValueError(f"schedule: expected kind one_cycle or exponential, got {schedule['kind']!r}")
        epoch = self.config.steps_per_epoch(len(self.corpus))
        return LambdaLR(optimizer, lambda step: schedule["decay"] ** int(step / epoch))

    def train(self, resume: bool = False) -> None:
        """Run to the end; with `resume`, from the last saved state if there is one."""
        loader = self.loader
        states = [state for state in (self.output / "state", self.output / "state.old") if state.is_dir()]
        if resume and states:
            self.accelerator.load_state(str(states[0]))
            loader = skip_first_batches(loader, self.progress.step * self.config.accumulate)
        elif resume:
            self.accelerator.print(f"--resume: no state in {self.output}, starting at step 0")
        bar = tqdm(total=self.steps, initial=self.progress.step, disable=not self.accelerator.is_main_process)
        for number, batch in enumerate(loader, start=self.progress.step * self.config.accumulate):
            with self.accelerator.accumulate(self.model):
                loss = self._batch_loss(batch, number)
                self.accelerator.backward(loss)
                self.optimizer.step()
                self.scheduler.step()
                self.optimizer.zero_grad()
            if self.accelerator.sync_gradients:
                self.progress.step += 1
                self.average.update_parameters(self.accelerator.unwrap_model(self.model))
                bar.update()
                self._after_step(loss)
        bar.close()
        self.accelerator.print(f"the best step's checkpoint is in {self.output / 'checkpoint'}")
        self.accelerator.end_training()

    def _batch_loss(self, batch: Batch, number: int) -> torch.Tensor:
        vectors = self.model(batch["ids"], batch["offsets"])  # (3b, D)
        vectors = vectors.unflatten(0, (3, -1)).transpose(0, 1)  # (b, 3, D)
        vectors, batch = self._gather(vectors, batch)
        generator = torch.Generator().manual_seed(BATCH_SEED * self.config.seed + number)
        # every process takes the same loss of the whole batch and the gradient of its own part, and DDP averages
        return self.loss(vectors, batch, generator) * self.accelerator.num_processes

    def _gather(self, vectors: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, Batch]:
        if self.accelerator.num_processes == 1:
            return vectors, batch
        whole = self.accelerator.gather(vectors.detach())
        begin = self.accelerator.process_index * len(vectors)
        whole = torch.cat([whole[:begin], vectors, whole[begin + len(vectors) :]])  # own part, with its gradient
        keys = ("present", "same", "target")
        return whole, {key: self.accelerator.gather(batch[key]) for key in keys}

    def _after_step(self, loss: torch.Tensor) -> None:
        step, last = self.progress.step, self.progress.step == self.steps
        if step % 10 == 0 or last:
            figures = {"loss": loss.item() / self.accelerator.num_processes, "lr": self.scheduler.get_last_lr()[-1]}
            self.accelerator.log(figures, step=step)
        if step % self.config.validate_every == 0 or last:
            self._validate()
        if step % self.config.save_every == 0 or last:
            self._save_state()

    def _validate(self) -> None:
        model = self.average.module
        results = validate(scorer_of(model, self.start), self.validation)
        score = mean_figure(results.values(), self.config.select_by)
        flat = {f"{name}/{figure}": value for name, row in results.items() for figure, value in row.items()}
        self.accelerator.log(flat, step=self.progress.step)
        better = score > self.progress.best
        self.progress.best = max(score, self.progress.best)
        if better and self.accelerator.is_main_process:
            save_checkpoint(model, self.start, self.output / "checkpoint")
            write_card(self.output / "checkpoint", self._record(results))
            self._save_network(model)
        if self.accelerator.is_main_process:
            kept = "kept" if better else "not kept"
            figures = "; ".join(f"{name} {value:.2f}" for name, value in flat.items())
            tqdm.write(f"step {self.progress.step}: mean {self.config.select_by} {score:.2f}, {kept}; {figures}")

    def _record(self, results: dict[str, dict[str, float]]) -> dict:
        return {
            "config": asdict(self.config),
            "command": self._command(),
            "step": self.progress.step,
            "steps": self.steps,
            "processes": self.accelerator.num_processes,
            "tokens": self.corpus.tokens,
            "counts": self.counts,
            "validation": results,
        }

    def _command(self) -> str:
        """The command line, with DATA for the folder that is another on every machine."""
        words = ["DATA" if self.data is not None and word == str(self.data) else word for word in sys.argv]
        return " ".join([f"accelerate launch --num_processes {self.accelerator.num_processes}", *words])

    def _save_network(self, model: nn.Module) -> None:
        if not isinstance(model, MatchaModel):
            return
        folder = self.output / "network"
        folder.mkdir(parents=True, exist_ok=True)
        model.config.to_json(folder / "model_config.json")
        torch.save({"model_state_dict": model.state_dict()}, folder / "max_diff.pth")
        self.start.tokenizer.save(str(folder / "tokenizer.json"))

    def _save_state(self) -> None:
        new, state, old = (self.output / name for name in ("state.new", "state", "state.old"))
        self.accelerator.save_state(str(new))
        self.accelerator.wait_for_everyone()  # each process writes its own random state
        if self.accelerator.is_main_process:  # renamed when complete; at any moment one of them is whole
            if state.is_dir():
                state.rename(old)
            new.rename(state)
            shutil.rmtree(old, ignore_errors=True)
        self.accelerator.wait_for_everyone()


def parse_args(args: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Train MATCHA.")
    parser.add_argument("--config", type=Path, help="a YAML file of training/configs")
    parser.add_argument("--data", type=Path, default=os.environ.get("SEMANTIC_METRICS_DATA"), help="data folder")
    parser.add_argument("--output", type=Path, help="folder to write to (default: runs/ and the config's name)")
    parser.add_argument("--resume", action="store_true", help="continue from the output folder's saved state")
    parser.add_argument("--smoke", action="store_true", help="a run of under a minute on bundled data")
    parsed = parser.parse_args(args)
    if parsed.smoke and parsed.config is not None:
        parser.error("expected --config FILE or --smoke, got both")
    if parsed.smoke:
        parsed.config, parsed.data = CONFIGS / "smoke.yaml", CONFIGS.parent
    if parsed.config is None:
        parser.error("expected --config FILE or --smoke")
    parsed.output = parsed.output or Path("runs") / parsed.config.stem
    return parsed


def main() -> None:
    """Train what the command line asks for."""
    args = parse_args()
    data = None if args.data is None else Path(args.data)
    Run(read_config(args.config), data, args.output).train(args.resume)


if __name__ == "__main__":
    main()
