"""All exceptions of the library, and the formatter of their messages.

A message says what was expected, then what was passed and its value, and finally the remedy. It starts in
lower case and is the same on every backend. Each class also derives from the built-in exception that Python code would
expect (`ValueError`, `TypeError`, `IndexError`, ...).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from reprlib import Repr
from typing import Any, Literal

from . import tracebacks


class TensorBackendError(Exception):
    """The base class of every error that tensorbackend raises on purpose."""

    operation: str | None = None
    """The op that the user called, once its name is in the text."""
    message: str = ""
    """The text without the op."""
    _remedies: Mapping[str, str] | None = None

    def __init__(self, *arguments: object, remedies: Mapping[str, str] | None = None) -> None:
        self._remedies = remedies
        """The remedies by the name of the op; that for `""` is for any other op. The text is then without one."""
        self._text = str(arguments[0]) if arguments else ""
        super().__init__(*((self._text_for(""), *arguments[1:]) if remedies else arguments))
        called = tracebacks.mark()
        if called is not None:
            self.named(called)

    def _render_traceback_(self) -> list[str]:
        """The traceback that IPython shows."""
        return tracebacks.render_for_ipython(self)

    def named(self, operation: str) -> TensorBackendError:
        """Prepends an op's name to the text, in place of the name of an op that this one called.

        The name of an op that a function of the user called is kept.
        """
        if self.operation is None or not tracebacks.has_user_frame(self):
            self.message = self._text_for(operation)
            self.operation = operation
            self.args = (f"{operation}: {self.message}", *self.args[1:])
        return self

    def _text_for(self, operation: str) -> str:
        """The text without the op."""
        if self._remedies is None:
            return self.message or str(self)
        remedy = self._remedies.get(operation) or self._remedies.get("")
        return f"{self._text}; {remedy}" if remedy else self._text


class ShapeError(TensorBackendError, ValueError):
    """Shapes that do not match, or an invalid shape."""


class AxisError(TensorBackendError, ValueError, IndexError):
    """An axis, by position or by name, that the tensor does not have."""


class AxisKindError(AxisError, TypeError):
    """An axis of a type that the function does not accept: a float, or a name where axes have none."""


class NamesError(TensorBackendError, ValueError):
    """Names of matching axes that differ, or a name that would occur twice in one tensor."""


class DTypeError(TensorBackendError, TypeError):
    """A dtype that the op does not support, or dtypes that cannot be promoted to one."""


class OutOfRangeError(TensorBackendError, OverflowError, ValueError):
    """A Python number that the dtype cannot hold."""


class ArgumentError(TensorBackendError, ValueError):
    """An option with a value that the op does not accept."""


class ArgumentKindError(ArgumentError, TypeError):
    """An option of a type that the function does not accept, such as a string for an int."""


class SignatureError(TensorBackendError, TypeError):
    """Arguments that a function's signature does not take: an unknown keyword, too many arguments, or too few."""


class MissingNameError(TensorBackendError, AttributeError):
    """A name that a namespace or a tensor does not have.

    A function in place of the text is called when the text is read: `hasattr` has no use for what to write instead.
    """

    def __init__(self, text: str | Callable[[], str], *, name: str = "", obj: object = None) -> None:
        self._late = None if isinstance(text, str) else text
        super().__init__(text if isinstance(text, str) else "")
        self.name, self.obj = name, obj  # for Python's own suggestions

    def __str__(self) -> str:
        if self._late is not None:
            late, self._late = self._late, None
            self.args = (late(),)
        return super().__str__()

    def __repr__(self) -> str:
        str(self)
        return super().__repr__()

    def __reduce__(self) -> Any:
        return type(self), (str(self),), {"name": self.name}


class OperandError(TensorBackendError, TypeError):
    """An operand that is neither a tensor, a Python number nor a foreign array."""


class DataError(TensorBackendError, ValueError):
    """An error that depends on data: a backend raises it, a dry run on templates does not."""

    def named(self, operation: str) -> TensorBackendError:
        """Prepends an op's name to the text, unless the text begins with the name of an op."""
        return self if self.operation else super().named(operation)

    def met(self, operation: str, inputs: Iterable[object]) -> DataError:
        """Prepends the op and the templates of its inputs to the text.

        If ops are nested, the op that the user called replaces those inside it, which differ among backends.
        """
        self.message = self.message or str(self)
        self.operation = f"{operation} of {', '.join(map(repr, inputs))}"
        self.args = (f"{self.operation}: {self.message}",)
        return self


class IndexRangeError(DataError, IndexError):
    """An index outside its axis, found in the data."""

    index: int = 0
    """The index, as the backend got it."""
    size: int = 0
    """The size of the axis."""


