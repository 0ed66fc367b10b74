"""Unsupported names of NumPy, with what to write instead."""

from __future__ import annotations

from typing import Final

_ADVICE: Final = {
    "use two-dimensional arrays": "mat",
    "use np.char.chararray": "chararray",
    "use np.nditer, or nested loops": "nested_iters",
    "use float64": "float96",
    "use complex128": "complex192",
    "use np.lib.stride_tricks.as_strided": "as_strided",
    "warnings are NumPy's own for its numbers; arrays raise none": "seterrcall geterrcall getbufsize setbufsize",
}


def advice(name: str) -> str | None:
    """What to write instead of a name of NumPy's; `None` for a name that NumPy does not have either.

    >>> advice("nested_iters")
    'use np.nditer, or nested loops'
    """
    return next((remedy for remedy, names in _ADVICE.items() if name in names.split()), None)


def missing_name_error(name: str, module: str) -> AttributeError:
    """The error for a name that a module does not have, with what to write instead."""
    text = f"module {module!r} has no attribute {name!r}"
    remedy = advice(name)
    return AttributeError(f"{text}; {remedy}" if remedy else text, name=name)
