"""Which ops have a gradient, derived from the declarations; the documentation and the tests use it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from inspect import Parameter
from itertools import product
from typing import Any

from ...declarations.op_specs import OpSpec
from ...dtypes import DType, bool_, complex64, float32, int64
from ...errors import DTypeError, TensorBackendError
from ...template import Template, intern_template
from ..node import Node
from . import rules as rules
from .registry import gradient_of, gradients


@cache
def needs_gradient(spec: OpSpec) -> bool:
    """Whether an op computes inexact results from inexact operands, so that its gradient must be declared.

    Calls the function of the op on small templates. The answer is yes for composites, and if no templates are valid.
    """
    if spec.kind == "composite":
        return True
    tensors = [parameter for parameter in spec.parameters if parameter.role != "option"]
    if not tensors:
        return False
    known = False
    for inexact in (float32, complex64):
        for dtypes in product((inexact, int64, bool_), repeat=len(tensors)):
            try:
                plan = spec.function(*small_arguments(spec, dtypes))
            except DTypeError:
                known = True
                continue
            except (TypeError, TensorBackendError):
                continue
            known = True
            outs = (plan.out,) if isinstance(plan.out, Template) else plan.out
            if any(dtype.is_inexact for dtype in plan.inputs) and any(out.dtype.is_inexact for out in outs):
                return True
    return not known


def small_arguments(spec: OpSpec, dtypes: Sequence[DType], dtype: DType | None = None) -> Iterator[Any]:
    """Arguments to try a rule with: small square templates, one for each tensor parameter.

    With a `dtype` also that or 1 for an option without a default.
    """
    defaults, rest = spec.signature.parameters, iter(dtypes)
    for parameter in spec.parameters:
        if parameter.role != "option":
            template = intern_template((2, 2), next(rest), (None, None))
            yield (template,) if parameter.role == "tensors" else template
        elif dtype and parameter.kind == "positional" and defaults[parameter.name].default is Parameter.empty:
            yield dtype if parameter.meaning == "dtype" else 1


def flows(node: Node) -> bool:
    """Whether a node computes inexact results from inexact operands."""
    operands = any(value.template.dtype.is_inexact for value in node.operands)
    return operands and any(out.dtype.is_inexact for out in node.outs)


def is_declared(node: Node) -> bool:
    """Whether the gradient of a node's op is declared, or none is needed."""
    return node.op in gradients or not flows(node)


def gradient_support(spec: OpSpec) -> str:
    """How an op is differentiated, in words.

    >>> from tensorbackend.declarations.op_specs import OPS
    >>> gradient_support(OPS["matmul"]), gradient_support(OPS["dot"]), gradient_support(OPS["equal"])
    ('by its parts', 'yes', '')
    """
    gradient = gradient_of(spec.callback)
    if gradient is not None:
        return "yes" if gradient.rule else f"no: {gradient.reason}" if gradient.reason else "zero"
    if spec.kind == "composite":
        return "by its parts"
    return "undeclared" if needs_gradient(spec) else ""
