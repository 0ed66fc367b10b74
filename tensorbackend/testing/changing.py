"""Calls of one kind at several shapes: what the dispatcher caches for one must not affect another.

Calls of one kind have the same op, options, dtypes, axis names and numbers of axes; only their sizes differ. A plan
may be used for a whole kind. So calls are made in order, and then once more, each after all plans were dropped, so that
it is planned for its own shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, ValuesView
from itertools import cycle, islice
from math import prod
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from ..declarations.op_specs import OPS
from ..dispatch.watching import forget
from ..dtypes import DType
from ..errors import TensorBackendError
from ..expr.evaluate import evaluate
from ..expr.trees import flatten
from ..ops.creation.filled import from_binary
from ..protocol import Backend
from ..select import get_backend
from ..tensor import Tensor
from .calls import Invocation, calls
from .compare import assert_equal
from .contract import outcome_text
from .divergences import Outcome
from .strategies import Draw

SIZES = (0, 1, 2, 3, 5)
"""The sizes that axes are given."""


def resize(call: Invocation, sizes: Mapping[int, int], *, options: bool = False) -> Invocation:
    """The same call with other sizes of axes, by the old ones; its tensors repeat their elements.

    With `options`, numbers in options are changed as well, other than those that name axes. The result may be an
    invalid call.

    >>> import tensorbackend as tb
    >>> call = Invocation("broadcast_to", (tb.tensor([1, 2]), (3, 2)), {})
    >>> other = resize(call, {2: 4, 3: 5}, options=True)
    >>> other.tensors[0].tolist(), other.arguments[1]
    ([1, 2, 1, 2], (5, 4))
    """

    def resize(x: Tensor) -> Tensor:
        template = x.template.replace(shape=tuple(sizes.get(size, size) for size in x.shape))
        if template is x.template:
            return x
        data, width = x.to_binary(), x.dtype.itemsize
        elements = [data[at : at + width] for at in range(0, len(data), width)] or [bytes(width)]
        return from_binary(b"".join(islice(cycle(elements), template.size)), template, x.backend)

    def renumber(value: Any) -> Any:
        if value.__class__ is int:
            return sizes.get(value, value)
        return type(value)(map(renumber, value)) if value.__class__ in (list, tuple) else value

    other = call.mapped(resize)
    if not options:
        return other
    changed = {name: renumber(value) for name, value in _size_options(other).items()}
    return other._replace(
        arguments=tuple(changed.get(place, value) for place, value in enumerate(other.arguments)),
        options={name: changed.get(name, value) for name, value in other.options.items()},
    )


def _size_options(call: Invocation) -> dict[int | str, Any]:
    """The options of a call that may hold sizes, by place or name: all but those that name axes."""
    named: dict[int | str, Any] = {name: value for name, value in call.options.items() if "ax" not in name}
    if call.name not in OPS:  # a function around ops
        return {**named, **dict(enumerate(call.arguments))}
    parameters = [parameter.name for parameter in OPS[call.name].parameters]
    if len(parameters) < len(call.arguments):  # any number of tensors, and no options by position
        return named
    return {**named, **{place: call.arguments[place] for place, name in enumerate(parameters[: len(call.arguments)])
                        if "ax" not in name}}  # fmt: skip


def _numbers(value: Any) -> Iterator[int]:
    """The ints in an option."""
    if value.__class__ is int:
        yield value
    elif isinstance(value, list | tuple | ValuesView):
        for part in value:
            yield from _numbers(part)


def _add_products(sizes: Mapping[int, int], shapes: Iterable[Sequence[int]]) -> dict[int, int]:
    """New sizes by old ones, with the products of adjacent axes, as in the shapes that `reshape` takes."""
    products = {
        prod(part): prod(sizes[size] for size in part)
        for shape in shapes
        for part in (shape[start:stop] for start in range(len(shape)) for stop in range(start + 2, len(shape) + 1))
    }
    return {**products, **sizes}


@st.composite
def changing(draw: Draw, name: str, dtype: DType, *, count: int = 5) -> list[Invocation]:
    """Calls of an op that differ only in sizes. Some may be invalid calls; all tensors are on BinaryBackend.

    The first tensor has the dtype, and the last call the sizes that the op's generator drew.

    >>> from hypothesis import find
    >>> from tensorbackend.dtypes import float32
    >>> len(find(changing("exp", float32), lambda drawn: True))
    5
    """
    call = draw(calls(name, dtype))
    shapes = [x.shape for x in call.tensors]
    known = sorted(
        {size for shape in shapes for size in shape} if shapes else {*_numbers(_size_options(call).values())}
    )
    assume(known)  # else no size can change
    options = draw(st.booleans()) or not shapes
    others = []
    for _ in range(count - 1):
        # An axis of size 1 broadcasts, and keeps its size most of the time, as calls would often be wrong.
        sizes = {size: 1 if size == 1 and draw(st.integers(0, 3)) else draw(st.sampled_from(SIZES)) for size in known}
        others.append(resize(call, _add_products(sizes, shapes), options=options))
    if shapes:
        assume(len({tuple(x.shape for x in each.tensors) for each in [*others, call]}) > 2)
    return [*others, call]


def check_changing(
    drawn: Sequence[Invocation],
    backend: Backend | str,
    *,
    traced: bool = False,
    layout: Callable[[Tensor], Tensor] | None = None,
) -> None:
    """Make calls in order, and compare each with the same call after all plans were dropped.

    Parameters
    ----------
    drawn : sequence of Invocation
        The calls.
    backend : Backend or str
        The backend, or its name.
    traced : bool, default False
        Whether calls are recorded as graphs, which then run on the backend.
    layout : callable, optional
        Returns a tensor with its elements in another order in memory. Each call is made without it and with it, twice.

    Raises
    ------
    Disagreement
        If a template, an element, or the class or text of an error is not the same.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> check_changing([Invocation("exp", (tb.ones(size, backend="binary"),), {}) for size in range(4)], "numpy")
    """
    target = get_backend(backend)
    forget()
    moved = [call.on(target) for call in drawn]
    if layout is not None:
        drawn = [call for call in drawn for _ in range(4)]
        moved = [each for call in moved for each in (call, call.mapped(layout)) * 2]
    answers = [_answer(call, target, traced) for call in moved]
    for call, moved_call, answer in zip(drawn, moved, answers, strict=True):
        forget()
        exact = _answer(moved_call, target, traced)
        if _text(answer) != _text(exact):
            detail = f"expected {_text(exact)}, as by a plan for these shapes alone, got {_text(answer)}"
            raise call.disagreement("template", detail, target)
        if isinstance(answer, list) and isinstance(exact, list) and not target.template_only:
            for actual, wanted in zip(answer, exact, strict=True):
                wrong = target.violation(actual.template, actual.data)
                if wrong is not None:
                    raise call.disagreement("payload", f"expected {actual.template}, got {wrong}", target)
                assert_equal(actual, wanted, call=call)


def _answer(call: Invocation, backend: Backend, traced: bool) -> Outcome | Exception:
    """The tensors that a call returns, or its error of any class."""
    try:
        return evaluate(call.graph(), call.tensors, backend) if traced else flatten(call.run())[0]
    except Exception as error:  # whatever its class: it must be the same both times
        return error


def _text(answer: Outcome | Exception) -> str:
    if isinstance(answer, Exception) and not isinstance(answer, TensorBackendError):
        return f"{type(answer).__name__}: {answer}"
    return outcome_text(answer)
