"""NumPy's modules for what tensors cannot hold, by their names here, as in `np.lib.recfunctions`.

Texts, fields, masks, files and addresses are NumPy's own arrays, so these modules are NumPy's own too. What NumPy has
and this namespace does not is named here as well, with what to write instead.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

NAMES: Final = frozenset({
    "_globals", "char", "ctypeslib", "lib.format", "lib.introspect", "lib.mixins", "lib.npyio", "lib.recfunctions",
    "lib.user_array", "ma", "ma.core", "ma.extras", "ma.mrecords", "ma.testutils", "matlib", "matrixlib",
    "matrixlib.defmatrix", "rec", "strings", "version",
})  # fmt: skip
"""The modules, as they are named in NumPy."""

PREFIX: Final = f"{__package__}."
"""What stands before these names here."""


def host_module(name: str) -> ModuleType:
    """Return a module of `NAMES`, imported under its name here."""
    return import_module(PREFIX + name)


class HostModules:
    """Finds the modules of `NAMES`, of which each is NumPy's module under a second name.

    The classes of `importlib.abc`, which it needs not inherit from, take long to import.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to import a module; `None` for any other."""
        if fullname.startswith(PREFIX) and fullname.removeprefix(PREFIX) in NAMES:
            return ModuleSpec(fullname, self, is_package=True)  # type: ignore[arg-type] # by its methods a loader
        return None

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python to make a new module."""

    def exec_module(self, module: ModuleType) -> None:
        """Put NumPy's module in the place of a new one."""
        name = module.__name__
        sys.modules[name] = import_module(f"numpy.{name.removeprefix(PREFIX)}")


# The first, or `ma.core` would be made once more, from the file in the path of NumPy's `ma`.
sys.meta_path.insert(0, HostModules())


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
