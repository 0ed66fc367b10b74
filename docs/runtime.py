"""An extension of Griffe, which reads the package's source for the reference: what only the running package knows.

The docstring of an op gets its sections where the op is declared, and the function that declares a primitive is a rule
of templates. So an op has the docstring and the types of the function that users call.
"""

from __future__ import annotations

import re
from importlib import import_module
from inspect import getdoc, signature
from typing import Any, Final, get_args

import griffe

COMPLETED: Final = ("tensorbackend.ops.", "tensorbackend.ragged.")
"""The packages whose docstrings are completed at run time."""

OF_RULES: Final = {
    "Template": "TensorLike",
    "Template | None": "TensorLike | None",
    "Sequence[Template]": "Sequence[TensorLike]",
}
"""What users pass where a rule takes templates."""


class Runtime(griffe.Extension):
    """Takes docstrings and types of ops from the functions as they run."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Completes the docstring of a module, class or function."""
        if obj.docstring is None:
            return
        module = obj.parent
        if isinstance(obj, griffe.Function) and isinstance(module, griffe.Module) and obj.path.startswith(COMPLETED):
            value = getattr(import_module(module.path), obj.name)
            obj.docstring.value = getdoc(value) or ""
            _retype(obj, value)
        obj.docstring.value = with_examples(obj.docstring.value)


def with_examples(text: str) -> str:
    """A docstring whose examples are in a section.

    >>> with_examples("One.\\n\\n>>> 1\\n1").splitlines()
    ['One.', '', 'Examples', '--------', '>>> 1', '1']
    """
    if re.search(r"^Examples\n-+$", text, re.MULTILINE):
        return text
    return re.sub(r"^>>> ", "Examples\n--------\n>>> ", text, count=1, flags=re.MULTILINE)


def _retype(declared: griffe.Function, value: Any) -> None:
    """Gives a primitive the types of its public function in place of those of its rule."""
    for parameter in declared.parameters:
        parameter.annotation = OF_RULES.get(str(parameter.annotation), parameter.annotation)
    if "Plan" in str(declared.returns):
        returned = signature(value).return_annotation
        declared.returns = " | ".join(variant.__name__ for variant in get_args(returned)) or returned.__name__
