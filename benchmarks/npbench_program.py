"""One program of NPBench on one backend: is it right, what does it take, is its gradient right. See npbench.py."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from time import process_time
from types import FrameType, ModuleType
from typing import Any

import numpy as np

import tensorbackend as tb
import tensorbackend.numpy as tbnp

TRACING = 10.0
"""The processor seconds that the first compiled call may take on NumPy's memory, where it is mostly tracing."""

FEW = 5
"""How many runs a program gets, unless they take more than so many times the seconds that are meant for them."""

STEPS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
"""Steps of the differences, relative to the operands; the best counts, as each program is smooth at another scale."""


class Late(BaseException):
    """More processor time was used than a part of a measurement may take."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stops what runs in the block with `Late` after so many processor seconds."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Late

    main, end, done = threading.get_ident(), process_time() + seconds, threading.Event()

    def watch() -> None:
        # A timer of the system would make the clock of the process coarse. An error in a finaliser is lost: repeat it.
        while not done.wait(0.2):
            if process_time() > end:
                signal.pthread_kill(main, signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, stop)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        signal.signal(signal.SIGUSR1, before)


def module(path: Path, name: str) -> ModuleType:
    """Return the module in a file."""
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def operands(info: Mapping[str, Any], folder: Path, preset: str) -> dict[str, Any]:
    """Return the variables of a program, by name: its parameters, and what its `initialize` gives."""
    known = dict(info["parameters"][preset])
    if init := info.get("init"):
        initialize = getattr(module(folder / f"{info['module_name']}.py", "initialize"), init["func_name"])
        given = initialize(*(known[name] for name in init["input_args"]))
        names = init["output_args"]
        known |= dict(zip(names, given if len(names) > 1 else (given,), strict=True))
    return known


Function = Callable[[list[Any]], list[Any]]


class Program:
    """A program of NPBench: a function from its arrays to its results, by NumPy and by `tensorbackend.numpy`."""

    def __init__(self, checkout: Path, name: str, preset: str) -> None:
        info = json.loads((checkout / "bench_info" / f"{name}.json").read_text())["benchmark"]
        folder = checkout / "npbench" / "benchmarks" / info["relative_path"]
        file = folder / f"{info['module_name']}_numpy.py"
        variables = operands(info, folder, preset)
        self.arguments = [variables[argument] for argument in info["input_args"]]
        self.places = [place for place, value in enumerate(self.arguments) if isinstance(value, np.ndarray)]
        ours = module(file, "ours")
        ours.np = tbnp  # type: ignore[attr-defined]
        plain = getattr(module(file, "plain"), info["func_name"])
        # Some programs write to other arrays than those that NPBench's description names.
        written = self.arrays(np.copy)
        plain(*self._with(written))
        changed = {
            place
            for place, array in zip(self.places, written, strict=True)
            if not np.array_equal(array, self.arguments[place], equal_nan=array.dtype.kind in "fc")
        }
        self.changed = sorted(changed | {info["input_args"].index(argument) for argument in info["output_args"]})
        self.plain = self._function(plain)
        self.ours = self._function(getattr(ours, info["func_name"]))

    def _function(self, program: Callable[..., Any]) -> Function:
        def function(arrays: list[Any]) -> list[Any]:
            arguments = self._with(arrays)
            result = program(*arguments)
            results = list(result) if isinstance(result, tuple) else [] if result is None else [result]
            return results + [arguments[place] for place in self.changed]

        return function

    def _with(self, arrays: list[Any]) -> list[Any]:
        """Return the arguments with these arrays."""
        arguments = list(self.arguments)
        for place, array in zip(self.places, arrays, strict=True):
            arguments[place] = array
        return arguments

    def arrays(self, convert: Callable[[Any], Any]) -> list[Any]:
        """Return new arrays for a run, which may write to them."""
        return [convert(self.arguments[place]) for place in self.places]


# Rightness and time


def waited_for(values: list[Any]) -> None:
    """Waits for the arrays among results, which a backend may still compute."""
    for value in values:
        if isinstance(value, tbnp.ndarray):
            value.tensor.block_until_ready()


def difference(expected: list[Any], results: list[Any]) -> str:
    """Return in which way results differ from NumPy's; nothing if they agree."""
    for number, (theirs, ours) in enumerate(zip(expected, results, strict=True)):
        array = np.asarray(ours)
        if array.shape != np.shape(theirs):
            return f"result {number} has the shape {array.shape}, not {np.shape(theirs)}"
        if np.allclose(array, theirs, rtol=1e-6, atol=1e-8, equal_nan=True):
            continue
        # NPBench's own measure: small elements of float32 are differences of larger ones.
        narrow = array.dtype in (np.float32, np.complex64)
        if not narrow or not np.linalg.norm(array - theirs) < 1e-5 * np.linalg.norm(theirs):
            return f"result {number} has other elements"
    return ""


