"""Connectionist temporal classification by PyTorch's kernels, in float64.

The kernels do not scale the numbers of long sequences: in float32, the gradient of 500 frames has three correct digits.
So they run in float64, and only on the columns of the classes in an example's labels. Their results for labels that do
not fit into the frames, and for lengths outside the axes, are replaced by those of tensorbackend's rules.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from tensorbackend import Template
from tensorbackend.extending import index_out_of_range

from .kernels import TorchBase, kernel
from .library import torch
from .ways import Array

NEVER = -1e30
"""Stands for the logarithm of probability 0; its sums and differences are never NaN."""


class TorchCtc(TorchBase):
    """The loss, and the posteriors of the classes."""

    @kernel()
    def ctc_forward(
        self, out: tuple[Template, Template], scores: Array, labels: Array, frames: Array, counts: Array, *, blank: int
    ) -> tuple[Array, Array]:
        """Returns the losses, and zeros for the state: `ctc_posteriors` computes PyTorch's state again."""
        losses = _Columns.of(scores, labels, frames, counts, blank).losses
        impossible = (losses >= -NEVER / 2) | (counts < 0) | (counts > labels.shape[1])
        return torch.where(impossible, inf, losses), scores.new_zeros(()).expand(out[1].shape)

    @kernel()
    def ctc_posteriors(
        self,
        out: Template,
        scores: Array,
        labels: Array,
        frames: Array,
        counts: Array,
        losses: Array,
        forward: Array,
        *,
        blank: int,
    ) -> Array:
        """Computes the posteriors from PyTorch's gradient by the logits, which is probabilities minus posteriors."""
        columns = _Columns.of(scores, labels, frames, counts, blank)
        there = (torch.arange(scores.shape[1], device=self.place) < frames[:, None]) & (losses < inf)[:, None]
        shares = torch.where(there[:, :, None], columns.scores.exp() - columns.gradient(), 0).to(scores.dtype)
        return torch.zeros_like(scores).scatter_add_(2, columns.classes.expand(shares.shape), shares)


class _Columns(NamedTuple):
    """The operands of PyTorch's kernels: for each example a column for the blank, and one for each of its labels."""

    scores: Array
    """(batch, time, 1 + positions), float64."""
    classes: Array
    """(batch, 1, 1 + positions): the class of each column."""
    targets: Array
    """(batch, positions): the column of each label; equal neighbouring labels have the same column."""
    frames: list[int]
    counts: list[int]
    losses: Array
    state: Array

    @classmethod
    def of(cls, scores: Array, labels: Array, frames: Array, counts: Array, blank: int) -> _Columns:
        """Makes the columns of a batch, and computes their losses by PyTorch."""
        batch, time, classes = scores.shape
        size = labels.shape[1]
        places = torch.arange(size, device=labels.device)
        inside = places < counts[:, None]
        wrong = inside & ((labels < 0) | (labels >= classes))
        if wrong.any():
            raise index_out_of_range(int(labels[wrong][0]), classes)
        named = torch.cat((labels.new_full((batch, 1), blank), torch.where(inside, labels, blank)), 1)[:, None, :]
        columns = scores.gather(2, named.expand(batch, time, 1 + size)).to(torch.float64).clamp_min(NEVER)
        begins = torch.cat(
            (named.new_ones((batch, min(size, 1)), dtype=torch.bool), named[:, 0, 2:] != named[:, 0, 1:-1]), 1
        )
        targets = 1 + torch.where(begins, places, 0).cummax(1).values if size else named.new_zeros((batch, 0))
        lengths = frames.clamp(0, time).tolist(), counts.clamp(0, size).tolist()
        if not (batch and time):  # which PyTorch refuses
            losses = torch.where(counts == 0, 0.0, inf).to(columns)
            return cls(columns, named, targets, *lengths, losses, columns)
        losses, state = torch.ops.aten._ctc_loss(columns.movedim(1, 0), targets, *lengths, 0, False)
        return cls(columns, named, targets, *lengths, losses, state)

    def gradient(self) -> Array:
        """(batch, time, 1 + positions): PyTorch's gradient of the sum of the losses."""
        if not self.scores.numel():
            return self.scores
        ones = torch.ones_like(self.losses)
        arguments = ones, self.scores.movedim(1, 0), self.targets, self.frames, self.counts, self.losses, self.state
        gradient: Array = torch.ops.aten._ctc_loss_backward(*arguments, 0, True)
        return gradient.movedim(0, 1)
