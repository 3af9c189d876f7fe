"""The training loop: deterministic, exactly resumable on the CPU, on one device or several."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

from translator.errors import CheckpointError, TranslatorError
from translator.model import Transformer
from translator.training.config import TrainConfig
from translator.training.data import Epochs, collate
from translator.training.guided import Guided, misalignment
from translator.training.objective import divergence, objective
from translator.training.schedule import learning_rate
from translator.training.state import (
    BEST,
    LastWeights,
    Log,
    Progress,
    load_weights,
    random_state,
    read_state,
    restore_random_state,
    write_whole,
)

LOG_EVERY = 20
PATIENCE = timedelta(hours=12)
"""How long a process waits for the others: the first one evaluates and selects weights while they do."""

Evaluate = Callable[[Transformer], dict[str, float]]
"""Scores a model on the development set; the entry `bleu` decides which weights are best."""

Sentences = list[list[int]]
T = TypeVar("T")


@dataclass(frozen=True)
class Process:
    """This process among all that train together, as torchrun starts them; alone it is 0 of 1."""

    rank: int = 0
    world: int = 1

    @classmethod
    def join(cls) -> Process:
        """Join the group that torchrun's environment describes, if there is one."""
        if "RANK" not in os.environ:
            return cls()
        if not dist.is_initialized():
            if torch.cuda.is_available():
                torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)) % torch.cuda.device_count())
            backend = "cuda:nccl,cpu:gloo" if torch.cuda.is_available() else "gloo"
            dist.init_process_group(backend, timeout=PATIENCE)
        return cls(dist.get_rank(), dist.get_world_size())

    def wait(self) -> None:
        """Until every process has come here."""
        if self.world > 1:
            dist.barrier()

    def first(self, act: Callable[[], object]) -> None:
        """Let the first process `act` while the others wait; what it refuses, all refuse.

        Raises:
            TranslatorError: what `act` raised in the first process, instead of a lost connection in the others.
        """
        refused: list[TranslatorError | None] = [None]
        if self.rank == 0:
            try:
                act()
            except TranslatorError as error:
                refused = [error]
        if self.world > 1:
            dist.broadcast_object_list(refused)
        if refused[0] is not None:
            raise refused[0]

    def leave(self) -> None:
        """End the group: nothing more is shared."""
        if self.world > 1:
            dist.destroy_process_group()

    def gather(self, value: T) -> list[T]:
        """The `value` of every process, by rank."""
        if self.world == 1:
            return [value]
        values: list[Any] = [None] * self.world
        dist.all_gather_object(values, value)
        return values

    def share(self, rows: Sentences) -> Sentences:
        """This process's part of a batch; the first row stands in for an empty one, see `weight`."""
        return rows[self.rank :: self.world] or rows[:1]

    def weight(self, rows: Sentences) -> float:
        """0 where this process's share only stands in for an empty one."""
        return float(self.rank < len(rows))


