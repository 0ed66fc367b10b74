"""Symbolic sizes against plain ints: expressions, guards, and what refuses to be a number."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.rules.broadcasting import elementwise
from tensorbackend.sizes import NeedsSizes, Size, SizeTrace, apply, index, is_symbolic, maximum, source_of
from tensorbackend.template import intern_template, is_symbolic_template
from tensorbackend.testing import profile


def test_a_function_of_shapes_is_what_a_rule_decided_for_the_example() -> None:
    trace = SizeTrace()
    left = intern_template(trace.shape((5, 3)), tb.float32, (None, None))
    right = intern_template(trace.shape((3,)), tb.float32, (None,))
    shapes = trace.function(elementwise(left, right).out.shape)  # type: ignore[union-attr] # one template
    assert shapes((7, 4), (4,)) == (7, 4)
    assert shapes((7, 4), (5,)) is None  # the rule says what is wrong
    assert shapes((7, 4), (1,)) is None  # another answer: another plan


def program(a: Any, b: Any) -> Any:
    """Some arithmetic with branches."""
    total = 2 * a + b - 1
    if total > 7:
        total = total // 2
    if a == b:
        return total, a * b
    if (a + 1) % 3 == 0 or b >= a:
        return -a + total, math.prod((a, b, 2)), maximum(2 * a - b, 3), (6 * a + 4) // 2, (6 * a + 4) % 2
    return abs(b - a), a - b + b - a, -2 % (a + 3), a % (b + 2), (b - 5) % (a + 7), maximum(a, 0) // 1


@settings(profile(300))
@given(st.tuples(st.integers(0, 6), st.integers(0, 6)), st.tuples(st.integers(0, 9), st.integers(0, 9)))
def test_sizes_compute_what_ints_compute(example: tuple[int, int], other: tuple[int, int]) -> None:
    trace = SizeTrace()
    a, b = trace.shape(example)
    shapes = trace.function(program(a, b))
    assert shapes(example) == program(*example)
    assert shapes(other) in (None, program(*other))


def test_sums_and_bounds_leave_few_guards() -> None:
    trace = SizeTrace()
    (n,) = trace.shape((5,))
    assert (n - 1 + 1).source == n.source == (2 * n - n).source
    assert not n < 0
    assert n >= 0
    assert n != -1
    assert n - n == 0
    assert not trace.guards
    assert n > 2
    assert n - 1 >= 1
    assert n != 0
    assert n <= 8
    assert trace.source(n).count("if ") == 1
    assert "3 <= a0_0 <= 8" in trace.source(n)


COMPARISONS: dict[str, Callable[[Any, Any, Any], object]] = {
    "all equal": lambda a, b, c: (a[0] == b[0], a[1] == b[1]),
    "none unequal": lambda a, b, c: (b[0] != a[0], a[1] != b[1]),
    "one pair": lambda a, b, c: (a[0] == b[0], a[1] == c[0]),
    "two shapes like the first": lambda a, b, c: (a[0] == b[0], b[1] == a[1], c[0] == a[0], a[1] == c[1]),
    "two shapes like the last": lambda a, b, c: (a[0] == c[0], a[1] == c[1], b[0] == c[0], b[1] == c[1]),
    "crosswise": lambda a, b, c: (a[0] == b[1], a[1] == b[0]),
    "with bounds": lambda a, b, c: (a[0] == b[0], a[1] == b[1], c[0] < 2, a[0] * a[1] < 3, c[1] != 0),
    "none": lambda a, b, c: (),
}


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("example", list(itertools.product(itertools.product(range(2), repeat=2), repeat=3)))
def test_a_function_of_shapes_serves_all_with_the_same_answers(name: str, example: tuple[tuple[int, int], ...]) -> None:
    trace, compare = SizeTrace(), COMPARISONS[name]
    symbolic = [trace.shape(shape) for shape in example]
    answers = compare(*symbolic)
    first, second, third = symbolic
    shapes = trace.function((first, (third[0], second, 1)))
    for a, b, c in itertools.product(itertools.product(range(3), repeat=2), repeat=3):
        assert shapes(a, b, c) == ((a, (c[0], b, 1)) if compare(a, b, c) == answers else None)


def test_a_number_that_may_be_negative_keeps_its_bound() -> None:
    trace = SizeTrace()
    (n,) = trace.shape((2,), natural=False)
    assert n >= 0
    shapes = trace.function((n, n))
    assert [shapes((number,)) for number in (-1, 0, 1)] == [None, (0, 0), (1, 1)]


USES: dict[str, Callable[[Any], object]] = {
    "range": range,
    "float": float,
    "repr": repr,
    "format": "{:d}".format,
    "hash": hash,
    "an array": np.asarray,
    "an array next to it": lambda n: np.arange(3) + n,
    "a list": lambda n: [0] * n,
    "a place": lambda n: [1, 2][n],
    "a power": lambda n: n**2,
    "a copy": copy.deepcopy,
    "a float's place": lambda n: n + math.inf,
}


@pytest.mark.parametrize("use", USES)
def test_what_needs_the_number_is_refused(use: str) -> None:
    (n,) = SizeTrace().shape((2,))
    with pytest.raises(NeedsSizes):
        USES[use](n)


def test_a_trace_that_is_over_answers_nothing() -> None:
    trace = SizeTrace()
    (n,) = trace.shape((2,))
    trace.open = False
    for use in (lambda: n == 2, lambda: n + 1, lambda: bool(n), lambda: int(n)):
        with pytest.raises(NeedsSizes):
            use()
    assert trace.failed


def test_a_number_that_a_users_function_needs_becomes_a_guard() -> None:
    trace = SizeTrace(numbers=True)
    n, m = trace.shape((2, 3))
    assert [list(range(n)), f"{m}", float(n)] == [[0, 1], "3", 2.0]
    shapes = trace.function((n, m))
    assert shapes((2, 3)) == (2, 3)
    assert shapes((2, 4)) is None


def test_fixed_sizes_stay_numbers() -> None:
    trace = SizeTrace()
    n, four = trace.shape((2, 4), fixed=[False, True])
    assert (n.__class__, four) == (Size, 4)
    assert trace.function((n,))((9, 4)) == (9,)
    assert trace.function((n,))((9, 5)) is None


def test_a_function_is_applied_when_the_size_is_known() -> None:
    trace = SizeTrace()
    (n,) = trace.shape((4,))
    root = apply(math.sqrt, n)
    assert root > 1.5
    half = trace.function((root / 2,))
    assert half((16,)) == (2.0,)
    assert half((1,)) is None
    assert apply(math.sqrt, 9) == 3.0


def test_sizes_of_another_trace_are_refused() -> None:
    (n,), (m,) = SizeTrace().shape((2,)), SizeTrace().shape((2,))
    with pytest.raises(NeedsSizes):
        n + m


def test_what_is_symbolic() -> None:
    (n,) = SizeTrace().shape((2,))
    assert is_symbolic((1, [n]))
    assert not is_symbolic((1, [2], "n"))
    assert (index(n), index(np.int64(3))) == (n, 3)
    assert source_of((n, (1,))) == "(a0_0, (1, ), )"


def test_symbolic_templates_are_one_object_in_their_trace_and_never_kept() -> None:
    trace = SizeTrace()
    n, m = trace.shape((2, 3))
    x = intern_template((n, m), tb.float32, (None, None))
    assert x is intern_template((n + 0, m), tb.float32, (None, None))
    assert is_symbolic_template(x)
    assert not is_symbolic_template(tb.ones((2, 3)).template)
    assert x.kind is tb.ones((2, 3)).template.kind
    assert all(is_symbolic(shape) is False for shape in x.kind.by_shape)


def test_a_size_of_0_by_which_others_were_divided_is_another_answer() -> None:
    trace = SizeTrace()
    rows, columns = trace.shape((6, 3))
    assert rows % columns == 0
    sizes = trace.function((rows // columns,))
    assert sizes((8, 4)) == (2,)
    assert sizes((8, 3)) is None
    assert sizes((8, 0)) is None
    x = tb.ones((2, 2))
    for shape in ((1, -1), (2, -1), (4, -1), (1, -1)):
        assert tb.reshape(x, shape).size == 4
    with pytest.raises(tb.errors.ShapeError, match="sizes that divide the 4 elements"):
        tb.reshape(x, (0, -1))