def timed(function: Function, arrays: list[Any]) -> tuple[float, list[Any]]:
    """Return the processor seconds of a call, and its results."""
    start = process_time()
    results = function(arrays)
    waited_for(results)
    return process_time() - start, results


def measured(program: Program, function: Function, seconds: float, first: float, late: str) -> dict[str, Any]:
    """Return the least seconds of both sides, alternately, or the reason why there are none on ours.

    `first` is the limit of the first call, and `late` the reason if it takes longer.
    """
    expected = program.plain(program.arrays(np.copy))
    try:
        with limited(first):
            results = function(program.arrays(tbnp.array))
            waited_for(results)
    except Late:
        return {"reason": late}
    if wrong := difference(expected, results):
        return {"reason": wrong}
    # What is measured has no limit, as that takes a thread.
    times: list[tuple[float, float]] = []
    spent = 0.0
    while not times or spent < seconds or (len(times) < FEW and spent < FEW * seconds):
        theirs = timed(program.plain, program.arrays(np.copy))[0]
        ours = timed(function, program.arrays(tbnp.array))[0]
        times.append((theirs, ours))
        spent += theirs + ours
    return {"numpy": min(pair[0] for pair in times), "ours": min(pair[1] for pair in times)}


# Gradients


def weights(result: Any) -> Any:
    """Return a weight for each element of a result: no two results of programs cancel in their sum."""
    return np.cos(1.0 + np.arange(np.size(result), dtype=np.float64)).reshape(np.shape(result))


def differentiated(program: Program, longest: float) -> dict[str, Any]:
    """Return the relative error of a slope by `tb.grad`, by the measure of differences of the unchanged program.

    The function is a weighted sum of all results that are no integers, in all arrays that are none, as float64.
    """
    given = program.arrays(np.copy)
    inexact = [number for number, array in enumerate(given) if array.dtype.kind in "fc"]
    if not inexact:
        return {"reason": "no array of floating-point numbers"}
    rng = np.random.default_rng(0)
    directions = {}
    for number in inexact:
        array = given[number] = given[number].astype(np.result_type(given[number].dtype, np.float64))
        scale = np.abs(array).mean() or 1.0
        array += 0.01 * scale * rng.normal(size=array.shape)  # where data is regular, slopes are often 0
        directions[number] = scale * rng.normal(size=array.shape)

    def value(function: Function, namespace: Any, arrays: list[Any]) -> Any:
        total = 0.0
        for result in function(arrays):
            if namespace.asarray(result).dtype.kind in "fc":
                total = total + namespace.sum(namespace.real(result) * weights(result))
        return total

    def ours(moved: list[Any]) -> Any:
        arrays = [tbnp.array(array) for array in given]
        for number, array in zip(inexact, moved, strict=True):
            arrays[number] = array.copy()
        return value(program.ours, tbnp, arrays)

    def at(step: float) -> float:
        arrays = [array.copy() for array in given]
        for number in inexact:
            arrays[number] = arrays[number] + step * directions[number]
        return float(value(program.plain, np, arrays))

    try:
        with limited(longest):
            slopes = tb.grad(ours)([tbnp.array(given[number]) for number in inexact])
            slope = sum(
                float(np.sum((np.asarray(array) * directions[number]).real))
                for number, array in zip(inexact, slopes, strict=True)
            )
    except Late:
        return {"reason": f"takes more than {longest:g} s"}
    expected = [(at(step) - at(-step)) / (2 * step) for step in STEPS]
    if not np.isfinite(slope) or not np.isfinite(expected).any():
        return {"reason": f"the slope is {slope:g}, and {expected[-1]:g} by differences"}
    if not any(expected):
        return {"reason": "no result that is no integer depends on them"}
    return {"error": min(abs(slope - number) / max(abs(number), abs(slope)) for number in expected if number)}
