"""Loss functions for classes and sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import returnn.frontend as rf
import tensorbackend as tb
from returnn.tensor import Dim, Tensor

from .base import arranged, result, sizes, spread
from .networks import Networks

_Tensors = tuple[tb.Tensor, tb.Tensor]


def lengths(dim: Dim, batch: Sequence[Dim]) -> tb.Tensor:
    """The length of a dim for each example."""
    return spread(dim.get_size_tensor(), batch)


def _frames(logits: Tensor, targets: Tensor, time: Dim, positions: Dim) -> tuple[list[Dim], _Tensors, dict[str, Any]]:
    """The leading batch dims of logits and targets, both with these dims, and their lengths as options of a loss."""
    classes = logits.feature_dim
    if not targets.sparse_dim or targets.sparse_dim.dimension > classes.dimension:
        raise ValueError(f"expected targets whose sparse dim is among the classes {classes}, got {targets}")
    batch = logits.remaining_dims((time, classes))
    batch += [dim for dim in targets.remaining_dims(positions) if dim not in batch]
    tensors = spread(rf.amp_cast_float32(logits), [*batch, time, classes]), spread(targets, [*batch, positions])
    return batch, tensors, {"logit_lengths": lengths(time, batch), "label_lengths": lengths(positions, batch)}


class Losses(Networks):
    """Losses, alignments and distances."""

    @classmethod
    def softmax_cross_entropy_with_logits(cls, *, logits: Tensor, targets: Tensor, axis: Dim) -> Tensor:
        """The cross entropy along a dim of classes; targets are indices of classes, or probabilities."""
        logits = rf.amp_cast_float32(logits)
        dims = [dim for dim in logits.dims if dim != axis]
        raw = arranged(logits, [*dims, axis])
        if targets.sparse_dim == axis:
            places = spread(targets, dims)
            # Targets in the padding may have any value.
            places = tb.clip(tb.astype(places, "int64"), 0, raw.shape[-1] - 1)
            losses = tb.nn.sparse_cross_entropy(raw, places)
        else:
            if targets.sparse_dim:
                raise ValueError(f"expected targets that are indices of {axis} or probabilities, got {targets}")
            losses = tb.nn.cross_entropy(raw, arranged(targets, [*dims, axis]))
        return result("cross_entropy", dims, losses)

    @classmethod
    def ctc_loss(
        cls,
        *,
        logits: Tensor,
        logits_normalized: bool = False,
        targets: Tensor,
        input_spatial_dim: Dim,
        targets_spatial_dim: Dim,
        blank_index: int,
        max_approx: bool = False,
        use_native_op: bool | None = None,
        label_loop: bool = True,
    ) -> Tensor:
        """The negative log probability of the targets, or with `max_approx` of the best path that spells them.

        Targets that do not fit into the frames have a loss and a gradient of 0, as in RETURNN on PyTorch. The loss is
        infinite instead with `use_native_op`, whose default is true for `max_approx` and `label_loop=False`.
        """
        batch, tensors, ends = _frames(logits, targets, input_spatial_dim, targets_spatial_dim)
        raw = tb.nn.ctc_loss(
            *tensors,
            **ends,
            blank=blank_index,
            normalised=logits_normalized,
            repeats=label_loop,
            alignments="best" if max_approx else "all",
        )
        native = use_native_op if use_native_op is not None else max_approx or not label_loop
        if not native:
            raw = tb.where(tb.isfinite(raw), raw, 0)
        return result("ctc_loss", batch, raw)

    @classmethod
    def ctc_best_path(
        cls,
        *,
        logits: Tensor,
        logits_normalized: bool = False,
        targets: Tensor,
        input_spatial_dim: Dim,
        targets_spatial_dim: Dim,
        blank_index: int,
        label_loop: bool = True,
    ) -> Tensor:
        """The class of each frame on the most probable path that spells the targets, blank beyond the length."""
        batch, tensors, ends = _frames(logits, targets, input_spatial_dim, targets_spatial_dim)
        raw = tb.nn.ctc_alignment(*tensors, **ends, blank=blank_index, repeats=label_loop)
        raw = tb.astype(tb.moveaxis(raw, -1, 0), "int32")
        return result("ctc_best_path", [input_spatial_dim, *batch], raw, sparse_dim=logits.feature_dim)

    @classmethod
    def ctc_loss_packed_raw(
        cls,
        *,
        logits: tb.Tensor,
        seq_starts: tb.Tensor,
        logits_seq_lens: tb.Tensor,
        max_seq_len: int,
        targets: tb.Tensor,
        targets_seq_lens: tb.Tensor,
        label_loop: bool,
        logits_normalize: bool,
        blank_index: int,
        edges_bound: int | None,
    ) -> tb.Tensor:
        """Compute the CTC loss of sequences that are packed one after another along the first axis of the logits."""
        steps = tb.arange(max_seq_len, dtype=tb.int64, backend=cls._home())
        places = tb.astype(tb.expand_dims(seq_starts, axis=1), "int64") + steps
        return tb.nn.ctc_loss(
            tb.take(logits, places, axis=0, mode="clip"),
            targets,
            logit_lengths=logits_seq_lens,
            label_lengths=targets_seq_lens,
            blank=blank_index,
            normalised=not logits_normalize,
            repeats=label_loop,
        )

    @classmethod
    def have_edit_distance(cls) -> bool:
        """True: the adapter implements `edit_distance`."""
        return True

    @classmethod
    def edit_distance(cls, a: Tensor, a_spatial_dim: Dim, b: Tensor, b_spatial_dim: Dim) -> Tensor:
        """The minimum number of edits from one sequence to the other, for each example."""
        batch = a.remaining_dims(a_spatial_dim)
        batch += [dim for dim in b.remaining_dims(b_spatial_dim) if dim not in batch]
        distances = tb.nn.edit_distance(
            arranged(a, [*batch, a_spatial_dim]),
            arranged(b, [*batch, b_spatial_dim]),
            hypothesis_lengths=lengths(a_spatial_dim, batch),
            reference_lengths=lengths(b_spatial_dim, batch),
        )
        raw = tb.astype(tb.broadcast_to(distances, sizes(batch)), "int32")
        return result("edit_distance", batch, raw)
