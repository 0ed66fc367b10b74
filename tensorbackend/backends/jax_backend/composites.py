"""Composites: each default compiled as one function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ...caching.option_keys import options_key, remember
from ...dtypes import defaults
from ...protocol import Kernel, Payload
from ...protocol.callbacks import CompositeCall, Default
from ...protocol.planned import payloads_of, templates_of
from ...rules.plan import Out
from ...scopes import in_own_context
from ...select import default_backend
from ...template import Template
from ...tensor import Tensor
from ..array_module.base import Array
from .base import JaxBase, ReadsData


class JaxComposites(JaxBase):
    """How composites that the backend does not override are run.

    Op by op, a default costs a dispatch and a pass over memory for each of its ops. Compiled, it costs one of each,
    like the functions of `jax.numpy`, which are compiled as well.
    """

    composites: dict[tuple[Any, ...], Callable[..., Any] | None]
    """Each default with its options, compiled; `None` for one that reads data, as `matrix_power` may for its error."""

    def optional(self, name: str, args: CompositeCall, default_impl: Default) -> Tensor | tuple[Tensor, ...]:
        """Runs the compiled default; the default itself if it reads data or JAX is already tracing a function."""
        out, inputs, options = args
        arrays = list(_arrays(inputs))
        if self.composing.now or any(map(self.traced, arrays)):
            return default_impl(*args)
        key = default_impl, defaults.current_precision(), *options_key(options)
        try:
            compiled = self.composites[key]
        except TypeError:  # an option that does not hash
            compiled = None
        except KeyError:
            compiled = self.jax.jit(partial(self._default_function, default_impl, options), static_argnums=0)
            remember(self.composites, key, compiled)
        if compiled is not None:
            call = partial(compiled, (out, templates_of(inputs)), *arrays)
            try:
                results = call() if arrays else self.make_on_device(call)
            except ReadsData:
                remember(self.composites, key, None)
            else:
                if isinstance(out, Template):
                    return Tensor(out, self, results)
                return tuple(Tensor(template, self, data) for template, data in zip(out, results, strict=True))
        return default_impl(*args)

    def compile_composite(self, call: CompositeCall, default_impl: Default, otherwise: Kernel, /) -> Kernel | None:
        """The default compiled for the templates of one plan.

        `None` for composites without inputs or with sequences of tensors, which are left to `optional`. It also gets
        the calls of a default that reads data, and those made while JAX traces a function.
        """
        if not call.inputs or not all(isinstance(operand, Template) for operand in call.inputs):
            return None
        compiled: Kernel | None = self.jax.jit(
            partial(self._default_function, default_impl, call.options, (call.out, call.inputs))
        )
        composing, tracer = self.composing, self.jax.core.Tracer

        def kernel(*payloads: Payload) -> Payload:
            nonlocal compiled
            call_compiled = compiled  # another thread may set it to None
            if call_compiled is None or composing.now:
                return otherwise(*payloads)
            for payload in payloads:
                if isinstance(payload, tracer):
                    return otherwise(*payloads)
            try:
                return call_compiled(*payloads)
            except ReadsData:
                compiled = None
            return otherwise(*payloads)

        return kernel

    @in_own_context
    def _default_function(
        self, default_impl: Default, options: Any, static: tuple[Out, Sequence[Any]], *arrays: Array
    ) -> Any:
        """A composite's default as a function of arrays."""
        (out, places), rest = static, iter(arrays)
        try:
            self.composing.now = True
            with default_backend(self):
                results = default_impl(out, tuple(self._put(place, rest) for place in places), options)
        finally:
            self.composing.now = False
        return results.data if isinstance(results, Tensor) else payloads_of(results)

    def _put(self, place: Any, arrays: Iterator[Array]) -> Any:
        """The input with the templates in `place`, which takes its payloads from `arrays`."""
        if isinstance(place, Template):
            return Tensor(place, self, next(arrays))
        return place and tuple(Tensor(template, self, next(arrays)) for template in place)


def _arrays(inputs: Sequence[Any]) -> Iterator[Array]:
    """The payloads of a call's tensors."""
    for operand in inputs:
        if isinstance(operand, Tensor):
            yield operand.data
        elif operand is not None:
            yield from (x.data for x in operand)
