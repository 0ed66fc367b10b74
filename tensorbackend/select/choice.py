"""Chooses the backend on which an op runs by its operands, and moves the operands there.

An array of another library belongs on the backend of its library, on its device. `transferred` and `copied`
move tensors where no op runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..caching import module_lock
from ..dtypes import DType
from ..errors import BackendError, OperandError, UnsupportedOp, expected
from ..interchange.arrays import to_plain_memory
from ..protocol import Backend, BackendLike
from ..tensor import Deallocated, Tensor, bind
from .default import current, get_backend
from .registry import owner


def common_backend(tensors: Iterable[Tensor]) -> Backend:
    """The backend on which an op with these inputs runs, the default one if there are none.

    The highest `dispatch_priority` wins: with a template tensor among the inputs the result is a template tensor too,
    and BinaryBackend yields to any other. Between backends of equal priority only numbers move: tensors without axes
    follow those with axes, and where none has axes, those on the default backend follow the others. Raises
    `BackendError` for any other two backends of equal priority.
    """
    chosen: Backend | None = None
    inputs = tensors if isinstance(tensors, list | tuple) else list(tensors)
    for tensor in inputs:
        backend = tensor.backend
        if backend is chosen:
            continue
        if chosen is None or backend.dispatch_priority > chosen.dispatch_priority:
            chosen = backend
        elif backend.dispatch_priority == chosen.dispatch_priority:
            home = _beside_numbers(inputs)
            if home is None:
                remedy = "move one, as in x.to_device(y.device)"
                raise BackendError(expected("tensors on one backend", remedy, left=chosen, right=backend))
            return home
    return current() if chosen is None else chosen


def _beside_numbers(tensors: Iterable[Tensor]) -> Backend | None:
    """The backend that numbers on another of the same priority follow, `None` where that would move more."""
    highest = max(tensor.backend.dispatch_priority for tensor in tensors)
    deciding = [tensor for tensor in tensors if tensor.backend.dispatch_priority == highest]
    staying = {tensor.backend for tensor in deciding if tensor.shape or not tensor.backend.is_concrete(tensor)}
    if not staying:
        staying = {tensor.backend for tensor in deciding} - {current()}
    return staying.pop() if len(staying) == 1 else None


def check_dtype_support(dtype: DType, backend: Backend) -> None:
    """Raises `UnsupportedOp` for a dtype that a backend's payloads cannot hold."""
    if dtype not in backend.dtypes:
        expectation, remedy = (
            f"a dtype that the backend {backend.name!r} holds",
            "cast with astype(), or use another backend",
        )
        raise UnsupportedOp(expected(expectation, remedy, dtype=dtype), dtype)


def move(tensor: Tensor, backend: Backend) -> Tensor:
    """An operand, moved to the backend on which the op runs."""
    if tensor.backend is backend:
        return tensor
    check_dtype_support(tensor.dtype, backend)
    return Tensor(tensor.template, backend, backend.from_backend(tensor, copy=False))


def with_numbers_moved(tensors: list[Tensor]) -> list[Tensor]:
    """The tensors, with those without axes moved that follow others on a backend of the same priority."""
    first = tensors[0].backend if tensors else None
    for tensor in tensors:
        if (
            tensor.backend is not first
            and first is not None
            and tensor.backend.dispatch_priority == first.dispatch_priority
        ):
            home = _beside_numbers(tensors)
            return tensors if home is None else [x if x.shape else move(x, home) for x in tensors]
    return tensors


def move_to_recorder(arguments: Sequence[Any]) -> list[Any] | None:
    """The arguments of an op with its tensors on the backend that records some of them; `None` for any other call."""
    first, mixed = None, False
    for x in arguments:
        if x.__class__ is Tensor:
            if first is None:
                first = x.backend
            elif x.backend is not first:
                mixed = True
    if not mixed:
        return None
    backend = common_backend([x for x in arguments if x.__class__ is Tensor])
    if backend.dispatch_priority <= 1 or backend.template_only:
        return None  # where data may move, the rule comes first
    return [x if x.__class__ is not Tensor or x.backend is backend else move(x, backend) for x in arguments]


HOST_LIBRARY = "numpy"
"""The name of the backend whose arrays every other backend takes, and which therefore go to the default backend."""


def library_backend(array: Any) -> Backend | None:
    """The backend for the library of an array, on the device of the array.

    `None` for NumPy's arrays, for a library without a backend, and where new tensors have no data: in a trace, or with
    templates as the default backend.
    """
    kind = owner(array)
    if kind is None or kind.name == HOST_LIBRARY:
        return None
    default = current()
    return holder(array, kind) if default.holds_data and not default.template_only else None


def holder(array: Any, kind: type[Backend]) -> Backend:
    """The instance of a backend's class on the device of an array."""
    backend = kind()
    try:
        array = to_plain_memory(array)
    except OperandError:  # which whoever converts it raises
        return backend
    if backend.adopted(array) is None:
        for device in backend.devices():
            other: Any = backend.on_device(device)
            if other.adopted(array) is not None:
                return other  # type: ignore[no-any-return] # an instance of the class
    return backend


def apart(backend: Backend) -> Backend | None:
    """The backend that holds the data of another: `None` if it is the default one, or has no data as in a trace."""
    default = current()
    if backend is default:
        return None
    home: Any = backend.beneath
    return home if home is not default and home.holds_data and not home.template_only else None


def home_of(values: Iterable[Any]) -> Backend:
    """The backend on which a function of these values runs.

    It is that of the tensors among them, as arrays follow the tensors next to them; else that of the first array whose
    library has a backend; else the default backend.
    """
    leaves = list(values)
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    if tensors:
        return common_backend(tensors)
    found = (library_backend(leaf) for leaf in leaves if hasattr(leaf, "__dlpack__"))
    return next((backend for backend in found if backend is not None), None) or current()


# Held while a tensor is checked and then given up.
_lock = module_lock(__name__)


@bind
def backend_copy(x: Tensor, backend: BackendLike = None) -> Tensor:
    """Copy a tensor, including its names, to another backend; the tensor keeps its data.

    >>> import tensorbackend as tb
    >>> x = tb.tensor([1.0, 2.0], names=("n",))
    >>> x.backend_copy("binary")
    f32[n: 2] binary [1.0, 2.0]
    """
    target = get_backend(backend)
    check_dtype_support(x.dtype, target)
    return Tensor(x.template, target, x.backend.backend_copy(x, target))


@bind
def backend_transfer(x: Tensor, backend: BackendLike = None) -> Tensor:
    """Move a tensor to another backend: the source is deallocated, and using it raises `DeallocatedError`.

    Moving to its own backend returns the tensor itself. Memory is shared if both backends support that,
    otherwise the bytes are copied.
    """
    target = get_backend(backend)
    if target is x.backend:
        return x
    check_dtype_support(x.dtype, target)
    moved = Tensor(x.template, target, x.backend.backend_transfer(x, target))
    backend_deallocate(x)
    return moved


@bind
def backend_deallocate(x: Tensor) -> None:
    """Release a tensor's data; a second call has no effect."""
    with _lock:
        if x.deallocated:
            return
        x.backend.backend_deallocate(x)
        x.__class__ = Deallocated
    _delete_data(x)


def release(x: Tensor) -> None:
    """Takes the payload out of a tensor, which is deallocated from now on, for a kernel that may use its memory."""
    with _lock:
        x.__class__ = Deallocated
    _delete_data(x)


def _delete_data(x: Tensor) -> None:
    # By the slot of `Tensor`: the attribute of a `Deallocated` tensor raises, from now on in other threads too.
    vars(Tensor)["data"].__delete__(x)
