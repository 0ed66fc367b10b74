"""The limits of a machine, and the least time that work takes on it."""

from __future__ import annotations

import pytest

import tensorbackend as tb
from tensorbackend.costs.flops import Work


def test_the_longer_of_the_two_times_counts() -> None:
    limits = tb.Limits(flops=100.0, bandwidth=10.0)
    assert limits.seconds(Work(flops=1000, read=20, written=30)) == 10
    assert limits.seconds(Work(flops=100, read=20, written=30)) == 5


@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_a_machine_is_measured_once(backend: str) -> None:
    limits = tb.machine_limits(backend)
    assert limits is tb.machine_limits(backend)
    assert 1e5 < limits.flops < 1e16
    assert 1e5 < limits.bandwidth < 1e14


def test_a_report_measures_what_is_not_given() -> None:
    x = tb.ones((16, 16), backend="binary")
    with tb.profile() as p:
        x @ x
    row = next(row for row in p.rows() if row.name == "matmul")
    work = Work(flops=2 * 16**3, read=2 * 1024, written=1024)
    assert row.least == tb.machine_limits("binary").seconds(work)
    with tb.profile(limits={"numpy": tb.Limits(1.0, 1.0)}) as p:
        x @ x
    assert [row.share for row in p.rows()] == [None] * len(p.rows())
