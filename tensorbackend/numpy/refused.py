"""Unsupported names of NumPy, with what to write instead."""

from __future__ import annotations

from typing import Final

_ADVICE: Final = {
    "use a dictionary of arrays, as there are no structured dtypes": "rec record recarray void",
    "use lists of texts, as there are no dtypes of texts": "char chararray strings str_ bytes_ character",
    "use lists, as there are no arrays of objects": "object_",
    "use integer arrays that count days or seconds": "datetime64 timedelta64 datetime_as_string datetime_data "
    "busday_count busday_offset busdaycalendar is_busday isnat",
    "use a mask of bools, with np.where or the where= of reductions": "ma",
    "use two-dimensional arrays": "matrix asmatrix bmat mat",
    "use np.load, or a tensor that shares the memory of a numpy.memmap": "memmap",
    "use np.nditer, or nested loops": "nested_iters",
    "use float64": "longdouble float128 float96",
    "use complex128": "clongdouble complex256 complex192",
    "use np.vectorize": "frompyfunc",
    "use np.lib.stride_tricks.as_strided": "as_strided",
    "warnings are NumPy's own for its numbers; arrays raise none": "seterrcall geterrcall getbufsize setbufsize",
    "use the result of np.asarray": "fromregex",
}


def advice(name: str) -> str | None:
    """What to write instead of a name of NumPy's; `None` for a name that NumPy does not have either.

    >>> advice("matrix")
    'use two-dimensional arrays'
    """
    return next((remedy for remedy, names in _ADVICE.items() if name in names.split()), None)


def missing_name_error(name: str, module: str) -> AttributeError:
    """The error for a name that a module does not have, with what to write instead."""
    text = f"module {module!r} has no attribute {name!r}"
    remedy = advice(name)
    return AttributeError(f"{text}; {remedy}" if remedy else text, name=name)
