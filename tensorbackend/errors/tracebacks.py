"""Tracebacks that end at the user's line.

An error keeps all of its frames. The frames of this package are omitted only when an error is shown:

- by Python's hooks for uncaught errors, in any thread: `install` puts our hooks before them;
- by IPython, which calls a method of the error (`_render_traceback_`);
- by pytest, which reads a variable of each frame (`__tracebackhide__`).

So a call that succeeds has no overhead, and debuggers and loggers see all frames. With `TENSORBACKEND_TRACEBACK=full`
in the environment nothing is omitted.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import CodeType, FrameType, TracebackType
from typing import Any, Final, TypeVar

from .hints import rows

_ours: list[str] = []
"""The folders of this package and of those that count as part of it."""
_NOT_FOUND: Final = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
"""The text of Python's error of an import from a module; only newer versions of Python have the name by itself."""
_LIBRARIES: Final = (f"{os.path.dirname(os.__file__)}{os.sep}", "<frozen ")
_CALLED: Final = {"numpy", "jax", "jaxlib", "cupy", "scipy", "opt_einsum", "ml_dtypes"}
"""The packages that this one calls, whose frames are of no more use than its own."""

_names: Final[dict[int, tuple[str, CodeType]]] = {}
"""The names of public functions in errors, by the `id` of their code, as the codes of two ops may be equal. Thus a call
that succeeds needs no frame around it."""
_copies: Final[dict[tuple[int, str], CodeType]] = {}
"""The copies of codes for a second name, by the `id` of the first code, which `_names` keeps."""

Function = TypeVar("Function", bound=Callable[..., Any])


@cache
def is_ours(file: str) -> bool:
    """Whether a file of code is one of this package."""
    return file.startswith(tuple(_ours))


def count_as_ours(file: str) -> None:
    """Counts the code in a file's folder as this package's: its frames are not the user's, nor are its lines.

    A package of adapters or importers calls it once, when it is imported.

    Parameters
    ----------
    file : str
        The package's `__file__`.

    Examples
    --------
    >>> from tensorbackend.extending import count_as_ours
    >>> count_as_ours("/nowhere/adapter/__init__.py")
    """
    _ours.append(f"{os.path.dirname(file)}{os.sep}")  # a name may begin with that of another package
    is_ours.cache_clear()


count_as_ours(os.path.dirname(__file__))  # this module is in a folder of the package


def wants_all() -> bool:
    """Whether the user requests all frames."""
    return os.environ.get("TENSORBACKEND_TRACEBACK") == "full"


