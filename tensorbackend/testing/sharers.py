"""Everything that may share the memory of a tensor, for tests that an assignment to the tensor changes nothing else.

A sharer takes a tensor, makes something of it, and returns a function that reads what it made: an array with its
own memory. The sharer lives as long as that function.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Generator
from functools import partial
from inspect import getgeneratorlocals
from itertools import product
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeAlias
from weakref import finalize, ref

import numpy

from ..expr.grad.tape import tape
from ..expr.jit import jit
from ..expr.trace import trace
from ..ops.creation.filled import asarray
from ..ops.elementwise.binary import multiply
from ..ops.indexing.assignment import put_at
from ..ops.reduction import sum as sum_
from ..ops.shape import broadcast_to, permute_dims, reshape
from ..protocol import Backend
from ..tensor import Tensor
from .failures import Disagreement
from .source import script, source

Reader: TypeAlias = Callable[[], Any]
Sharer: TypeAlias = Callable[[Tensor], Reader]


def _reader(make: Callable[[Tensor], Any]) -> Sharer:
    """A sharer that holds a tensor or an array that a function makes."""
    return lambda x: partial(numpy.array, make(x))


def _first(x: Tensor) -> slice:
    """A slice of half of the first axis."""
    return slice(0, (x.shape[0] + 1) // 2)


def _generator(x: Tensor) -> Reader:
    """A generator whose frame holds the payload."""

    def wait() -> Generator[Any, None, None]:
        data = x.data
        yield
        yield data

    waiting = wait()
    next(waiting)
    return lambda: numpy.array(Tensor(x.template, x.backend, getgeneratorlocals(waiting)["data"]))


def _exception(x: Tensor) -> Reader:
    """An error whose traceback holds a frame that holds the payload."""

    def fail(data: Any) -> None:
        raise ValueError

    try:
        fail(x.data)
    except ValueError as error:
        kept = error
    trace = kept.__traceback__
    assert trace is not None
    assert trace.tb_next is not None
    frame = trace.tb_next.tb_frame
    template, backend = x.template, x.backend
    return lambda: numpy.array(Tensor(template, backend, frame.f_locals["data"]))


def _tape_reader(x: Tensor) -> Reader:
    """A tape, which needs the operands of a product for its gradient."""
    with tape() as watching:
        watched = watching.watch(x)
        total = sum_(multiply(watched, watched))
    return lambda: numpy.array(watched.detach()) + 0 * numpy.array(total.detach())


def _constant(x: Tensor) -> Reader:
    """A compiled function that captured x as a constant."""
    function = jit(lambda zero: x[...] if zero is None else multiply(x, zero))
    one = asarray(1, dtype=x.dtype, backend=x.backend)
    function(one)
    return lambda: numpy.array(function(one))


def _trace_reader(x: Tensor) -> Reader:
    """A graph that captured x."""
    one = asarray(1, dtype=x.dtype, backend=x.backend)
    graph = trace(lambda other: multiply(x, other))(one)
    return lambda: numpy.array(graph(one))


def _weak_reader(x: Tensor) -> Reader:
    """A weak reference to a view, which another reference keeps alive."""
    view = numpy.asarray(x)
    kept, weak = [view], ref(view)
    return lambda: numpy.array(weak() if kept else None)


def _thread_reader(x: Tensor) -> Reader:
    """A thread in whose frame the payload is, until nobody can read it any more."""
    asked: SimpleQueue[bool] = SimpleQueue()
    answers: SimpleQueue[Any] = SimpleQueue()

    def wait(data: Any) -> None:
        while asked.get():
            answers.put(numpy.array(Tensor(template, backend, data)))

    template, backend = x.template, x.backend
    Thread(target=wait, args=(x.data,), daemon=True).start()

    def read() -> Any:
        asked.put(True)
        return answers.get()

    finalize(read, asked.put, False)
    return read


def _pickle_reader(x: Tensor) -> Reader:
    """A pickle whose buffers are the memory itself."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(numpy.asarray(x), protocol=5, buffer_callback=buffers.append)
    return lambda: numpy.array(pickle.loads(pickled, buffers=buffers))