class NonFiniteError(DataError, FloatingPointError):
    """NaN or an infinity that an op computed in a block of `debug_nans`."""

    line: object = None
    """The user's line of the op, with the names of the `name_scope` blocks around it; `None` if it is unknown."""
    inputs: tuple[object, ...] = ()
    """The templates of the op's tensors."""


class BackendError(TensorBackendError, RuntimeError):
    """Tensors on backends that cannot be combined, or a backend that is not available."""


class ExchangeError(BackendError, BufferError):
    """Memory of another library that DLPack cannot share."""


class OutOfMemoryError(BackendError, MemoryError):
    """Memory that a backend's library could not allocate, on the host or on a device."""


class UnsupportedOp(BackendError, NotImplementedError):
    """An op that the backend does not implement, at all or for a dtype."""

    def __init__(self, text: str, dtype: object = None) -> None:
        super().__init__(text)
        self.dtype = dtype
        """The dtype that the backend does not take; `None` where it lacks the op altogether."""


class FileError(TensorBackendError, ValueError):
    """A file that does not match its name or header."""


class DeallocatedError(TensorBackendError, RuntimeError):
    """A tensor whose data was released by `backend_transfer` or `backend_deallocate`."""


class TemplateDataError(TensorBackendError, TypeError):
    """Data was requested from a template tensor, which has none."""


class GradientError(TensorBackendError, ValueError):
    """A gradient through an op without one."""


class ConvergenceError(TensorBackendError, ArithmeticError):
    """An iteration did not converge, and `raise_on_failure` was set."""


class ContractError(TensorBackendError, AssertionError):
    """A backend broke the contract of a callback: found in checked mode, or by an unexpected error."""

    def __init__(self, text: str, *, breach: Literal["payload", "mutation", "exception"] = "payload") -> None:
        super().__init__(text)
        self.breach = breach
        """The mistake of the backend: it gave something else than its template says, changed an input, or raised
        another library's error, which is the cause of this one."""


class FaultyVersionWarning(UserWarning):
    """The installed version of an array library is known to compute wrong results."""


class RecompilationWarning(UserWarning):
    """A function of `jit` was compiled separately for many shapes, or for many values of an option."""


def expected(expectation: str, remedy: str = "", /, **came: object) -> str:
    """Return the text of an error: what was expected, what was passed and its value, and finally the remedy.

    Parameters
    ----------
    expectation : str
        What was expected.
    remedy : str, optional
        What the user can do.
    **came
        The values that were passed, by the names of their parameters.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> expected("an axis below 2", "count axes from 0", axis=5)
    'expected an axis below 2, got axis=5; count axes from 0'
    """
    got = ", ".join(f"{name}={shown(value)}" for name, value in came.items())
    text = f"expected {expectation}, got {got}" if came else f"expected {expectation}"
    return f"{text}; {remedy}" if remedy else text


def shown(value: object) -> str:
    """Return a value as an error shows it: its `repr`, truncated if it is long or deep.

    A tensor is shown by its template, so that the text is the same on every backend. An int that Python refuses to
    format is shown by its size.

    Parameters
    ----------
    value
        Anything.

    Returns
    -------
    str
        The text, short for any value.

    Examples
    --------
    >>> shown((2, 10**5000))
    '(2, <int of 16610 bits>)'
    """
    try:
        return _SHORT.repr(value)
    except Exception:  # whatever a stranger's `__repr__` raises
        return f"<{type(value).__name__}>"


class _Short(Repr):
    """Writes values in few characters."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 4
        self.maxtuple = self.maxlist = self.maxdict = self.maxset = self.maxfrozenset = 64
        self.maxstring = self.maxlong = self.maxother = 400

    def repr_int(self, value: int, level: int) -> str:
        """An int, or the size of one that Python refuses to write."""
        try:
            return repr(value)
        except ValueError:  # more digits than `sys.get_int_max_str_digits()`
            return f"<{type(value).__name__} of {value.bit_length()} bits>"

    def repr_instance(self, value: Any, level: int) -> str:
        """A tensor and an array that holds one by the template, a named tuple by its parts, others on one line."""
        if isinstance(value, int):
            return self.repr_int(value, level)
        of_python = getattr(type(value).__repr__, "__module__", "") == "collections"  # none that a named tuple defines
        if of_python and (fields := getattr(value, "_fields", ())):
            parts = [f"{name}={self.repr1(getattr(value, name), level - 1)}" for name in fields if level > 0]
            return f"{type(value).__name__}({', '.join(parts or ['...'])})"
        held = None if isinstance(value, type) else getattr(value, "tensor", value)
        template = getattr(held, "template", None)
        return " ".join(super().repr_instance(value if template is None else template, level).split())


_SHORT = _Short()
