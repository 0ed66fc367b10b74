"""Arguments that share memory, where a traced function writes to one of them."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.errors import ArgumentError
from tensorbackend.expr.aliases import share_memory

SHARED = "to share no memory with another argument"


def put(a: Any, b: Any) -> Any:
    a[0] = 10
    return a + b


def test_the_error_names_both_arguments_and_a_remedy_that_works() -> None:
    b = np.array([1.0, 2.0])
    text = r"jit: expected a, to which the function writes, .* got shared_with=b; pass a copy, np.array\(x\), of one"
    with pytest.raises(ArgumentError, match=text):
        tb.jit(put)(b, b)
    assert tb.jit(put)(b, np.array(b)).tolist() == [11.0, 4.0]
    x = tb.tensor([1.0, 2.0])
    with pytest.raises(
        ArgumentError, match=r"expected pair\[1\], .* shared_with=pair\[0\]; pass a copy, tb.tensor\(x\)"
    ):
        tb.jit(lambda pair: put(pair[1], pair[0]))([x, x])
    assert tb.jit(put)(x, tb.tensor(x)).tolist() == [11.0, 4.0]


def test_calls_of_one_compilation_are_refused_by_their_own_arguments() -> None:
    """Also when warm, when found for another size, and with an option and keywords."""
    compiled = tb.jit(put)
    for _ in range(4):
        x, y = tb.ones(2), tb.ones(2)
        assert compiled(x, y).tolist() == [11.0, 2.0]
        with pytest.raises(ArgumentError, match=SHARED):
            compiled(x, x)
        with pytest.raises(ArgumentError, match=SHARED):
            compiled(x, b=x)
    assert compiled.cache_info().misses == 2  # for b by position and by name
    for size in range(2, 9):
        z = np.zeros(size)
        assert compiled(z, np.zeros(size))[0] == 10
        with pytest.raises(ArgumentError, match=SHARED):
            compiled(z, z)
    optional = tb.jit(lambda mode, a, b: put(a, b))
    for _ in range(4):
        assert optional("mean", x, y).tolist() == [11.0, 2.0]
        with pytest.raises(ArgumentError, match=SHARED):
            optional("mean", y, y)
    donating = tb.jit(put, donate="b")
    with pytest.raises(ArgumentError, match=SHARED):
        donating(x, x)
    assert not x.deallocated


def test_views_without_a_common_element_may_be_written_to() -> None:
    compiled, x = tb.jit(put), np.arange(6.0)
    for _ in range(4):
        assert compiled(x[:3], x[3:]).tolist() == [13.0, 5.0, 7.0]
        assert compiled(x[::2], x[1::2]).tolist() == [11.0, 5.0, 9.0]
        with pytest.raises(ArgumentError, match=SHARED):
            compiled(x[:3], x[2:5])


def test_an_array_of_numpys_own_is_seen_twice_too() -> None:
    x = numpy.arange(3.0)
    for other in (x, x[::-1]):
        with pytest.raises(ArgumentError, match=SHARED):
            tb.jit(put)(x, other)
    assert tb.jit(put)(x[:1], x[1:2]).tolist() == [11.0]


def test_what_is_only_read_may_be_the_same() -> None:
    x, b = tb.ones(2), np.ones(2)
    compiled = tb.jit(lambda a, b: a + b)
    for _ in range(3):
        assert compiled(x, x).tolist() == compiled(b, b[:]).tolist() == [2.0, 2.0]
    writes = tb.jit(lambda a, b, c: put(a, b) + c)
    for _ in range(4):
        assert writes(x, b.tensor, b.tensor).tolist() == writes(tb.ones(2), x, x).tolist() == [12.0, 3.0]


def test_a_write_inside_another_transform_counts() -> None:
    b, other = np.ones(2), np.ones(2)
    nested = tb.jit(lambda a, b: tb.jit(lambda a, b: tb.cond(True, put, lambda a, b: a, a, b))(a[:], b))
    assert nested(b, other).tolist() == [11.0, 2.0]
    with pytest.raises(ArgumentError, match=SHARED):
        nested(b, b)


def test_a_gradient_gives_other_arguments_their_elements_back() -> None:
    def loss(a: Any, b: Any) -> Any:
        b[0] = 5
        return (a * b).sum()

    for b in (np.array([1.0, 2.0]), tb.tensor([1.0, 2.0])):
        with pytest.raises(ArgumentError, match="grad: expected b, to which the function writes"):
            tb.grad(loss)(b, b)
        assert b.tolist() == [1.0, 2.0]


def test_a_body_may_not_write_to_an_array_that_it_returned_twice() -> None:
    def body(i: Any, pair: Any) -> Any:
        a, b = pair
        a += 1
        return (a, a) if twice else (a, b)

    twice = False
    assert [x.tolist() for x in tb.fori_loop(0, 3, body, (np.zeros(1), np.zeros(1)))] == [[3.0], [0.0]]
    twice = True
    with pytest.raises(ArgumentError, match=r"fori_loop: expected carry\[0\], .* shared_with=carry\[1\]"):
        tb.fori_loop(0, 3, body, (np.zeros(1), np.zeros(1)))


@pytest.mark.parametrize(("arguments", "shared"), [((1, 1, "a", "a", None), False), (([1], {"x": 2}), False)])
def test_options_share_no_memory(arguments: Any, shared: bool) -> None:
    assert share_memory(arguments, {"flag": True, "other": True}) is shared


def test_tensors_and_views_share_memory() -> None:
    x, b, h = tb.ones(2), np.ones(2), numpy.ones(2)
    assert share_memory((x, {"w": x}), {})
    assert share_memory(([b],), {"c": b[1:]})
    assert share_memory((h,), {"c": [h[1:]]})
    assert not share_memory((x, b, h, tb.tensor(x), np.array(b), h + 1), {})
