"""Calls of each public function and class with too many arguments, and with none: the errors are the library's own."""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from tensorbackend.dtypes import DType
from tensorbackend.errors import TensorBackendError
from tensorbackend.errors.tracebacks import visible

SPACES = ("", "linalg", "fft", "nn", "random", "sparse", "ragged", "solvers", "optimize", "checkpoints", "quantized")

PYTHONS_OWN = {
    "settings": "autocast backends caches clear_caches current_tape default_dtype finfo get_backend "
    "get_precision iinfo precision scoped_backend set_precision",
    "operators": "getitem setitem",
    "decorators": "composite primitive",
    "what users are given": "Cache DType Device Profile linalg.EigResult linalg.EighResult linalg.LUResult "
    "linalg.LstsqResult linalg.QRResult linalg.SVDResult linalg.SlogdetResult nn.BatchNormResult nn.Decoded "
    "nn.GRUResult nn.LSTMResult "
    "ragged.Unrolled solvers.Eigenpairs solvers.Solution solvers.Trajectory optimize.LeastSquares optimize.Minimum "
    "optimize.Root",
    "fast functions, without any argument": "asarray cbrt concat logical_and logical_or logical_xor",
}
"""What leaves a wrong number of arguments to Python: settings, of layers below the declarations; what would become
slower; what decorators are never given; and results, which no user makes."""

LEFT = {name for names in PYTHONS_OWN.values() for name in names.split()}


def public() -> dict[str, Any]:
    """The public functions and classes, by name; not exceptions."""
    found: dict[str, Any] = {}
    for space in SPACES:
        module = import_module(f"tensorbackend.{space}".rstrip("."))
        for name in dir(module):
            value = getattr(module, name)
            ours = str(getattr(value, "__module__", "")).startswith("tensorbackend")
            raised = isinstance(value, type) and issubclass(value, BaseException)
            if callable(value) and not isinstance(value, DType) and name[0] != "_" and ours and not raised:
                found.setdefault(f"{space}.{name}".lstrip("."), value)
    return found


def most(value: Any) -> int | None:
    """The number of arguments that a function takes by position; `None` if any."""
    try:
        parameters = [p for p in inspect.signature(value).parameters.values() if p.annotation != "Never"]
    except ValueError:
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def wrong(value: Any, arguments: list[Any]) -> str:
    """What is wrong with the error of a call; an empty text if nothing, or if there is no error."""
    try:
        value(*arguments)
    except TensorBackendError as error:
        trace = visible(error)
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if trace is None or trace.tb_frame.f_code.co_filename != __file__:
            return "does not end at the line of the call"
        text, name = str(error), value.__name__
        return "" if text.startswith(f"{name}: expected ") else text
    except TypeError as error:
        return f"TypeError: {error}"
    return ""


@pytest.mark.parametrize("surplus", [True, False])
def test_a_wrong_number_of_arguments_is_an_error_of_the_library(surplus: bool) -> None:
    found = {}
    for name, value in public().items():
        count = most(value)
        library = {"CupyBackend": "cupy", "JaxBackend": "jax"}.get(name)
        needs_more = library is not None and not surplus and find_spec(library) is None  # no argument, but its library
        if name in LEFT or needs_more or (surplus and count is None):
            continue
        text = wrong(value, [object()] * (count + 1) if surplus and count is not None else [])
        if text:
            found[name] = text
    assert found == {}


def test_what_is_left_to_python_is_left_to_it() -> None:
    values = public()
    unneeded = [
        name
        for name in LEFT
        if not any(wrong(values[name], [object()] * count).startswith("TypeError") for count in (0, 60))
    ]
    assert unneeded == [], "take out what needs to be listed no longer"
