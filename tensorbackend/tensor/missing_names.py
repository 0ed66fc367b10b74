"""The errors for names that a namespace or a tensor lacks, with what to write instead."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from ..errors import MissingNameError
from ..errors.foreign_attributes import OF_TENSORS
from ..errors.foreign_names import ADVICE, SYNONYMS, advice, fold
from ..registration import SuppliedFunction

find_public: SuppliedFunction[Callable[[str], str | None]] = SuppliedFunction(lambda name: None)
"""The public name, such as `"linalg.qr"`, of what is called `name` in the package or in one of its namespaces."""


def missing_name_error(name: str, space: str, *, obj: object) -> MissingNameError:
    """Return the error for a name that a namespace does not have.

    Parameters
    ----------
    name : str
        The name.
    space : str
        The namespace, such as `"linalg"`; empty for the package itself.
    obj
        The namespace's module.

    Returns
    -------
    MissingNameError
        The error, which says what to write instead if that is known.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> raise missing_name_error("pinverse", "linalg", obj=tb.linalg)
    Traceback (most recent call last):
    tensorbackend.errors.MissingNameError: module 'tensorbackend.linalg' has no attribute 'pinverse'; write \
tb.linalg.pinv(x)
    """
    package = __name__.partition(".")[0]
    text = f"module {f'{package}.{space}' if space else package!r} has no attribute {name!r}"
    remedy = None if name.startswith("_") else advice(name, space)
    if remedy is None and not name.startswith("_"):
        alike = next((other for other in dir(obj) if fold(other) == fold(name)), None)
        public = find_public.call(name) if alike is None else f"{space}.{alike}".lstrip(".")
        remedy = None if public is None else f"tb.{public}"
    return MissingNameError(f"{text}; write {remedy}" if remedy else text, name=name, obj=obj)


def missing_names(module: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a namespace without names that are imported late: each is an error.

    Parameters
    ----------
    module : str
        The name of the module.

    Returns
    -------
    Callable
        Raises `MissingNameError`.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> hasattr(tb.fft, "convolve")
    False
    """

    def get(name: str) -> NoReturn:
        raise missing_name_error(name, module.partition(".")[2], obj=sys.modules[module])

    return get


class MissingAttribute:
    """An attribute that tensors do not have, but those of other libraries do: to read it is an error with a remedy.

    A class with a `__getattr__` would make every look-up of an optional protocol slower; this costs nothing.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: object, owner: type) -> NoReturn:
        text = f"{owner.__name__!r} object has no attribute {self.name!r}"
        public = None if self.name in OF_TENSORS else find_public.call(self.name)
        remedy = advice(self.name, "Tensor") if public is None else f"tb.{public}(x, ...)"
        raise MissingNameError(f"{text}; write {remedy}" if remedy else text, name=self.name, obj=tensor)


class MissingAttributes:
    """The base class of `Tensor` that has them; what a tensor does have comes first."""

    __slots__ = ()


def explain_attributes(names: Iterable[str]) -> None:
    """Adds names that people look for among the attributes of a tensor."""
    for name in names:
        if name not in vars(MissingAttributes):
            setattr(MissingAttributes, name, MissingAttribute(name))


explain_attributes((*OF_TENSORS, *SYNONYMS, *ADVICE))


def existing(owner: type, names: Iterable[str]) -> list[str]:
    """The names of the attributes that a class with `MissingAttributes` has, for its `__dir__`."""
    from inspect import getattr_static  # slow to import, and only prompts and documentation need it

    return [name for name in names if not isinstance(getattr_static(owner, name, None), MissingAttribute)]
