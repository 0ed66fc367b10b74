"""A primitive's call: its rule gives a plan, its backend's callback a kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..declarations.op_specs import OpSpec, declare, read_parameters
from ..dtypes import DType
from ..protocol import Backend, Kernel
from ..rules.accuracy import Bounds
from ..rules.plan import Out, Plan
from ..select import common_backend, move
from ..template import Template
from ..tensor import Tensor, bind
from .constants import constant
from .kernels import PlainCallback, casting, of_templates, primitive_kernel, symbolic_kernel
from .kinds import Decision
from .operands import Call, grouped
from .path import Path


class PrimitivePath(Path):
    """The full path of a primitive's calls."""

    def __init__(self, spec: OpSpec) -> None:
        super().__init__(spec)
        self.plans: dict[Any, Plan] = {}
        self.planned = [self.plans]

    def decide(self, call: Call, backend: Backend | None) -> Decision:
        """The plan that the rule gives, and the operands as tensors on one backend."""
        plan: Plan = call.memoised(self.plans, lambda: self.spec.function(*call.arguments, **call.keywords))
        chosen = backend or common_backend(call.deciding)
        pairs = zip(call.operands, plan.inputs, strict=True)
        tensors = [
            move(operand, chosen) if isinstance(operand, Tensor) else constant(self.spec.name, operand, dtype, chosen)
            for operand, dtype in pairs
        ]
        return Decision(chosen, plan.out, plan.options, tensors, plan.inputs, self.spec.result)

    def kernel(
        self, backend: Backend, out: Out, inputs: Sequence[Template], dtypes: Sequence[DType],
        options: Mapping[str, Any], groups: Sequence[int | None],
    ) -> tuple[Kernel, bool]:  # fmt: skip
        """The kernel, which first casts the operands to the dtypes of the plan."""
        if backend.template_only:
            return of_templates(out), True
        return self._casting(backend, out, inputs, dtypes, options, groups, primitive_kernel), True

    def kind_kernel(self, decision: Decision, call: Call) -> Kernel | None:
        """The kernel of a planned callback for symbolic sizes."""
        backend, out, options, tensors, dtypes, _ = decision
        try:
            return self._casting(
                backend, out, [x.template for x in tensors], dtypes, options, call.groups, symbolic_kernel
            )
        except PlainCallback:
            return None

    def _casting(
        self, backend: Backend, out: Out, inputs: Sequence[Template], dtypes: Sequence[DType],
        options: Mapping[str, Any], groups: Sequence[int | None], plan: Callable[..., Kernel],
    ) -> Kernel:  # fmt: skip
        cast_templates = [
            x if x.dtype is dtype else x.replace(dtype=dtype) for x, dtype in zip(inputs, dtypes, strict=True)
        ]
        kernel = plan(backend, self.spec.callback, out, grouped(cast_templates, groups), options)
        casts = [
            None if x is to else plan(backend, "as_type", to, (x,), {})
            for x, to in zip(inputs, cast_templates, strict=True)
        ]
        return casting(kernel, casts, groups)


def make_primitive(
    rule: Callable[..., Any], callback: str | None, result: Callable[..., Any] | None, bounds: Bounds
) -> Callable[..., Any]:
    """Declares the op of a rule, and returns the public op."""
    name = rule.__name__.lstrip("_")  # `_` in front: a public function wraps the op
    spec = OpSpec(name, "primitive", callback or name, rule, read_parameters(rule), result, bounds)
    declare(spec)
    return bind(PrimitivePath(spec).op())
