"""Composites: each default compiled as one function."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...caching.option_keys import options_key, remember
from ...dispatch.kernels import as_tensors, wrap
from ...dtypes import defaults
from ...protocol import Kernel, Payload
from ...protocol.callbacks import CompositeCall, Default
from ...protocol.planned import payloads_of, templates_of
from ...scopes import in_own_context
from ...select import call_with_default, default_backend
from ...template import Template
from ...tensor import Tensor
from .base import JaxBase, ReadsData, outside_traces


class JaxComposites(JaxBase):
    """How composites that the backend does not override are run.

    Op by op, a default costs a dispatch and a pass over memory for each of its ops. Compiled, it costs one of each,
    like the functions of `jax.numpy`, which are compiled as well.
    """

    composites: dict[tuple[Any, ...], Kernel]
    """The kernels of defaults with their options, for calls that no plan keeps."""

    def optional(self, name: str, args: CompositeCall, default_impl: Default) -> Tensor | tuple[Tensor, ...]:
        """Runs the kernel of `compile_composite`, which is kept; the default itself for an option that has no hash."""
        call = args._replace(inputs=templates_of(args.inputs))
        key = default_impl, defaults.current_precision(), call.out, call.inputs, *options_key(call.options)
        try:
            kernel = self.composites.get(key)
        except TypeError:
            return default_impl(*args)
        if kernel is None:
            kernel = self.compile_composite(call, default_impl)
            remember(self.composites, key, kernel)
        results: Tensor | tuple[Tensor, ...] = wrap(call.out, self, kernel(*payloads_of(args.inputs)))
        return results

    def compile_composite(
        self, call: CompositeCall, default_impl: Default, otherwise: Kernel | None = None, /
    ) -> Kernel:
        """The default compiled for the templates of one call.

        A default that reads data runs op by op, and so do calls made while JAX traces a function.
        """
        composing, tracer, leaves = self.composing, self.jax.core.Tracer, self.jax.tree_util.tree_leaves
        flat = all(isinstance(operand, Template) for operand in call.inputs)

        def op_by_op(*payloads: Payload) -> Payload:
            inputs = as_tensors(self, call.inputs, payloads)
            return _payload(call_with_default(self, default_impl, call.out, inputs, call.options))

        function = partial(self._default_function, default_impl, call)
        compiled: Kernel | None = outside_traces(
            self.jax.jit(function, compiler_options=self.compiler_options), op_by_op
        )

        def kernel(*payloads: Payload) -> Payload:
            nonlocal compiled
            call_compiled = compiled  # another thread may set it to None
            if call_compiled is None or composing.now:
                return op_by_op(*payloads)
            arrays = payloads if flat else leaves(payloads)
            for array in arrays:
                if isinstance(array, tracer):
                    return op_by_op(*payloads)
            try:
                return call_compiled(*payloads) if arrays else self.make_on_device(partial(call_compiled, *payloads))
            except ReadsData:
                compiled = None
            return op_by_op(*payloads)

        return kernel

    @in_own_context
    def _default_function(self, default_impl: Default, call: CompositeCall, *payloads: Payload) -> Payload:
        """A composite's default as a function of arrays."""
        try:
            self.composing.now = True
            with default_backend(self):
                return _payload(default_impl(call.out, as_tensors(self, call.inputs, payloads), call.options))
        finally:
            self.composing.now = False


def _payload(results: Tensor | tuple[Tensor, ...]) -> Payload:
    return results.data if isinstance(results, Tensor) else payloads_of(results)
