"""A file in place of an engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.errors import ArgumentError, OperandError

from .wrong_kernels import LINES, line_of, operands, program, wrong_class


@pytest.mark.parametrize("base", ["numpy", "binary"])
def test_a_recording_stands_for_an_engine(tmp_path: Path, base: str) -> None:
    place = tmp_path / "run.safetensors"
    tb.record_run(place, program, *operands(), backend=base)
    assert tb.compare(program, *operands(), backends=(place, "jax")).agrees
    assert tb.compare(program, *operands(), backends=("jax", str(place))).agrees
    assert tb.compare(program, *operands(), backends=(place, "jax"), jit=True).agrees
    for jit in (False, True):
        found = tb.compare(program, *operands(), backends=(place, wrong_class("jax", "sum")), jit=jit)
        assert found.difference is not None
        assert (found.difference.op, line_of(found)) == ("sum", LINES["sum"])


def test_a_recording_of_a_loop_follows_it(tmp_path: Path) -> None:
    def halved(x: Tensor) -> Any:
        return tb.while_loop(lambda x: tb.sum(x) > 1.0, lambda x: x / 2.0, x)

    place = tmp_path / "run.safetensors"
    tb.record_run(place, halved, tb.asarray([3.0, 4.0]))
    assert tb.compare(halved, tb.asarray([3.0, 4.0]), backends=(place, "jax")).agrees


def test_complex_and_narrow_results_are_recorded(tmp_path: Path) -> None:
    def mixed(x: Tensor) -> tuple[Tensor, Tensor]:
        return tb.exp(x), tb.astype(tb.real(x), "bf16") * 2

    x = tb.asarray([1 + 2j, -0.5j], dtype="complex128")
    place = tmp_path / "run.safetensors"
    tb.record_run(place, mixed, x, backend="binary")
    assert tb.compare(mixed, x, backends=(place, "numpy")).agrees


def test_another_program_is_not_the_recorded_one(tmp_path: Path) -> None:
    place = tmp_path / "run.safetensors"
    tb.record_run(place, tb.exp, tb.ones(3))
    with pytest.raises(ArgumentError, match=r"recorded='exp float32\[3\]', traced='sin float32\[3\]'"):
        tb.compare(tb.sin, tb.ones(3), backends=(place, "numpy"))
    with pytest.raises(ArgumentError, match="a recording and a backend"):
        tb.compare(tb.exp, tb.ones(3), backends=(place, place))
    tb.save(tmp_path / "other.safetensors", {"x": tb.ones(2)})
    with pytest.raises(OperandError, match="a file of record_run"):
        tb.compare(tb.exp, tb.ones(3), backends=(tmp_path / "other.safetensors", "numpy"))
