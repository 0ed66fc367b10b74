"""A primitive's call: its rule returns a plan, its backend's callback a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..declarations.op_specs import OpSpec, declare, read_parameters
from ..protocol import Backend, Kernel
from ..rules.accuracy import Bounds
from ..rules.plan import Plan
from ..select import common_backend
from ..tensor import Tensor, bind
from .kernels import casting_kernel, primitive_kernel, symbolic_kernel, template_kernel
from .kinds import Decision
from .narrow import check_moves
from .operands import Call, group_operands, template_of
from .path import FullPath


class PrimitivePath(FullPath):
    """The full path of a primitive's calls."""

    def decide(self, call: Call, backend: Backend | None) -> tuple[Decision, list[Tensor]]:
        """The plan of the rule, and the operands as tensors on one backend."""
        check_moves(self.spec, [template_of(operand) for operand in call.operands])
        plan: Plan = self.spec.function(*call.arguments, **call.keywords)
        check_moves(self.spec, plan.out)
        chosen = backend or common_backend(call.deciding_tensors)
        tensors = self.bring(call, plan.inputs, chosen)
        inputs = [x.template for x in tensors]
        return Decision(chosen, plan.out, inputs, call.groups, plan.options, plan.inputs, self.spec.result), tensors

    def kernel(self, decision: Decision) -> tuple[Kernel, bool]:
        """The kernel, which first casts the operands to the dtypes of the plan."""
        if decision.backend.template_only:
            return template_kernel(decision.out), True
        return self._casting_kernel(decision, primitive_kernel), True

    def kind_kernel(self, decision: Decision) -> Kernel | None:
        """The kernel of a planned callback for symbolic sizes."""
        return self._casting_kernel(decision, symbolic_kernel)

    def _casting_kernel(self, decision: Decision, plan: Callable[..., Kernel]) -> Kernel:
        backend, out, inputs, groups, options, dtypes, _ = decision
        cast_templates = [
            x if x.dtype is dtype else x.replace(dtype=dtype) for x, dtype in zip(inputs, dtypes, strict=True)
        ]
        kernel = plan(backend, self.spec.callback, out, group_operands(cast_templates, groups), options)
        casts = [
            None if x is to else plan(backend, "as_type", to, (x,), {})
            for x, to in zip(inputs, cast_templates, strict=True)
        ]
        return casting_kernel(kernel, casts, groups)


def make_primitive(
    rule: Callable[..., Any], callback: str | None, result: Callable[..., Any] | None, bounds: Bounds
) -> Callable[..., Any]:
    """Declares the op of a rule, and returns the public op."""
    name = rule.__name__.lstrip("_")  # `_` in front: a public function wraps the op
    spec = OpSpec(name, "primitive", callback or name, rule, read_parameters(rule), result, bounds)
    declare(spec)
    return bind(PrimitivePath(spec).op())
