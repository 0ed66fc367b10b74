"""Keywords that are names of axes or of no parameter, in calls of each public function; right calls are left alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from inspect import signature
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.declarations.signature_errors import adapt
from tensorbackend.errors import SignatureError, TensorBackendError


@pytest.mark.parametrize(
    ("guess", "remedy"),
    [
        ("tb.merge_axes(x, both=('a', 'b'))", "write ('a', 'b') by position and name='both'"),
        ("tb.sum(x, a=0)", "write axis='a'"),
        ("tb.roll(x, a=1)", "write axis='a'"),
        ("tb.split_axis(x, a=(1, 2))", "write 'a', (1, 2) by position"),
        ("tb.split_axis(x, a={'d': 2, 'c': 1})", "write 'a', {'d': 2, 'c': 1} by position"),
        ("tb.split_axis(x, 'a', d=2, c=1)", "write {'d': 2, 'c': 1} by position"),
        ("tb.window_mean(x, a=2)", "write window={'a': 2}"),
        ("tb.window_mean(x, 2, axis='a')", "write window={'a': 2}"),
        ("tb.nn.max_pool(x, 2, axis='a')", "write {'a': 2} by position"),
        ("tb.roll(x.rename(a='x'), x=1)", "write axis='x'"),
        ("tb.mean(x.rename(a='x'), x=1)", "write axis='x'"),
        ("tb.pad(x.rename(a='x'), x=(1, 1))", "write {'x': (1, 1)} by position"),
        ("tb.pad(x, a=(1, 1))", "write {'a': (1, 1)} by position"),
    ],
)
def test_a_keyword_that_is_the_name_of_an_axis(guess: str, remedy: str) -> None:
    with pytest.raises(SignatureError, match=re.escape(f"; {remedy}") + "$"):
        eval(guess, {"tb": tb, "x": tb.ones((2, 3), names=("a", "b"))})


def test_a_method_takes_the_keywords_of_its_op() -> None:
    x: Any = tb.asarray([[1.0, 2.0], [3.0, 4.0]], names=("batch", "feature"))
    assert x.reshape(shape=(4, 1)).shape == (4, 1)
    assert x.transpose(axes=(1, 0)).names == ("feature", "batch")
    assert x.sum(0, "float64").dtype == tb.float64


x1 = tb.asarray([1.0, 2.0])
SAME: list[tuple[Callable[..., tb.Tensor], tuple[Any, ...], dict[str, Any]]] = [
    (tb.stack, ([x1, x1],), {}),
    (tb.expand_dims, (x1, 0), {}),
    (tb.arange, (3,), {}),
    (tb.linspace, (0.0, 1.0, 3), {}),
    (tb.logspace, (0.0, 1.0, 3), {}),
    (tb.geomspace, (1.0, 2.0, 3), {}),
    (tb.merge_axes, (tb.ones((2, 3), names=("a", "b")), ("a", "b")), {}),
    (tb.nn.one_hot, (tb.asarray([1]), 3), {}),
]


@pytest.mark.parametrize(("function", "arguments", "options"), SAME)
def test_names_works_where_name_does(
    function: Callable[..., tb.Tensor], arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    wanted = function(*arguments, name="new", **options)
    for given in ("new", ("new",), ["new"]):
        result = function(*arguments, names=given, **options)
        assert result.template is wanted.template
        assert result.tolist() == wanted.tolist()
    with pytest.raises(TensorBackendError):
        function(*arguments, names="new", name="new", **options)


def test_a_call_that_the_signature_takes_is_left_alone() -> None:
    assert adapt(tb.sum, (x1,), {"axis": 0}) is None


def test_an_error_within_a_function_of_the_user_is_its_own() -> None:
    def one(x: tb.Tensor) -> tb.Tensor:
        return x

    with pytest.raises(TypeError, match="positional") as caught:
        tb.vmap(lambda x: one(x, x))(x1)  # type: ignore[call-arg]
    assert not isinstance(caught.value, TensorBackendError)


PYTHONS_OWN = {
    "settings": "autocast backends caches clear_caches current_tape default_dtype finfo get_backend "
    "get_precision iinfo precision scoped_backend set_precision",
    "methods without options": "Tensor.backend_copy Tensor.backend_deallocate Tensor.backend_transfer "
    "Tensor.block_until_ready Tensor.conj Tensor.detach Tensor.item Tensor.to_binary "
    "Tensor.tolist",
    "operators": "getitem setitem",
    "decorators": "composite primitive",
}
"""What leaves a wrong keyword to Python: settings, of layers below the declarations and called by ops themselves; what
would become slower; and what a decorator is never given."""


def public_callables() -> dict[str, Any]:
    """The public functions and the methods of a tensor, by name; not classes."""
    found = {}
    for space in ("", "linalg", "fft", "nn", "random", "sparse", "ragged", "solvers", "optimize", "checkpoints"):
        module = import_module(f"tensorbackend.{space}".rstrip("."))
        for name in dir(module):
            value = getattr(module, name)
            ours = str(getattr(value, "__module__", "")).startswith("tensorbackend")
            if callable(value) and not isinstance(value, type | tb.DType) and name[0] != "_" and ours:
                found[f"{space}.{name}".lstrip(".")] = value
    x = tb.ones((2, 2))
    methods = [name for name in dir(x) if name[0] != "_" and callable(getattr(x, name))]
    return found | {f"Tensor.{name}": getattr(x, name) for name in methods}


def test_every_public_function_refuses_an_unknown_keyword_in_words_of_our_own() -> None:
    left = []
    for name, function in public_callables().items():
        parameters = [] if name in ("composite", "primitive") else signature(function).parameters.values()
        required = [
            1 for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        try:
            function(*required, no_such_keyword=1)
        except TensorBackendError:
            continue
        except TypeError:
            left.append(name)
    known = {name for names in PYTHONS_OWN.values() for name in names.split()}
    assert sorted({*left} - known) == [], "decorate it with check_arguments"
    assert sorted(known - {*left}) == [], "take out what needs to be listed no longer"


def test_functions_that_nothing_wraps_say_what_they_take() -> None:
    x = tb.ones((2, 3))
    cases: list[tuple[Callable[..., Any], Any, Any, str]] = [
        (tb.asarray, ([1.0],), {"requires_grad": True}, "asarray: expected keywords among dtype"),
        (tb.logical_and, (x, x), {"where": x}, "logical_and: expected no keywords"),
        (tb.take, (x, [0]), {"dim": 0}, "take: expected keywords among axis, mode, batch, got dim=0; write axis="),
        (tb.take, (x,), {}, "take: expected the argument indices, which is missing"),
        (tb.clip, (x,), {"a_min": 0}, "clip: expected keywords among min, max"),
        (tb.bincount, (x, x, 3), {}, "bincount: expected at most 1 argument by position, got 3"),
        (x.astype, ("f64",), {"device": None, "casting": 1}, "astype: expected keywords among"),
        (x.reshape, (3, 2), {"order": "F"}, "reshape: expected keywords among shape, copy, names, got order='F'"),
    ]
    for function, arguments, keywords, text in cases:
        with pytest.raises(SignatureError, match=re.escape(text)):
            function(*arguments, **keywords)