class Trainer:
    """One run: `config` decides everything, `folder` keeps it.

    Args:
        model: on its device already; every process starts with the same weights.
        epochs: the stream of batches.
        evaluate: scores the model every `config.eval_every` steps, in process 0.
    """

    def __init__(
        self,
        config: TrainConfig,
        model: Transformer,
        epochs: Epochs,
        folder: Path,
        *,
        evaluate: Evaluate | None = None,
        process: Process | None = None,
    ) -> None:
        self.config, self.model, self.epochs, self.folder, self.evaluate = config, model, epochs, folder, evaluate
        self.process = process or Process()
        self.device = next(model.parameters()).device
        trained = Guided(model, *config.guiding) if config.guiding else model
        self.trained: nn.Module = DistributedDataParallel(trained) if self.process.world > 1 else trained
        self.optimiser = torch.optim.AdamW(
            model.parameters(),
            lr=0.0,
            betas=config.betas,
            eps=config.adam_eps,
            weight_decay=config.weight_decay,
            fused=True,
        )
        self.progress = Progress()
        folder.mkdir(parents=True, exist_ok=True)
        self.last = LastWeights(folder, config.average)
        torch.manual_seed(config.seed + 1000 * self.process.rank)
        if self._state_file.exists():
            self._resume()
        steps = self.process.gather(self.progress.step)
        if len(set(steps)) > 1:
            raise CheckpointError(f"{folder} was left at the steps {steps} by its processes; remove its state-*.pt")
        if self.process.rank == 0:
            self.last.forget(self.progress.step)
            self.log = Log(folder / "log.jsonl", self.progress.step)
            self.board = SummaryWriter(folder / "tensorboard", purge_step=self.progress.step)

    @property
    def _state_file(self) -> Path:
        return self.folder / f"state-{self.process.rank}.pt"

    def save(self) -> None:
        """Write all that an exact resume needs (each process its own generators)."""
        state = {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "progress": asdict(self.progress),
            "random": random_state(self.device),
        }
        write_whole(self._state_file, state)

    def _resume(self) -> None:
        state = read_state(self._state_file)
        try:
            load_weights(self.model, state["model"], self._state_file)
            self.optimiser.load_state_dict(state["optimiser"])
            restore_random_state(state["random"], self.device)
        except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            said = f"{self._state_file} is no state of this run: {error!r}; remove it to start over"
            raise CheckpointError(said) from error
        self.progress = state["progress"]

    def run(self, *, until: int | None = None, save_every: int = 100) -> Progress:
        """Train up to step `until` (default: the config's last), saving the state every `save_every` steps."""
        last = min(until or self.config.steps, self.config.steps)
        stream = self.epochs.from_(self.progress.epoch, self.progress.index)
        bar = tqdm(total=last, initial=self.progress.step, unit="step", disable=self.process.rank > 0)
        started, meter = time.monotonic(), Meter()
        while self.progress.step < last:
            self._step(stream, meter)
            step = self.progress.step
            self.progress.seconds += time.monotonic() - started
            started = time.monotonic()
            bar.update()
            if step % LOG_EVERY == 0:
                self._report(meter.record(self.process), bar)
                meter = Meter()
            if step % self.config.eval_every == 0 or step == last:
                self._examine()
            if step % save_every == 0 or step == last:
                self.save()
        bar.close()
        return self.progress

    def _step(self, stream: Iterator[tuple[int, int, Sentences, Sentences]], meter: Meter) -> None:
        """One optimiser step over `accumulate` batches, normalised by all their real target tokens."""
        group = [next(stream) for _ in range(self.config.accumulate)]
        tokens = sum(len(row) + 1 for _, _, _, tgt in group for row in tgt)
        self.model.train()
        for position, (_, _, src, tgt) in enumerate(group):
            wait = self.process.world > 1 and position < len(group) - 1
            with self.trained.no_sync() if wait else contextlib.nullcontext():  # type: ignore[operator]
                self._backward(src, tgt, tokens, meter)
        rate = learning_rate(self.config, self.progress.step + 1, d_model=self.model.config.d_model)
        for parameters in self.optimiser.param_groups:
            parameters["lr"] = rate
        meter.norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip or float("inf"))
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.progress.step += 1
        self.progress.epoch, self.progress.index = group[-1][0], group[-1][1] + 1
        self.progress.tokens += tokens

    def _backward(self, src: Sentences, tgt: Sentences, tokens: int, meter: Meter) -> None:
        weight = self.process.weight(src)
        batch = collate(self.process.share(src), self.process.share(tgt), self.model.config).to(self.device)
        if twice := self.config.r_drop > 0:
            batch = batch.doubled()
        with self.autocast():
            found = self.trained(batch.src, batch.tgt_in, batch.src_keep, batch.rows)
        logits, *maps = found if self.config.guiding else (found,)
        score = objective(logits, batch.targets, smoothing=self.config.label_smoothing)
        loss = score.loss
        if maps:
            guided, guiding = maps
            loss = loss + self.config.guided * misalignment(guided, guiding, batch, self.model.config.eos_id)
        if twice:
            loss = (loss + self.config.r_drop * divergence(*logits.chunk(2))) / 2
        # DDP averages over processes; the sum is wanted, hence the factor.
        (loss * (weight * self.process.world / tokens)).backward()
        if weight:
            meter.add(score.loss.detach(), score.nll, score.correct, score.tokens)

    def autocast(self) -> contextlib.AbstractContextManager[None]:
        """bfloat16 where the config asks for it, or by itself on CUDA."""
        wanted = self.config.precision == "bf16" or (self.config.precision == "auto" and self.device.type == "cuda")
        return torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=wanted)

    def _report(self, record: dict[str, float], bar: tqdm[NoReturn]) -> None:
        if self.process.rank > 0:
            return
        rate = self.optimiser.param_groups[0]["lr"]
        self.log.add(step=self.progress.step, epoch=self.progress.epoch, lr=rate, **record)
        for name, value in {**record, "lr": rate}.items():
            self.board.add_scalar(f"train/{name}", value, self.progress.step)
        shown = {name: f"{record[name]:.3f}" for name in ("loss", "accuracy")}
        bar.set_postfix(shown | {"tok/s": int(record["tokens_per_second"])})

    def _examine(self) -> None:
        """Score on the development set, keep these weights for averaging, and the best of all beside them."""
        if self.process.rank == 0 and self.evaluate is not None:
            self.model.eval()
            scores = self.evaluate(self.model)
            weights = {name: value.cpu() for name, value in self.model.state_dict().items()}
            self.last.add(self.progress.step, weights)
            if scores["bleu"] > self.progress.best:
                self.progress.best = scores["bleu"]
                write_whole(self.folder / BEST, weights)
            record = {f"dev_{name}": value for name, value in scores.items()}
            self.log.add(step=self.progress.step, hours=self.progress.seconds / 3600, **record)
            for name, value in scores.items():
                self.board.add_scalar(f"dev/{name}", value, self.progress.step)
        self.process.wait()


class Meter:
    """Sums of a stretch of training; means come out of `record`, in nats a token. Until then no GPU is waited for."""

    def __init__(self) -> None:
        self.sums: list[Tensor] = []
        self.tokens, self.norm, self.started = 0, torch.zeros(()), time.monotonic()

    def add(self, loss: Tensor, nll: Tensor, correct: Tensor, tokens: int) -> None:
        """Add one batch's sums; nothing is fetched from the device yet."""
        self.sums.append(torch.stack([loss, nll, correct.to(loss)]))
        self.tokens += tokens

    def record(self, process: Process) -> dict[str, float]:
        """Means over all processes since the meter was made: loss, nll, accuracy; gradient norm, tokens a second."""
        sums = torch.stack(self.sums).sum(dim=0).tolist() if self.sums else [0.0] * 3
        *totals, tokens = map(sum, zip(*process.gather((*sums, self.tokens)), strict=True))
        loss, nll, correct = (total / tokens for total in totals)
        speed = tokens / (time.monotonic() - self.started)
        norm = float(self.norm)
        return {"loss": loss, "nll": nll, "accuracy": correct, "grad_norm": norm, "tokens_per_second": speed}
