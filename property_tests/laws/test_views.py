"""What is a view and what a copy, and what a write reaches, as with NumPy: results of functions, keys and chains."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, Final

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
import tensorbackend.numpy as ours
from tensorbackend.testing import profile

from ..numpy_programs.views import MAKERS, WRITES

_OVERLAPPING: Final = ("broadcast_arrays", "meshgrid", "sliding", "as_strided")
"""Makers of views that show an element more than once: what reads and writes it at once depends on NumPy's order."""

_IN_ORDER: Final = ("y[0] = 5", "y[...] = 5", "y[()] = 5", "y.fill(3)", "np.copyto(y, 9)", "y.flat = 9", "y[[0]] = 7",
                    "np.add.at(y, 0, 1)")  # fmt: skip
"""Writes whose result does not."""

_LET_THROUGH: Final = ("np.add.at", "np.negative.at", "y.setflags(write=True)")
"""Writes to read-only arrays that NumPy does not refuse: by mistake, or though it repeats its elements."""

_OTHER_MEMORY: Final = (
    "[0, 1]]",
    "stride_tricks",
    "np.roll",
    "np.tile",
    "np.concatenate",
    "stack(",
    "np.append",
    "np.block",
)
"""Makers of arrays that NumPy keeps in an order of its code's own, or whose base is a helper of NumPy's."""

CODE: Final = {text: compile(text, text, "eval") for text in MAKERS} | {
    text: compile(text, text, "exec") for text in WRITES
}


_ALONE: Final = ("as_strided", "[0, 1]]", "meshgrid", "writeable=True")
"""Makers that are judged alone. Of an array that may be smaller, NumPy's `as_strided` reads and writes whatever lies
behind it; results of index arrays keep an order of NumPy's own; windows over broadcast arrays cannot be written to."""

IN_CHAINS: Final = [text for text in MAKERS if not any(part in text for part in _ALONE)]


def fresh(np: Any) -> Any:
    """The array that programs begin with."""
    return np.array(numpy.arange(12.0).reshape(3, 4))


def made(np: Any, makers: tuple[str, ...], x: Any) -> Any:
    """What makers make of an array, one of the result of the other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for maker in makers:
            x = eval(CODE[maker], {"np": np, "x": x})
    return x


def written(np: Any, write: str, y: Any) -> Any:
    """The array to which a name is bound after a write to it."""
    scope = {"np": np, "y": y}
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        exec(CODE[write], scope)
    return scope["y"]


def plain(error: type[Exception]) -> type[Exception]:
    """The kind of an error among Python's own."""
    return next(each for each in error.__mro__ if each.__module__ == "builtins")


@cache
def computes(maker: str) -> bool:
    """Whether an array shares no memory with the one that it is made from."""
    x = fresh(numpy)
    try:
        return not numpy.shares_memory(x, made(numpy, (maker,), x))
    except Exception:
        return False


_MOST = 100_000
"""The most elements that are compared: a chain of repeats and windows shows any number."""


def outcome(np: Any, makers: tuple[str, ...], write: str, owned: bool) -> tuple[Any, ...]:
    """The kind of error, and the values of an array, if a variable owns it, and of what was made, after a write."""
    x: Any = fresh(np) if owned else None
    try:
        y = made(np, makers, fresh(np) if x is None else x)
    except Exception as raised:
        return "made", type(raised)
    if y.size > _MOST:
        return "made", None
    error = None
    try:
        y = written(np, write, y)
    except Exception as raised:
        error = type(raised)
    return error, None if x is None else x.tolist(), y.tolist(), numpy.shape(y)


