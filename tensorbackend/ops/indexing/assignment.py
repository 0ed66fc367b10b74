"""Assignment by `x[...] = value`: x with other elements at a key."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from sys import _getframe
from typing import Any, Final, ParamSpec, TypeVar

from ...caching import module_lock
from ...caching.option_keys import NUMBERS
from ...declarations.argument_errors import check_arguments
from ...dispatch import CHECKED, verify
from ...dispatch.ready_calls import Memo, ReadyCall, record
from ...dispatch.watching import Subject, holds_kernels, watch_kernel
from ...docstrings import document
from ...dtypes import check_scalar, int64, scalar_kind, uncast
from ...errors import (
    ArgumentError,
    BackendError,
    ContractError,
    IndexRangeError,
    ShapeError,
    TemplateDataError,
    expected,
)
from ...protocol import Backend
from ...protocol.indexing import Write
from ...rules.data_errors import restore_index
from ...rules.indexing import Slices, check_assignment, parse_basic_key
from ...select import get_backend, with_numbers_moved
from ...template import Template, merge_names
from ...tensor import Tensor, bind
from ..creation.filled import asarray, full, iota
from ..creation.values import beside
from ..elementwise.basic import astype, where
from ..shape import broadcast_to, laid_flat, reshape
from .chained import is_lost, plain
from .coordinates import places
from .getitem import getitem
from .keys import BOUNDS, SETTLED, Part, has_plain_bounds, is_plain, parse_key, plain_part
from .scatter import indexed_put
from .slices import put_slice


@bind
@check_arguments
def put_at(x: Tensor, key: Any, value: Any) -> Tensor:
    """Replace the elements at a key, as in `x[key]`, by a value that broadcasts to them.

    This is the value that `x[key] = value` assigns to x. If an index occurs twice, the last value is kept;
    `indexed_add`, `indexed_max` and the like combine the values. The value is cast to x's dtype. Raises `DTypeError`
    for a value of a wider kind, such as a floating value for integers, and for wider integers, which could wrap. On
    template tensors a mask works if the value has no axis for the mask's elements.

    >>> tb.put_at(tb.asarray([1, 2, 3]), [0, 2], tb.asarray([7, 8])).tolist()
    [7, 2, 8]
    """
    value = _update(x, value)
    if is_plain(key):
        block = parse_basic_key(x.template, key)
        if not block.reversed and not block.new and all(stride == 1 for stride in block.strides):
            return _put_block(x, block, value)
    parts = parse_key(x, key)
    if parts[0].kind == "mask" and all(part.kind == "fill" for part in parts[1:]):
        mask = parts[0].value
        if value.ndim <= x.ndim - mask.ndim:
            return _where_mask(x, mask, value)
    masked = _put_masked(x, parts, value)
    if masked is not None:
        return masked
    found = places(x, parts)
    if found is None:  # masks among other parts, or a key that does not fit
        return _put_entries(x, key, value)
    wide = reshape(_spread(value, found.target), found.shape, names=(None,) * len(found.shape))
    try:
        return indexed_put(x, found.vectors, wide, mode="error")
    except IndexRangeError as error:
        arrays = [part.value.template for part in parts if part.kind == "array"]
        raise restore_index(error).met("put_at", [x.template, *arrays]) from None


def _put_masked(x: Tensor, parts: Sequence[Part], value: Tensor) -> Tensor | None:
    """Writes a value where a mask without data holds, in the block that ints and slices next to it choose.

    `None` for any other key, and for a value with an axis for the mask's elements.
    """
    masks = [part for part in parts if part.kind == "mask"]
    if len(masks) != 1 or masks[0].value.backend.is_concrete(masks[0].value):
        return None
    (mask,), kinds = masks, {part.kind for part in parts}
    after = sum(part.width for part in parts if part.axis > mask.axis and part.kind in ("slice", "fill"))
    if "array" in kinds or value.ndim > (0 if kinds & {"int", "new"} else after):
        return None
    key: list[Any] = []
    for part in parts:
        if part.kind != "new":
            key += [slice(None)] * part.width if part.kind in ("mask", "fill") else [part.value]
    block = getitem(x, tuple(key))
    held = mask.value
    wide = reshape(held, (*held.shape, *(1,) * after), names=(None,) * (held.ndim + after))
    with uncast():
        return put_at(x, tuple(key), where(wide, value, block))


def _put_entries(x: Tensor, key: Any, value: Tensor) -> Tensor:
    """Writes a value at any key, to the elements that it would read: it reads the positions of all of x."""
    positions = _positions(x, key, value)
    wide = _spread(value, positions.template)
    size = positions.size
    written = indexed_put(laid_flat(x), reshape(positions, (size, 1)), laid_flat(wide), mode="error")
    return reshape(written, x.shape, names=x.names)


def _positions(x: Tensor, key: Any, value: Tensor) -> Tensor:
    """The row-major positions of the elements at a key; errors that templates show are raised before those of data."""
    try:
        return getitem(iota(x.shape, names=x.names, backend=x.backend), key)
    except IndexRangeError:
        with suppress(TemplateDataError):
            dry = get_backend("template")
            _spread(value, getitem(Tensor(x.template.replace(dtype=int64), dry, None), key).template)
        raise


def _update(x: Tensor, value: Any) -> Tensor:
    """A value to write, in x's dtype; numbers and lists of them are weak."""
    if isinstance(value, list | tuple):
        return beside(value, x.backend, x.dtype)
    if not isinstance(value, Tensor) and scalar_kind(value) is not None:
        check_scalar(value, x.dtype)
        return full((), value, dtype=x.dtype, backend=x.backend)
    _, value = with_numbers_moved([x, asarray(value, backend=None if isinstance(value, Tensor) else x.backend)])
    check_assignment(x.template, value.template)
    return astype(value, x.dtype) if value.dtype is not x.dtype else value