SHARERS: dict[str, Sharer] = {
    "x[...]": _reader(lambda x: x[...]),
    "x[:n]": _reader(lambda x: x[_first(x)]),
    "x[::-1]": _reader(lambda x: x[::-1]),
    "x[None]": _reader(lambda x: x[None]),
    "x[0]": _reader(lambda x: x[0]),
    "x[:n][1:]": _reader(lambda x: x[_first(x)][1:]),
    "x[x != 0]": _reader(lambda x: x[x != 0]),
    "reshape": _reader(lambda x: reshape(x, (x.size,))),
    "reshape to the same shape": _reader(lambda x: reshape(x, x.shape)),
    "permute_dims": _reader(lambda x: permute_dims(x, (*range(x.ndim),)[::-1])),
    "broadcast_to": _reader(lambda x: broadcast_to(x, (2, *x.shape))),
    "rename": _reader(lambda x: x.rename(*[None] * x.ndim)),
    "detach": _reader(lambda x: x.detach()),
    "copy": _reader(copy.copy),
    "deepcopy": _reader(copy.deepcopy),
    "asarray": _reader(lambda x: asarray(x)[...]),
    "to_device": _reader(lambda x: x.to_device(x.device)[...]),
    "numpy.asarray": _reader(numpy.asarray),
    "numpy.asarray, a part": _reader(lambda x: numpy.asarray(x)[_first(x)]),
    "memoryview": _reader(lambda x: numpy.asarray(x).data),
    "numpy.from_dlpack": _reader(numpy.from_dlpack),
    "numpy.from_dlpack, no copy": _reader(lambda x: numpy.from_dlpack(x, copy=False)),
    "flat": lambda x: numpy.asarray(x).flat.copy,
    "data": lambda x: partial(numpy.array, Tensor(x.template, x.backend, x.data)),
    "a weak reference": _weak_reader,
    "a pickle": _pickle_reader,
    "a pickled tensor": lambda x: partial(lambda pickled: numpy.array(pickle.loads(pickled)), pickle.dumps(x)),
    "a generator": _generator,
    "a thread": _thread_reader,
    "an exception": _exception,
    "a tape": _tape_reader,
    "a constant of jit": _constant,
    "a result of jit": _reader(lambda x: jit(lambda value: (value, value))(x)[0]),
    "a graph": _trace_reader,
    "put_at": _reader(lambda x: put_at(x, slice(0, 0), 0)),
    "iteration": _reader(lambda x: next(iter(x))),
}
"""Sharers of tensors of at least one axis and one element, by what they do."""


def check_values_stay(given: Tensor, key: Any, value: Any, backend: Backend) -> None:
    """Raises `Disagreement` if `x[key] = value` changes anything that was made from x before.

    `given` is on BinaryBackend, with at least one axis and one element.

    >>> import tensorbackend as tb
    >>> check_values_stay(tb.tensor([1.0, 2.0], backend="binary"), 0, 5.0, tb.get_backend("numpy"))
    """
    for (name, share), owns_memory in product(SHARERS.items(), (False, True)):
        x = given.backend_copy(backend) * 1
        for _ in range(2 * owns_memory):
            x[key] = given[key].backend_copy(backend)
        reader = share(x)
        for turn in range(2):
            before = reader()
            x[key] = value
            if turn:
                x[key] = given[key].backend_copy(backend)
            after = reader()
            if before.tobytes() != after.tobytes():
                detail = f"x[{key!r}] = {value!r} changes what {name} returned before, from {before} to {after}"
                subject = f"assignment of {given.dtype} on {backend.name}"
                raise Disagreement("mutation", detail, subject=subject, script=script(source(given), backend))
