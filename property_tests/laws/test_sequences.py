"""Functions of sequences that compute step by step, on every backend against BinaryBackend.

They have no call generators as ops have: those tests also enlarge the calls, and so many steps would take minutes.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, DType
from tensorbackend.testing import Invocation, check, profile
from tensorbackend.testing.calls import Generator
from tensorbackend.testing.generators import integers
from tensorbackend.testing.strategies import Draw, shapes, tensors

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy,jax").split(",")
FEWER = {"jax": 2}


def lengths(draw: Draw, shape: tuple[int, ...], size: int) -> tb.Tensor | None:
    """Return a length of at most `size` for each example, or sometimes `None`."""
    return integers(draw, shape, 0, size) if draw(st.booleans()) else None


def edit_distance(draw: Draw, dtype: DType) -> Invocation:
    """Labels from a small set, so that some are equal; with lengths and without."""
    kind = dtype if dtype.is_integer else tb.int32
    batch = draw(shapes(most=1, largest=2))
    names, few = (None,) * (len(batch) + 1), st.integers(0, 2)
    hypotheses, references = (
        draw(tensors(kind, (*batch, draw(st.integers(0, 3))), names=names, values=few)) for _ in range(2)
    )
    options = {
        "hypothesis_lengths": lengths(draw, batch, hypotheses.shape[-1]),
        "reference_lengths": lengths(draw, batch, references.shape[-1]),
    }
    return Invocation("edit_distance", (hypotheses, references), options)


def spelt(draw: Draw, dtype: DType) -> tuple[tb.Tensor, tb.Tensor, dict[str, Any]]:
    """Return logits of three classes, labels that are not the blank, and options with lengths."""
    kind = dtype if dtype.is_floating else tb.float32
    batch = draw(shapes(most=1, largest=2))
    time, positions = draw(st.integers(0, 4)), draw(st.integers(0, 2))
    logits = draw(tensors(kind, (*batch, time, 3), names=(None,) * (len(batch) + 2), tame=True))
    labels = integers(draw, (*batch, positions), 1, 2)
    options = {"logit_lengths": lengths(draw, batch, time), "label_lengths": lengths(draw, batch, positions)}
    return logits, labels, options


def ctc_loss(draw: Draw, dtype: DType) -> Invocation:
    """The loss over all alignments and over the best one."""
    logits, labels, options = spelt(draw, dtype)
    return Invocation("ctc_loss", (logits, labels), {**options, "alignments": draw(st.sampled_from(["all", "best"]))})


def ctc_best_path(draw: Draw, dtype: DType) -> Invocation:
    """Logits with lengths and without, and any blank class."""
    logits, _, options = spelt(draw, dtype)
    path_options = {"lengths": options["logit_lengths"], "blank": draw(st.sampled_from([0, 1, -1, 3]))}
    return Invocation("ctc_best_path", (logits,), path_options)


def ctc_alignment(draw: Draw, dtype: DType) -> Invocation:
    """Alignments, also of label sequences that are too long for the frames."""
    logits, labels, options = spelt(draw, dtype)
    return Invocation("ctc_alignment", (logits, labels), options)


@pytest.mark.parametrize("generator", [edit_distance, ctc_loss, ctc_best_path, ctc_alignment])
@pytest.mark.parametrize("backend", BACKENDS)
def test_agrees_with_the_reference(backend: str, generator: Generator) -> None:
    @profile(FEWER.get(backend, 15))
    @given(st.sampled_from(ALL_DTYPES).flatmap(st.composite(generator)))
    def agrees(call: Invocation) -> None:
        check(call, backend)

    agrees()