def differs(makers: tuple[str, ...], write: str, owned: bool) -> Any:
    """What is not as with NumPy; None if all is."""
    overlaps = sum(part in maker for maker in makers for part in _OVERLAPPING)
    if overlaps > 1 or (overlaps and write not in _IN_ORDER):
        return None
    if write.startswith("y.shape") and any("[0, 1]]" in maker for maker in makers):
        return None  # NumPy may keep what arrays of indices choose in another order
    if (write.startswith("y.shape") or '"K"' in " ".join(makers)) and any(map(computes, makers[1:])):
        return None  # NumPy keeps the order of operands, reads in it, and refuses shapes
    error, *expected = outcome(numpy, makers, write, owned)
    if error == "made" or not expected[-1]:
        return None
    our_error, *values = outcome(ours, makers, write, owned)
    if our_error == "made":
        return makers, write, values, expected
    if (
        (write.startswith(_LET_THROUGH) or "x.imag" in makers[1:])
        and our_error is tb.errors.ArgumentError
        and error is None
    ):
        return None
    same = (our_error is None) == (error is None) and (error is None or issubclass(our_error, plain(error)))
    if same and error is not None and "put" in write:
        return None  # NumPy has written the elements before the place that does not exist
    return None if same and repr(values) == repr(expected) else (makers, write, our_error, values, error, expected)


def assert_none(wrong: list[Any]) -> None:
    if wrong:
        pytest.fail(f"{len(wrong)} differ:\n" + "\n".join(str(each)[:1000] for each in wrong[:5]), pytrace=False)


@pytest.mark.parametrize("owned", [True, False], ids=["variable", "temporary"])
@pytest.mark.parametrize("write", WRITES)
def test_a_write_reaches_the_array_that_numpy_writes_to(write: str, owned: bool) -> None:
    assert_none([found for maker in MAKERS if (found := differs((maker,), write, owned))])


@pytest.mark.parametrize("write", [*WRITES[:12], *_IN_ORDER])
def test_a_write_reaches_the_same_array_on_other_backends(write: str) -> None:
    with tb.default_backend("binary"):
        assert_none([found for maker in MAKERS if (found := differs((maker,), write, True))])


@given(st.lists(st.sampled_from(IN_CHAINS), min_size=2, max_size=3), st.sampled_from(WRITES), st.booleans())
@profile(600)
def test_writes_to_chains_of_views(makers: list[str], write: str, owned: bool) -> None:
    assert_none([found] if (found := differs(tuple(makers), write, owned)) else [])


def memory(np: Any, x: Any, y: Any) -> tuple[Any, ...]:
    """What programs ask about the memory of an array made from another."""
    flags = y.flags
    steps = [step for size, step in zip(y.shape, y.strides, strict=True) if size > 1] if y.size else []
    return (
        ("strides", steps), ("row-major", flags.c_contiguous, flags["F"], flags.fnc), ("owns", flags.owndata),
        ("writeable", flags.writeable), ("base", y.base is x), ("shares", np.shares_memory(x, y)),
        ("may share", np.may_share_memory(x[0], y)), ("fortran", np.isfortran(y)),
    )  # fmt: skip


def remembers(makers: tuple[str, ...]) -> Any:
    """What is not as with NumPy about the memory of what makers make; None if all is."""
    spaces = []
    for np in (ours, numpy):
        x = fresh(np)
        try:
            spaces.append(memory(np, x, made(np, makers, x)))
        except Exception as error:
            spaces.append((type(error),))
    if isinstance(spaces[0][0], type) or isinstance(spaces[1][0], type):
        return None  # refused, which the laws of writes judge
    unlike = [part for maker in makers for part in _OTHER_MEMORY if part in maker]
    skipped: tuple[str, ...] = ("owns", "base", "strides", "row-major", "fortran") if unlike else ()
    if len(makers) > 1:  # of a view of a copy the base may be a helper of NumPy's, and a number is read-only
        skipped += ("owns", "base", *(("writeable",) if ("strides", []) in spaces[0] else ()))
        # NumPy keeps the order of what it computes from, and so copies where a view of zeros is read-only here.
        if "x.imag" in makers[1:]:
            skipped += ("writeable",)
        if any(map(computes, makers[1:])) or ("owns", True) in spaces[0] or ("owns", True) in spaces[1]:
            skipped += ("strides", "row-major", "fortran")
    found = [pair for pair in zip(*spaces, strict=False) if pair[0] != pair[1] and pair[0][0] not in skipped]
    return (makers, found) if found else None


