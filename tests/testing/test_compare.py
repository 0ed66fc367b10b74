"""The comparison of results, and the report of differences."""

from __future__ import annotations

import math

import pytest

import tensorbackend as tb
from tensorbackend.rules.accuracy import SUM
from tensorbackend.testing import Disagreement, Invocation, assert_equal, check, farthest
from tensorbackend.testing.conformance import allowances


def told(actual: tb.Tensor, reference: tb.Tensor, **options: object) -> str:
    with pytest.raises(Disagreement) as caught:
        assert_equal(actual, reference, **options)  # type: ignore[arg-type]
    return str(caught.value)


def test_the_first_and_the_farthest_element() -> None:
    reference = tb.tensor([[1.0, 2.0], [4.0, 8.0]], names=("a", "b"))
    actual = tb.tensor([[1.0, 2.0000002], [4.5, 8.0]], names=("a", "b"))
    assert told(actual, reference) == (
        "expected 2.0 at (0, 1) of f32[a: 2][b: 2], got 2.000000238418579, 1 ulps away where 0 are allowed; "
        "2 of 4 elements differ by more, the farthest by 1048576 ulps at (1, 0): 4.5, not 4.0"
    )
    assert "at (1, 0) of" in told(actual, reference, ulps=4)
    assert "or an error of 0.1; 1 of 4 elements differs by more" in told(actual, reference, absolute=0.1)
    assert assert_equal(actual, reference, ulps=2**20) == 2**20
    assert assert_equal(actual, reference, absolute=0.5) == 0


def test_what_cannot_be_counted() -> None:
    reference = tb.tensor([1.0, math.nan, math.inf])
    assert assert_equal(tb.tensor([1.0, -math.nan, math.inf]), reference) == 0
    assert "got nan, inf ulps away where 64 are allowed" in told(
        tb.tensor([math.nan, math.nan, math.inf]), reference, ulps=64
    )
    assert "got -0.0, 1 ulps away" in told(tb.tensor([-0.0]), tb.tensor([0.0]))
    assert "expected 1 at () of s64, got 2, which must be equal" in told(tb.tensor(2), tb.tensor(1))
    mismatch = farthest(tb.tensor([True, False]), tb.tensor([True, True]))
    assert mismatch is not None
    assert (mismatch.at, mismatch.actual, mismatch.wanted) == ((1,), False, True)


def test_templates_are_compared_first() -> None:
    x = tb.tensor([1.0, 2.0], names=("n",))
    for other in (tb.tensor([1.0, 2.0]), tb.tensor([1.0, 2.0], dtype="f64", names=("n",)), tb.tensor([[1.0, 2.0]])):
        assert told(x, other) == f"expected {other.template}, got f32[n: 2]"


def test_the_call_is_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    call = Invocation("exp", (tb.tensor([0.0, 1.0], backend="binary"),), {})
    text = told(tb.tensor([1.0, 2.5]), tb.tensor([1.0, 2.75]), call=call)
    assert text.startswith("exp of float32 on numpy: expected 2.75 at (1,) of f32[2], got 2.5")
    _, _, program = text.partition("to see it again:\n")
    exec(program, {})
    assert capsys.readouterr().out == f"{tb.exp(tb.tensor([0.0, 1.0]))!r}\n"


def test_one_infinite_part_leaves_the_other_its_absolute_error() -> None:
    reference = tb.asarray([complex(math.inf, 1e-4), complex(1e-4, math.nan)], dtype="c64")
    near = tb.asarray([complex(math.inf, 1.0001e-4), complex(1.0001e-4, math.nan)], dtype="c64")
    assert assert_equal(near, reference, absolute=1e-6) == 0
    for wrong in (complex(math.inf, 2e-4), complex(-math.inf, 1e-4), complex(math.nan, 1e-4)):
        with pytest.raises(Disagreement):
            assert_equal(tb.asarray([wrong], dtype="c64"), reference[:1], absolute=1e-6)


def test_sums_of_integers_that_cancel_are_judged_by_their_magnitudes() -> None:
    numbers = tb.tensor([2**63 - 1, -513, -(2**63)], dtype="s64", backend="binary")
    indices = tb.zeros((3, 0), dtype="s8", backend="binary")
    call = Invocation("indexed_mean", (tb.tensor(0, backend="binary"), indices, numbers), {"mode": "error"})
    assert check(call, "numpy") == 0.0
    (allowed,) = allowances(call, SUM, [tb.zeros((), backend="binary")])
    assert allowed == [64 * tb.finfo("f32").eps * 2**62]  # 64 ulps of the mean magnitude


def test_a_size_after_an_underflow() -> None:
    """In Python 3.11 `abs` of a complex NaN raises `OverflowError` after a function of C has underflowed."""
    result = tb.tensor([complex(math.nan, 0), 3 + 4j], backend="binary")
    call = Invocation("square", (result,), {})
    for bound in (SUM._replace(scale="result"), SUM._replace(scale="magnitudes")):
        math.exp(-1e9)
        (allowed,) = allowances(call, bound, [result])
        assert allowed


def test_a_size_beyond_the_largest_float() -> None:
    result = tb.tensor([complex(1.5e308, 1.5e308), 3 + 4j], dtype="c128", backend="binary")
    (allowed,) = allowances(Invocation("square", (result,), {}), SUM._replace(scale="result"), [result])
    assert allowed == SUM.ulps * tb.finfo("c128").eps * 5
