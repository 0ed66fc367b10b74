"""Rougier's NumPy exercises on `tensorbackend.numpy`: how many answers print and compute what they do with NumPy.

    python benchmarks/numpy_exercises.py CHECKOUT

CHECKOUT is a checkout of https://github.com/rougier/numpy-100. Each answer runs with NumPy and with the namespace in
its place, random numbers by NumPy's own stream from one seed. What it prints and the variables that it leaves are
compared.
"""

from __future__ import annotations

import io
import re
import sys
import warnings
from contextlib import redirect_stdout
from inspect import isfunction
from pathlib import Path
from typing import Any

import numpy

import tensorbackend.numpy as ours

_EARLIER: dict[str, dict[str, Any]] = {}
"""The functions that earlier answers defined, which later ones call."""


def answers(checkout: Path) -> dict[int, str]:
    """Return the code of each answer, by its number."""
    text = (checkout / "source" / "exercises100.ktx").read_text()
    parts = re.split(r"^< ", text, flags=re.M)
    return {
        int(part[1:].split("\n", 1)[0]): part.split("\n", 1)[1].strip() for part in parts if re.match(r"a\d+\n", part)
    }


def run(code: str, np: Any) -> tuple[str, dict[str, Any]]:
    """Return what an answer prints, and the variables that it leaves."""
    code = re.sub(r"^(\s*)import numpy as np.*$", r"\1pass", code, flags=re.M)
    code = re.sub(
        r"^(\s*)from numpy\.lib import stride_tricks", r"\1stride_tricks = np.lib.stride_tricks", code, flags=re.M
    )
    code = re.sub(
        r"^(\s*)from numpy\.lib\.stride_tricks import (\w+)", r"\1\2 = np.lib.stride_tricks.\2", code, flags=re.M
    )
    tricks = np.lib.stride_tricks
    scope: dict[str, Any] = {"np": np, "__name__": "__main__", **_EARLIER.get(np.__name__, {})}
    scope |= {"stride_tricks": tricks, "sliding_window_view": tricks.sliding_window_view}
    printed = io.StringIO()
    np.random.seed(0)
    numpy.set_printoptions(
        edgeitems=3, infstr="inf", linewidth=75, nanstr="nan", precision=8, suppress=False, threshold=1000
    )
    with redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(code, scope)
    _EARLIER.setdefault(np.__name__, {}).update({name: each for name, each in scope.items() if isfunction(each)})
    return printed.getvalue(), {
        name: value for name, value in scope.items() if not name.startswith("_") and name not in ("np", "tricks")
    }


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal, where they are arrays or numbers; other values are not compared."""
    if isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if not isinstance(other, numpy.ndarray | numpy.generic | int | float):
        return True
    if isinstance(other, numpy.ndarray | numpy.generic) and other.dtype.kind not in "biufc":
        return True
    x = numpy.asarray(one)
    return x.shape == numpy.shape(other) and bool(numpy.allclose(x, other, rtol=1e-6, atol=1e-9, equal_nan=True))


def main(arguments: list[str]) -> None:
    """Prints the answers that fail, with the reason, and how many are right."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        raise SystemExit("numpy_exercises: expected one argument, a checkout of https://github.com/rougier/numpy-100")
    right, tried = 0, 0
    for number, code in sorted(answers(Path(arguments[0])).items()):
        if code.startswith("%") or "No solution" in code:
            continue
        tried += 1
        try:
            text, variables = run(code, numpy)
        except Exception as error:  # an answer of an older NumPy
            print(f"{number}: NumPy itself: {type(error).__name__}: {str(error)[:90]}")
            tried -= 1
            continue
        try:
            with ours.random.numpy_stream():
                our_text, our_variables = run(code, ours)
        except Exception as error:  # whatever an answer raises
            print(f"{number}: {type(error).__name__}: {str(error).splitlines()[0][:150]}")
            continue
        wrong = [name for name, value in variables.items() if not same(our_variables.get(name), value)]
        if wrong or (our_text != text and "time" not in code):
            line = next(
                (f"{a!r} for {b!r}" for a, b in zip(our_text.splitlines(), text.splitlines(), strict=False) if a != b),
                "",
            )
            print(f"{number}: another result: {', '.join(wrong)} {line[:150]}")
            continue
        right += 1
    print(f"{right} of {tried} answers are right")


if __name__ == "__main__":
    main(sys.argv[1:])
