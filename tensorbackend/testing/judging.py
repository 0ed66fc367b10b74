"""Judges a random program on a backend: run op by op and compiled, against the reference, as ops are."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from ..errors import TensorBackendError, UnsupportedOp
from ..expr.comparing.compiled import CompiledSide
from ..expr.comparing.walk import computed, trace_for
from ..expr.jit import jit
from ..expr.trees import flatten
from ..ops.creation.filled import from_binary
from ..protocol import Backend
from ..select import default_backend, get_backend
from ..tensor import Tensor
from .failures import Disagreement
from .program_source import FILE, Program

SAMPLES: Final = 48
"""How often a program is run with moved results before a difference counts: by `compare` a few times, to begin with."""

SHRINKING: Final = 60.0
"""The seconds after the first failure in which smaller programs are looked for."""


class Judge:
    """Judges programs on one backend, each once: hypothesis runs a program that fails again."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.known: dict[str, Exception | bool] = {}
        self.failed: float | None = None

    def __call__(self, program: Program) -> bool:
        """Whether a program could be compared; raises `Disagreement` for one that is wrong on the backend, and
        `UnsupportedOp` for one that it cannot run."""
        key = repr((program.source, program.slopes, [text for _, text, _ in program.inputs]))
        if key not in self.known:
            if self.failed is not None and time.monotonic() - self.failed > SHRINKING:
                return True
            try:
                self.known[key] = judge_program(program, self.backend)
            except (Disagreement, UnsupportedOp) as error:
                self.known[key] = error
                if isinstance(error, Disagreement) and self.failed is None:
                    self.failed = time.monotonic()
        found = self.known[key]
        if isinstance(found, Exception):
            raise found
        return found


def judge_program(program: Program, backend: Backend) -> bool:
    """Whether a program is right on a backend, op by op and compiled, each twice; raises `Disagreement` if not.

    The reference is NumPy, as programs take long on BinaryBackend; NumPy itself is judged by that. It is `False` for a
    program that cannot be traced, as it looks at data, or has no gradient.
    """
    home = get_backend("binary" if backend.name == "numpy" else "numpy")
    function = program.function()
    with default_backend(home):
        inputs = [from_binary(x.to_binary(), x.template, home) for _, _, x in program.inputs]
        try:
            graph, tensors, _ = trace_for(function, inputs, {}, gradient=False, lift=False)
        except TensorBackendError:
            return False

    for compiled in (False, True):
        side: CompiledSide | None = None
        run = jit(function) if compiled else function
        for _ in range(2):
            got = _results(program, run, backend, compiled)
            if side is None:
                side = CompiledSide(graph, tensors, home, partial(computed, home), backend, compiles=compiled)
            _compare(program, side, got, backend)
    return True


def _results(program: Program, run: Callable[..., Any], backend: Backend, compiled: bool) -> list[Tensor]:
    """The results of a program on a backend; raises for an exception, and for an input that the program changes."""
    with default_backend(backend):
        inputs = [from_binary(x.to_binary(), x.template, backend) for _, _, x in program.inputs]
        try:
            found: list[Tensor] = flatten(run(*inputs))[0]
        except UnsupportedOp:
            raise
        except Exception as error:  # the reference raises none
            text = f"{_way(compiled)}, the program raises {type(error).__name__}: {error}"
            raise _wrong(program, "exception", text, backend, compiled) from error
    for x, (name, _, original) in zip(inputs, program.inputs, strict=True):
        if x.to_binary() != original.to_binary():
            raise _wrong(program, "mutation", f"{_way(compiled)}, the program changes {name}", backend, compiled)
    return found


def _compare(program: Program, side: CompiledSide, got: Sequence[Tensor], backend: Backend) -> None:
    """Raises `Disagreement` for a result with another template, or farther off than the ops of the program explain."""
    wanted = [value.template for value in side.graph.outputs]
    found = [x.template for x in got]
    if found != wanted:
        text = f"{_way(side.compiles)}, expected results of {wanted}, got {found}"
        raise _wrong(program, "template", text, backend, side.compiles)
    if not side.wrong(side.graph.outputs, got):
        return
    side.sample_again(SAMPLES)
    wrong = side.wrong(side.graph.outputs, got)
    if not wrong:
        return
    difference = side.first_wrong(wrong[0][0], got)
    text = difference.describe((side.home.name, backend.name))
    line = difference.line
    if line is not None and line.file == FILE:
        text = text.replace(f"at {line}", f"in `{program.source.splitlines()[line.number - 1].strip()}`", 1)
    raise _wrong(program, "value", f"{_way(side.compiles)}, wrong first in {text}", backend, side.compiles)


def _way(compiled: bool) -> str:
    return "compiled" if compiled else "op by op"


def _wrong(program: Program, kind: Any, text: str, backend: Backend, compiled: bool) -> Disagreement:
    return Disagreement(
        kind, text, subject=f"a program on {backend.name}", script=program.script(backend, compiled=compiled)
    )