def visible(error: BaseException, *, defect: bool = True) -> TracebackType | None:
    """Return the traceback of an error without the frames of this package and of what it calls; `None` if none remains.

    Parameters
    ----------
    error : BaseException
        An error that was raised.
    defect : bool, default True
        Whether an error that comes from this package, but is not one of `tensorbackend.errors`, counts as a defect,
        which keeps all of its frames.
    """
    kept, inside = [], False
    for trace, inside in _frames(error):
        if not inside:
            kept.append(trace)
    if inside and defect and not _is_deliberate(error):
        return error.__traceback__
    visible_trace: TracebackType | None = None
    for entry in reversed(kept):
        visible_trace = TracebackType(visible_trace, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return visible_trace


def has_user_frame(error: BaseException) -> bool:
    """Whether an error that this package caught was raised in a call by other code, such as a function of the user."""
    return any(not inside for _, inside in _frames(error))


def _frames(error: BaseException) -> Iterator[tuple[TracebackType, bool]]:
    """The entries of an error's traceback, and whether each is of this package or of what this package calls."""
    trace, inside = error.__traceback__, False
    while trace is not None:
        inside = is_ours(trace.tb_frame.f_code.co_filename) or (inside and _is_library(trace.tb_frame))
        yield trace, inside
        trace = trace.tb_next


def _is_library(frame: FrameType) -> bool:
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return package in _CALLED or (
        frame.f_code.co_filename.startswith(_LIBRARIES) and "site-packages" not in frame.f_code.co_filename
    )


def _is_deliberate(error: BaseException) -> bool:
    return hasattr(error, "_render_traceback_")


@contextmanager
def shorten_tracebacks(error: BaseException) -> Iterator[None]:
    """While the block runs, leave only the user's frames in the tracebacks of an error and of its causes."""
    chain = list(_chain(error, set()))
    before = [link.__traceback__ for link in chain]
    defect = not any(map(_is_deliberate, chain))  # the cause of an error that is raised on purpose is not a defect
    for link in [] if wants_all() else chain:
        short = visible(link, defect=defect)
        # If no frame is left, a cause shows its last line alone, which is enough; the error itself keeps its frames.
        link.__traceback__ = short if short is not None or link is not error else link.__traceback__
    try:
        yield
    finally:
        for link, trace in zip(chain, before, strict=True):
            link.__traceback__ = trace


def _chain(error: BaseException, seen: set[int]) -> Iterator[BaseException]:
    """An error, its causes as Python shows them, and the members of an error group."""
    if id(error) in seen:
        return
    seen.add(id(error))
    yield error
    context = None if error.__suppress_context__ else error.__context__
    for related in (error.__cause__, context, *getattr(error, "exceptions", ())):
        if isinstance(related, BaseException):
            yield from _chain(related, seen)


def render_for_ipython(error: BaseException) -> list[str]:
    """The lines that IPython shows for an error."""
    # IPython is imported, as it calls this.
    shell: Any = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    with shorten_tracebacks(error):
        kind, trace = type(error), error.__traceback__
        if shell is None:
            from traceback import format_exception

            return format_exception(error)
        # In a cell the first frame is IPython's own.
        lines: list[str] = shell.InteractiveTB.structured_traceback(kind, error, trace, tb_offset=1)
        return lines


def name_in_errors(function: Function, name: str = "") -> Function:
    """Registers the name of a public function, which `mark` finds for the errors raised in a call of it; returns it.

    The name belongs to the function's code. Functions that share code, as `jacobian` and `hessian` make them, get a
    copy of it for each name.
    """
    named: Any = function
    name = name or named.__name__
    code = named.__code__
    if _names.setdefault(id(code), (name, code))[0] != name:
        if (copy := _copies.get((id(code), name))) is None:
            copy = _copies[id(code), name] = code.replace(co_name=name)
            _names[id(copy)] = name, copy
        named.__code__ = copy
    return function


def mark() -> str | None:
    """Tell pytest to omit the current frames of this package.

    Returns the name of the function that the user's code called, if `name_in_errors` knows it.
    """
    name, inside = None, True
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_ours(frame.f_code.co_filename):
            frame.f_globals["__tracebackhide__"] = _is_hidden
            if inside:
                name, _ = _names.get(id(frame.f_code), (name, None))
        elif inside and not _is_library(frame):
            inside = False
        frame = frame.f_back
    return name


def _is_hidden(exception_info: Any) -> bool:
    """Whether pytest omits a frame of this package."""
    return not wants_all() and (exception_info is None or _is_deliberate(exception_info.value))


def _is_of_package(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == __name__.partition(".")[0]


def advise(error: BaseException) -> None:
    """Add a note to an error of Python's about what a function, a tensor or a module of this package lacks.

    They themselves cannot answer: a function has no `__getattr__`, one of tensors would be slow, and an import drops
    what that of a module says.
    """
    if isinstance(error, ImportError):
        _advise_on_import(error)
    if not isinstance(error, AttributeError) or _is_deliberate(error):
        return
    name, owner = error.name, error.obj
    code, remedy = getattr(owner, "__code__", None), None
    if code is not None and is_ours(code.co_filename):
        function = getattr(owner, "__name__", "")
        own = rows(f"results.{function}").get(str(name))
        remedy = own or (rows("ufuncs")[str(name)].format(function) if name in rows("ufuncs") else None)
    elif _is_of_package(type(owner)) and not isinstance(owner, type) and name in getattr(owner, "names", ()):
        remedy = f"x.isel({name}=0) for an entry along the axis; axes have no labels"
    if remedy is not None and not hasattr(error, "__notes__"):
        error.add_note(f"write {remedy}")


def _advise_on_import(error: ImportError) -> None:
    """Add the hint of an attribute to the error of an import, such as `from tensorbackend import integrate`."""
    place, _, missing = str(error.name).rpartition(".")
    named = _NOT_FOUND.match(str(error))
    if named is not None:
        missing, place = named.groups()
    module = sys.modules.get(place)
    if module is None or not is_ours(getattr(module, "__file__", "") or "") or hasattr(error, "__notes__"):
        return
    try:
        getattr(module, missing)
    except AttributeError as absent:
        _, _, remedy = str(absent).partition("; ")
        if remedy:
            error.add_note(remedy)


def install() -> None:
    """Install this package's hooks for uncaught errors before Python's."""
    show, show_in_thread = sys.excepthook, threading.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
        advise(error)
        with shorten_tracebacks(error):
            show(kind, error, error.__traceback__)

    def thread_excepthook(arguments: threading.ExceptHookArgs) -> None:
        error = arguments.exc_value
        if error is None:
            show_in_thread(arguments)
            return
        advise(error)
        with shorten_tracebacks(error):
            show_in_thread(threading.ExceptHookArgs((arguments.exc_type, error, error.__traceback__, arguments.thread)))

    sys.excepthook, threading.excepthook = excepthook, thread_excepthook