def _spread(value: Tensor, target: Template) -> Tensor:
    """A value broadcast to the elements that it replaces; `ShapeError` or `NamesError` if it does not match."""
    if value.ndim > target.ndim:
        raise ShapeError(expected(f"a value that broadcasts to shape {target.shape}", value=value.template))
    return broadcast_to(value, target.shape, names=merge_names(target, value.template))


def _put_block(x: Tensor, block: Slices, value: Tensor) -> Tensor:
    """Writes a value at a key of ints and slices without steps."""
    kept = [axis for axis in range(x.ndim) if axis not in block.dropped]
    target = Template([block.lengths[axis] for axis in kept], x.dtype, [x.names[axis] for axis in kept])
    wide = reshape(_spread(value, target), block.lengths, names=(None,) * x.ndim)
    return put_slice(x, wide, starts=block.starts)


def _where_mask(x: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    """Writes a value where a mask over the leading axes holds; it is the same for all of the mask's elements."""
    rest = x.ndim - mask.ndim
    merge_names(Template(x.shape[mask.ndim :], x.dtype, x.names[mask.ndim :]), value.template)
    wide = reshape(mask, mask.shape + (1,) * rest)
    chosen = broadcast_to(value, x.shape[mask.ndim :]).rename(*x.names[mask.ndim :]) if rest else value
    with uncast():  # `where` computes, but an assignment only moves elements
        return where(wide, chosen, x)


lock = module_lock(__name__, "lock")
"""Held while a tensor or an array gets new elements: of two threads that assign to one, neither loses a write."""

acquire, release = lock.acquire, lock.release
"""The lock's methods, which take half the time of a `with` block.

`acquire` is the first statement of a `try` block whose end calls `release`, as an interrupt may come between the lock's
being held and the next statement. If one comes while a thread waits for the lock, there is nothing to release, and the
`RuntimeError` of `release` is ignored.
"""


def _bind_lock() -> None:
    """Binds them again in a forked child, whose lock is another one."""
    global acquire, release
    acquire, release = lock.acquire, lock.release


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_bind_lock)


