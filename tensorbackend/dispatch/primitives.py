"""A primitive's call: its rule gives a plan, its backend's callback a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..accuracy import Bounds
from ..operands import Call
from ..opspec import OpSpec, declare, read_parameters
from ..protocol import Backend, Kernel
from ..rules.plan import Plan
from ..select import common_backend, move
from ..template import Template
from ..tensor import Tensor, bind
from .kernels import casting, of_templates, primitive_kernel
from .path import Path, Prepared, constant
from .quick import Ready


class PrimitivePath(Path):
    """The full path of a primitive's calls."""

    def __init__(self, spec: OpSpec) -> None:
        super().__init__(spec)
        self.plans: dict[Any, Plan] = {}
        self.planned = [self.plans]

    def prepare(self, call: Call, backend: Backend | None) -> Prepared:
        """The operands as tensors on one backend, and the kernel, which first casts them to the dtypes of the plan."""
        plan: Plan = call.memoised(self.plans, lambda: self.spec.function(*call.arguments, **call.keywords))
        chosen = backend or common_backend(call.deciding)
        pairs = zip(call.operands, plan.inputs, strict=True)
        tensors = [
            move(operand, chosen) if isinstance(operand, Tensor) else constant(self.spec.name, operand, dtype, chosen)
            for operand, dtype in pairs
        ]
        kernel = self._kernel(chosen, plan, call, [x.template for x in tensors])
        return Prepared(Ready(plan.out, kernel, self.spec.result), chosen, tensors, options=plan.options)

    def _kernel(self, backend: Backend, plan: Plan, call: Call, templates: Sequence[Template]) -> Kernel:
        if backend.template_only:
            return of_templates(plan.out)
        cast_templates = [
            x if x.dtype is dtype else x.replace(dtype=dtype) for x, dtype in zip(templates, plan.inputs, strict=True)
        ]
        kernel = primitive_kernel(backend, self.spec.callback, plan.out, call.grouped(cast_templates), plan.options)
        casts = [
            None if x is to else primitive_kernel(backend, "as_type", to, (x,))
            for x, to in zip(templates, cast_templates, strict=True)
        ]
        return casting(kernel, casts, call.groups)


def make_primitive(
    rule: Callable[..., Any], callback: str | None, result: Callable[..., Any] | None, bounds: Bounds
) -> Callable[..., Any]:
    """Declares the op of a rule, and returns the public op."""
    name = rule.__name__.lstrip("_")  # `_` in front: a public function wraps the op
    spec = OpSpec(name, "primitive", callback or name, rule, read_parameters(rule), result, bounds)
    declare(spec)
    return bind(PrimitivePath(spec).op())