@pytest.mark.parametrize("backend", ["numpy", "binary"])
def test_memory_is_where_numpy_has_it(backend: str) -> None:
    with tb.default_backend(backend):
        assert_none([found for maker in MAKERS if (found := remembers((maker,)))])


@given(st.lists(st.sampled_from(IN_CHAINS), min_size=2, max_size=3))
@profile(300)
def test_memory_of_chains_is_where_numpy_has_it(makers: list[str]) -> None:
    assert_none([found] if (found := remembers(tuple(makers))) else [])


SMOOTH: Final = [
    text
    for text in WRITES
    if not any(
        part in text
        for part in (
            "y > ",
            "sort",
            "partition",
            "round",
            "shape",
            "itemset",
            "byteswap",
            "flags",
            "setflags",
            "argmax",
            "clip",
            "sqrt",
        )
    )
]
"""Writes through which derivatives go."""

TRACED: Final = [
    text
    for text in MAKERS
    if not any(
        part in text
        for part in (
            "view(np.",
            "x[x >",
            "trim_zeros",
            "chkfinite",
            "real_if_close",
            "np.where",
            "clip",
            "float32",
            "nditer",
        )
    )
]
"""Makers that need no data, and through which derivatives go."""


def hash_of(text: str) -> int:
    """A number of a text, the same in each run."""
    return sum(text.encode())


def program(np: Any, makers: tuple[str, ...], write: str, x: Any) -> tuple[Any, Any]:
    """An array that a program wrote to, and what the program wrote to it through."""
    x = x * 1.0
    y = written(np, write, made(np, makers, x))
    return x, y


def weighed(np: Any, makers: tuple[str, ...], write: str, x: Any) -> Any:
    """A number that depends on each element that a program leaves."""
    return sum(
        np.sum(part * (1.0 + np.arange(part.size).reshape(part.shape))) for part in program(np, makers, write, x)
    )


def traced(makers: tuple[str, ...], write: str) -> Any:
    """What a compiled program and its gradient have that NumPy, and differences, have not; None if nothing."""
    if sum(part in maker for maker in makers for part in _OVERLAPPING) and write not in _IN_ORDER:
        return None
    start = numpy.arange(12.0).reshape(3, 4) + 0.25
    try:
        expected = [part.tolist() for part in program(numpy, makers, write, start.copy())]
    except Exception as error:
        with pytest.raises(plain(type(error))):
            tb.jit(lambda x: program(ours, makers, write, x))(ours.array(start))
        return None
    values = [part.tolist() for part in tb.jit(lambda x: program(ours, makers, write, x))(ours.array(start))]
    slope = numpy.asarray(tb.grad(lambda x: weighed(ours, makers, write, x))(ours.array(start)))
    steps = 1e-4 * numpy.eye(12).reshape(12, 3, 4)
    slopes = [
        (weighed(numpy, makers, write, start + d) - weighed(numpy, makers, write, start - d)) / 2e-4 for d in steps
    ]
    near = numpy.allclose(slope.reshape(-1), slopes, rtol=1e-5, atol=1e-4)
    return None if numpy.allclose(values[0], expected[0]) and numpy.allclose(values[1], expected[1]) and near else (
        makers, write, values, expected, slope.tolist(), slopes)  # fmt: skip


@pytest.mark.parametrize("maker", TRACED)
def test_compiled_writes_and_their_gradients(maker: str) -> None:
    assert_none([found for write in SMOOTH[hash_of(maker) % 6 :: 6] if (found := traced((maker,), write))])