Given = ParamSpec("Given")
Result = TypeVar("Result")


def locked(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """A function that holds the lock."""

    @wraps(function)
    def call(*arguments: Given.args, **options: Given.kwargs) -> Result:
        with lock:
            return function(*arguments, **options)

    return call


_writes: Final = Memo(nested=False)
"""How a backend assigns in one step, by the backend, the kind of x, and those of the key and the value.

All that the kinds leave open are sizes, the numbers in a key, and the value of a number.
"""

holds_kernels(_writes)


@bind
@document
def setitem(x: Tensor, key: Any, value: Any) -> None:
    """`x[key] = value`: x gets the value that `put_at` returns, and keeps its template.

    Tensors that were made from x before keep their values: the memory of x is overwritten if nothing else refers to
    it, and otherwise x gets a changed copy. Raises `BackendError` if a value without data, of a trace or a template, is
    assigned to a tensor with data, which would be lost. Raises `ArgumentError` for `x[0][1] = 5`, `x.T[0] = 5` and the
    like, as `x[0]` is a new tensor, to which nothing refers: write `x[0, 1] = 5`.

    >>> x = tb.zeros(3)
    >>> y = x[1:]
    >>> x[1:] = 5
    >>> x.tolist(), y.tolist()
    ([0.0, 5.0, 5.0], [0.0, 0.0])
    """
    if _getframe(1).f_code is not plain[0] and is_lost(x, _getframe(1)):
        remedy = "write x[0, 1] = v for x[0][1] = v, or give the tensor a name first"
        raise ArgumentError(
            expected("a tensor that something refers to, as ops give new tensors", remedy, x=x.template)
        )
    if x.__class__ is Tensor:
        backend, kinds, parts, of_value = x.backend, key.__class__, key, value.__class__
        try:
            if kinds is slice:
                if key.start.__class__ not in BOUNDS or key.stop.__class__ not in BOUNDS or key.step is not None:
                    _check_bounds(key)
            elif kinds is tuple:
                if len(key) == 2:  # the most frequent; `map` takes twice the time
                    first, second = key
                    kinds = first.__class__, second.__class__
                else:
                    kinds = tuple(map(type, key))
                if slice in kinds:
                    for part in key:
                        if part.__class__ is slice and (
                            part.start.__class__ not in BOUNDS
                            or part.stop.__class__ not in BOUNDS
                            or part.step is not None
                        ):
                            _check_bounds(part)
                if Tensor in kinds:
                    kinds, parts = tuple([_kind(part, backend) for part in key]), tuple(map(_data, key))
            elif kinds is Tensor and key.backend is backend:  # of another backend it is unknown
                kinds, parts = key.template.kind, key.data
            if of_value is Tensor:
                of_value = value.template.kind if value.backend is backend else None
            _, write, _ = _writes.entries[backend, x.template.kind, kinds, of_value]
            try:
                acquire()
                if CHECKED:
                    write = _verify(write, put_at(x, key, value))
                write(x, parts, value)
            finally:
                try:  # noqa: SIM105 # as above
                    release()
                except RuntimeError:
                    pass
        except ContractError:
            raise
        except Exception:  # whatever is wrong, the ops raise it; not here, or it would have this error as its context
            pass
        else:
            return
    _unready(x, key, value)


# A method that calls the function would cost a third of an assignment.
setattr(Tensor, "__setitem__", setitem)  # noqa: B010 # a type checker sees the method that is in the class


def _kind(part: Any, backend: Backend) -> Any:
    """What `_writes` distinguishes of a value or a part of a key; `KeyError` for a tensor on another backend."""
    if part.__class__ is not Tensor:
        return part.__class__
    if part.backend is not backend:
        raise KeyError
    return part.template.kind


def _check_bounds(part: slice) -> None:
    """Raises `KeyError` for bounds with code of the user, which must run before the memory of x is looked at."""
    if not has_plain_bounds(part):
        raise KeyError


def _data(part: Any) -> Any:
    return part.data if part.__class__ is Tensor else part


def _unready(x: Tensor, key: Any, value: Any) -> None:
    """The assignment for kinds of which no function is known yet, or which is wrong."""
    plain = _plain(x, key, value)
    if plain is not None:
        setitem(x, *plain)
        return
    _put(x, key, value)
    _learn(x, key, value)


@locked
def _put(x: Tensor, key: Any, value: Any) -> None:
    """The assignment by an op that gives what x has then."""
    result = put_at(x, key, value)  # raises what is wrong
    if x.backend.holds_data and not result.backend.holds_data:
        remedy = "return the value from the function, or assign to a copy that is made in it by tb.tensor(x)"
        expectation = "a value with data, as the tensor that is assigned to has data"
        raise BackendError(
            expected(expectation, remedy, tensor=x.template, value=f"a tensor on {result.backend.name!r}")
        )
    x.backend, x.data = result.backend, result.data


def _plain(x: Tensor, key: Any, value: Any) -> tuple[Any, Any] | None:
    """The key with ints and tensors for other libraries' numbers and arrays and for lists, and the value as a number or
    a tensor in x's dtype; `None` if they already are, or if they are invalid."""
    try:
        plain = tuple([plain_part(part, x) for part in key]) if isinstance(key, tuple) else plain_part(key, x)
        written = value if value.__class__ in NUMBERS else _update(x, value)
    except Exception:  # whatever is wrong, `put_at` raises it
        return None
    if plain.__class__ is not tuple:
        return None if plain is key and written is value else (plain, written)
    same = all(part is plain_part for part, plain_part in zip(key, plain, strict=True))
    return None if same and written is value else (plain, written)


def _learn(x: Tensor, key: Any, value: Any) -> None:
    """Remembers how to assign where x, a key and a value are of these kinds, which fit; nothing if they are not
    plain."""
    parts = key if isinstance(key, tuple) else (key,)
    of_tensor = value.__class__ is Tensor and value.dtype is x.dtype
    if not SETTLED.issuperset([part.__class__ for part in parts]) or not (of_tensor or value.__class__ in NUMBERS):
        return
    backend, template = x.backend, x.template
    try:
        kinds = tuple([_kind(part, backend) for part in key]) if isinstance(key, tuple) else _kind(key, backend)
        name = backend, template.kind, kinds, _kind(value, backend)
    except KeyError:
        return
    structure = tuple([part.template if part.__class__ is Tensor else part.__class__ for part in parts])
    write = backend.assignment(template, structure, value.template if of_tensor else value.__class__)
    if write is None and not of_tensor:  # the backend takes no number of that class
        write = _assign_as_tensor(backend.assignment(template, structure, Template((), x.dtype)))
    if write is not None:
        subject = Subject("setitem", "setitem", backend)
        _writes.store(name, record(ReadyCall(None, watch_kernel(write, subject), subject=subject)))


def _assign_as_tensor(write: Write | None) -> Write | None:
    """An assignment of a number by one of a tensor."""
    return write and (lambda x, key, value: write(x, key, _update(x, value)))


def _verify(write: Write, wanted: Tensor) -> Write:
    """An assignment that raises `ContractError` unless x then has the elements of another tensor."""

    def write_and_check(x: Tensor, key: Any, value: Any) -> None:
        write(x, key, value)
        backend = x.backend
        verify("setitem", backend, x.template, x.data)
        if backend.to_binary(x, x.size) != wanted.backend.to_binary(wanted, wanted.size):
            duty = f"assignment of the backend {backend.name!r} to write what put_at returns"
            raise ContractError(expected(duty, "fix the backend", tensor=x.template))

    return write_and_check
