"""ONNX's own tests on four backends, and the table of those that differ."""

from __future__ import annotations

import re
import zlib

import pytest

from tensorbackend_onnx.conformance import DIVERGENCES, KINDS, OUT_OF_SCOPE, Outcome, cases, divergence, run, totals

PARTS = 8
"""Other backends than NumPy run one part of so many here; `tensorbackend check NAME --onnx` runs all cases."""


def part(name: str) -> int:
    return zlib.crc32(name.encode()) % PARTS


def wrong(outcomes: list[Outcome]) -> list[str]:
    return [f"{outcome.name}: {outcome.detail}" for outcome in outcomes if outcome.status == "fail"]


@pytest.mark.parametrize("number", range(PARTS))
def test_each_of_onnx_own_cases_passes_on_numpy(number: int) -> None:
    outcomes = [run(case, "numpy") for kind in KINDS for case in cases(kind) if part(case.name) == number]
    assert len(outcomes) > 200
    assert not wrong(outcomes)
    counts = sum(totals(outcomes).values(), start=type(totals(outcomes)["node"])())
    assert counts.keys() <= {"pass", "divergence", *OUT_OF_SCOPE}
    assert counts["pass"] > 180


@pytest.mark.parametrize("backend", ["binary", "jax", "torch"])
def test_a_part_of_onnx_own_cases_passes_on_other_backends(backend: str) -> None:
    small = [kind for kind in KINDS if kind != "real"]
    outcomes = [
        run(case, backend)
        for kind in small
        for case in cases(kind)
        if part(case.name) == 0 and not case.name.endswith("_expanded")
    ]
    assert not wrong(outcomes)
    assert sum(outcome.status == "pass" for outcome in outcomes) > 130


def test_there_are_few_divergences_and_each_is_needed() -> None:
    assert len(DIVERGENCES) <= 30
    for row in DIVERGENCES:
        backend = row.backends[0] if row.backends else "binary"
        found = [run(case, backend) for case in cases("node", only=row.names)]
        assert found, row
        assert any(outcome.status == "divergence" for outcome in found), row


def test_a_divergence_concerns_the_names_that_match_as_a_whole() -> None:
    row = divergence("test_training_dropout_mask", "numpy")
    assert row is not None
    assert "generator" in row.reason
    assert divergence("test_training_dropout_zero_ratio", "numpy") is None


def test_each_kind_of_onnx_cases_is_there() -> None:
    assert {case.kind for kind in ("simple", "pytorch-operator") for case in cases(kind)} == {
        "simple",
        "pytorch-operator",
    }
    names = [case.name for case in cases("node")]
    assert len(names) > 1800
    assert sum(bool(re.fullmatch("test_resize.*", name)) for name in names) > 30
