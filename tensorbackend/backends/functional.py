"""Functions of scalar tensors, as backends call them for each element."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..dtypes import DType
from ..protocol import Backend, Payload
from ..scopes import in_own_context
from ..select import default_backend, move
from ..template import intern_template
from ..tensor import Tensor


def move_results(backend: Backend, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function whose result is moved to a backend, since tensors that it closes over may be on another.

    Parameters
    ----------
    backend : Backend
        The backend to which the result is moved.
    function : Callable
        A function of tensors that returns a tensor.

    Returns
    -------
    Callable
        The function, with its result moved to the backend.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> from tensorbackend.extending import move_results
    >>> move_results(tb.get_backend("binary"), lambda x: tb.ones(2))(tb.ones(1)).backend.name
    'binary'
    """

    def call(*tensors: Tensor) -> Tensor:
        return move(function(*tensors), backend)

    return call


@in_own_context
def fold_elements(
    backend: Backend, function: Callable[[Tensor, Tensor], Tensor], initial: Tensor, dtype: DType,
    rows: Iterable[Iterable[Payload]],
) -> list[Payload]:  # fmt: skip
    """Fold a function over the elements of each row, with one call for each element.

    Parameters
    ----------
    backend : Backend
        The backend of the elements, which is the default backend meanwhile.
    function : Callable
        A function of two tensors without axes: what was folded so far, and the next element.
    initial : Tensor
        The first argument for the first element of each row.
    dtype : DType
        The dtype of the elements.
    rows : iterable of iterables
        The payloads of the elements.

    Returns
    -------
    list
        A payload for each row.

    Examples
    --------
    >>> import numpy, tensorbackend as tb
    >>> from tensorbackend.extending import fold_elements
    >>> rows = numpy.array([[1.0, 2.0], [3.0, 4.0]])
    >>> folded = fold_elements(tb.get_backend("numpy"), tb.add, tb.asarray(0.5), tb.float64, rows)
    >>> [float(total) for total in folded]
    [3.5, 7.5]
    """
    template, call, results = intern_template((), dtype, ()), move_results(backend, function), []
    with default_backend(backend):
        for row in rows:
            folded = initial
            for element in row:
                folded = call(folded, Tensor(template, backend, element))
            results.append(folded.data)
    return results


@in_own_context
def map_elements(
    backend: Backend, function: Callable[[Tensor], Tensor], dtype: DType, elements: Iterable[Payload]
) -> list[Payload]:
    """Call a function with each element.

    Parameters
    ----------
    backend, dtype
        As for `fold_elements`.
    function : Callable
        A function of a tensor without axes.
    elements : iterable
        The payloads of the elements.

    Returns
    -------
    list
        A payload for each of them.

    Examples
    --------
    >>> import numpy, tensorbackend as tb
    >>> from tensorbackend.extending import map_elements
    >>> [float(x) for x in map_elements(tb.get_backend("numpy"), tb.square, tb.float64, numpy.array([1.0, 3.0]))]
    [1.0, 9.0]
    """
    template, call = intern_template((), dtype, ()), move_results(backend, function)
    with default_backend(backend):
        return [call(Tensor(template, backend, element)).data for element in elements]
