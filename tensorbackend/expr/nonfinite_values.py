"""What a block of `debug_nans` finds: results that are not finite, and the errors that they carry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..dispatch.kernels import Shaped
from ..errors import NonFiniteError
from ..protocol import Backend
from ..template import Template
from ..tensor import Tensor


class Search(NamedTuple):
    """What a block looks for."""

    infinities: bool
    operands: bool


class Trail:
    """The errors of a call of the user's that runs, and of the calls inside it."""

    def __init__(self) -> None:
        self.depth = self.library = 0
        """How many calls run in one another, and how many of these are the library's functions of several ops."""
        self.carried: dict[int, tuple[Any, NonFiniteError | None]] = {}
        """Payloads that are not finite by their identities, each with the error that it carries. There is none of what
        came from outside, or was asked for."""
        self.errors: list[NonFiniteError] = []
        """All errors that ops met, carried on or not."""

    def carry(self, payload: Any, error: NonFiniteError | None) -> None:
        """Leaves an error with a payload; of many payloads with the latest."""
        self.carried[id(payload)] = payload, error  # the payload is kept, so that its identity is not another's
        if len(self.carried) > _MOST_CARRIED:
            del self.carried[next(iter(self.carried))]

    def error_of(self, payload: Any) -> NonFiniteError | None:
        """The error that a payload carries."""
        return self.carried.get(id(payload), (None, None))[1]

    @contextmanager
    def inside(self, library: bool) -> Iterator[None]:
        """A block in which a call runs, whose errors the calls around it may carry."""
        self.depth += 1
        self.library += library
        try:
            yield
        finally:
            self.depth -= 1
            self.library -= library
            if not self.depth:
                self.carried.clear()
                self.errors.clear()


_MOST_CARRIED = 4096


class Found(NamedTuple):
    """A tensor that is not finite, its array, and where."""

    x: Tensor
    array: Any
    wrong: Any
    is_nan: bool


def tensors_of(template: Any, payload: Any, backend: Backend) -> Iterator[Tensor]:
    """The floating and complex tensors among payloads, nested like their templates; those of any shape have that of the
    payload."""
    if isinstance(template, Shaped):
        template = template[payload.shape]
    if isinstance(template, Template):
        if template.dtype.is_inexact:
            yield Tensor(template, backend, payload)
    elif template is not None:
        for inner, part in zip(template, payload, strict=True):
            yield from tensors_of(inner, part, backend)


def array_of(x: Tensor) -> Any:
    """A tensor as an array of NumPy, whose functions need no kernel of ours."""
    return x.backend.to_numpy(x, None, None)


def find(x: Tensor, search: Search) -> Found | None:
    """A tensor with an element that is not finite."""
    import numpy

    if not x.backend.is_concrete(x):  # a library traces it
        return None
    array = array_of(x)
    wrong = ~numpy.isfinite(array) if search.infinities else numpy.isnan(array)
    return Found(x, array, wrong, bool(numpy.isnan(array).any())) if wrong.any() else None


def unfinite(tensors: Iterable[Tensor], search: Search) -> Iterator[Found]:
    """The tensors with an element that is not finite."""
    for x in tensors:
        found = find(x, search)
        if found is not None:
            yield found
