"""Function transforms: compilation, differentiation and mapping over a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

import tensorbackend as tb

from .base import Base, Operand, tracing
from .dtypes import from_phiml

Function = Callable[..., Any]

_tape: ContextVar[Any] = ContextVar("tensorbackend_phiml_tape", default=None)
"""The active tape. Nested calls record on it, because tapes do not nest."""


class Transforms(Base):
    """Functions that transform functions."""

    @contextmanager
    def traced(self) -> Iterator[None]:
        """A context in which traced tensors belong to this adapter, and new tensors have data.

        It allows a traced function to read constants, as PhiML does with sizes and indices.
        """
        before = tracing.get()
        held = tracing.set((*before, self))
        try:
            with tb.default_backend(self.base):
                yield
        finally:
            tracing.reset(held)

    def _is_traced(self, *values: Any) -> bool:
        return bool(tracing.get()) or not all(map(self.is_available, values))

    def jit_compile(self, f: Function) -> Function:
        """Compile a function, once for each combination of shapes and dtypes of its arguments.

        Where its arguments are recorded for a gradient it runs compiled as well, and its gradient is traced.
        """

        def body(*natives: Any) -> Any:
            Base.traces += 1
            with self.traced():
                return f(*natives)

        compiled = tb.jit(body)
        recorded = _record_compiled(body, compiled)

        @named(f, "jit")
        def run(*natives: Operand) -> Any:
            arguments = [x if self.is_sparse(x) else self._tensor(x) for x in natives]
            if self._is_traced(*arguments):
                return f(*arguments)
            watched = any(isinstance(x, tb.Tensor) and _is_recorded(x) for x in arguments)
            whole = watched and not any(map(self.is_sparse, arguments))
            return self.as_registered.call(
                recorded if whole else compiled, *arguments, name=f"run jit-compiled '{named_as(f)}'"
            )

        return run

    # Derivatives

    def jacobian(self, f: Function, wrt: Sequence[int], get_output: bool, is_f_scalar: bool) -> Function:
        """Differentiate the loss of f, which returns (loss, results), with respect to the arguments `wrt`.

        The axes of the loss come first in the derivatives. If the arguments have data, f can read them. Gradients with
        respect to complex arguments are conjugated, as in PhiML.
        """

        @named(f, "gradient")
        def derived(*natives: Operand) -> Any:
            arguments = [self._tensor(x) for x in natives]
            for place in wrt:
                arguments[place] = self._floating(arguments[place])
            if self._is_traced(*arguments):
                output, gradients = self._derived_in_trace(f, tuple(wrt), arguments)
            else:
                output, gradients = self._derived_on_tape(f, tuple(wrt), arguments)
            gradients = [tb.conj(x) if x.dtype.is_complex else x for x in gradients]
            return (*output, *gradients) if get_output else tuple(gradients)

        return derived

    def _derived_on_tape(self, f: Function, wrt: tuple[int, ...], inputs: list[Any]) -> tuple[Any, list[Any]]:
        outer = _tape.get()
        if outer is not None:
            return self._watched(f, wrt, inputs, outer)
        with tb.tape() as tape:
            held = _tape.set(tape)
            try:
                output, gradients = self._watched(f, wrt, inputs, tape)
            finally:
                _tape.reset(held)
        detached = [x.detach() if isinstance(x, tb.Tensor) else x for x in output]
        return detached, [x.detach() for x in gradients]

    def _watched(self, f: Function, wrt: tuple[int, ...], inputs: list[Any], tape: Any) -> tuple[Any, list[Any]]:
        inputs = list(inputs)
        for place in wrt:
            inputs[place] = tape.watch(inputs[place])
        loss, output = f(*inputs)
        sources = [inputs[place] for place in wrt]
        loss = self._tensor(loss)
        if loss.dtype.is_complex:
            loss = tb.real(loss)
        if not loss.ndim:
            return output, list(tb.gradient(loss, sources)) if _is_recorded(loss) else list(map(tb.zeros_like, sources))
        rows = [tb.gradient(element, sources) for element in tb.unstack(tb.reshape(loss, (-1,)))]
        stacked = [tb.stack(column) for column in zip(*rows, strict=True)]
        return output, [tb.reshape(x, (*loss.shape, *x.shape[1:])) for x in stacked]

    def _derived_in_trace(self, f: Function, wrt: tuple[int, ...], inputs: list[Any]) -> tuple[Any, list[Any]]:
        def scalar(*natives: Any) -> Any:
            with self.traced():
                loss, output = f(*natives)
                return tb.real(loss) if loss.dtype.is_complex else loss, tuple(map(self._tensor, output))

        (_, output), gradients = tb.value_and_grad(scalar, argnums=wrt, has_aux=True)(*inputs)
        return output, list(gradients)

    def jit_compile_grad(self, f: Function, wrt: Sequence[int], get_output: bool, is_f_scalar: bool) -> Function:
        """Compile the result of `jacobian`."""
        return self.jit_compile(self.jacobian(f, wrt, get_output, is_f_scalar))

    def hessian(self, f: Function, wrt: Sequence[int], get_output: bool, get_gradient: bool) -> Function:
        """Compute second derivatives for each example of a batch, with respect to each pair of the arguments `wrt`.

        With `get_output` the results of f come before them, and then with `get_gradient` the gradients.
        """
        places = tuple(wrt)

        def loss(*natives: Any) -> Any:
            with self.traced():
                results = f(*(x[None] for x in natives))
                first = results[0] if isinstance(results, tuple | list) else results
                return tb.reshape(self._tensor(first), ())

        @named(f, "hessian")
        def derived(*natives: Operand) -> tuple[Any, ...]:
            arguments = [self._tensor(x) for x in natives]
            for place in places:
                arguments[place] = self._floating(arguments[place])
            result: list[Any] = [f(*arguments)] if get_output else []
            if get_gradient:
                result.append(tb.vmap(tb.grad(loss, argnums=places))(*arguments))
            rows = tb.vmap(tb.hessian(loss, argnums=places))(*arguments)
            return (*result, [list(row) for row in rows])

        return derived

    def jit_compile_hessian(self, f: Function, wrt: Sequence[int], get_output: bool, get_gradient: bool) -> Function:
        """Compile the result of `hessian`."""
        return self.jit_compile(self.hessian(f, wrt, get_output, get_gradient))

    def custom_gradient(
        self,
        f: Function,
        gradient: Function,
        get_external_cache: Function | None = None,
        on_call_skipped: Function | None = None,
    ) -> Function:
        """Let `gradient(arguments, results, cotangents)` compute the gradient of f.

        `get_external_cache` and `on_call_skipped` have no effect: they are for libraries that run a compiled f without
        Python, which no backend of ours does.
        """

        def with_pullback(*natives: Any) -> Any:
            results = f(*natives)

            def pulled(cotangents: Any) -> tuple[Any, ...]:
                gradients = gradient(natives, results, cotangents)
                return tuple(None if x is None else self._tensor(x) for x in gradients)

            return results, pulled

        op = tb.custom_gradient(with_pullback)

        @named(f, "custom_gradient")
        def run(*natives: Operand) -> Any:
            arguments = [x if self.is_sparse(x) else self._tensor(x) for x in natives]
            return op(*arguments)

        return run

    # Batches

    def vectorized_call(self, f: Function, *args: Operand, output_dtypes: Any = None, **aux_args: Any) -> Any:
        """Apply f to each example of a batch. A single example of an argument is used for all.

        If the arguments have data, f is called once for each example, so that it can read them; otherwise it is mapped.
        """
        arguments = [self._tensor(x) for x in args]
        size = self.determine_size(arguments, 0)
        if self._is_traced(*arguments):
            arguments = [self.tile_to(x, 0, size) for x in arguments]
            return tb.vmap(lambda *examples: f(*examples, **aux_args))(*arguments)
        results = [f(*(x[min(place, x.shape[0] - 1)] for x in arguments), **aux_args) for place in range(size)]
        return self._each_leaf(lambda *leaves: self.stack(leaves), *results)

    def numpy_call(self, f: Function, output_shapes: Any, output_dtypes: Any, *args: Operand, **aux_args: Any) -> Any:
        """Call f with NumPy arrays and convert its results to tensors; a compiled function calls f when it runs."""
        if all(map(self.is_available, args)):
            outputs = f(*(self.numpy(x) for x in args), **aux_args)
            return self._each_leaf(self.as_tensor, outputs)
        several = isinstance(output_dtypes, tuple | list)
        shapes, dtypes = (output_shapes, output_dtypes) if several else ([output_shapes], [output_dtypes])
        pairs = zip(shapes, dtypes, strict=True)
        templates = [tb.Template(tuple(map(int, shape)), from_phiml(dtype)) for shape, dtype in pairs]
        arguments = [self._tensor(x) for x in args]

        def called(*arrays: Any) -> list[Any]:
            outputs = f(*arrays, **aux_args)
            return list(outputs) if several else [outputs]

        results = tb.host_call(called, templates, *arguments)
        return tuple(results) if several else results[0]


def _record_compiled(body: Function, compiled: Function) -> Function:
    """A function that a tape records as one op, so that it runs compiled: on a tape itself it would run op by op.

    Its gradient is traced at each call. Neither reads data. A function that closes over a recorded tensor does run op
    by op, as the gradient of one op reaches its arguments only.
    """

    def pull(natives: tuple[tb.Tensor, ...], cotangents: Any) -> tuple[tb.Tensor, ...]:
        places = [place for place, x in enumerate(natives) if x.dtype.is_inexact]

        def of_inexact(*primals: tb.Tensor) -> Any:
            arguments = list(natives)
            for place, x in zip(places, primals, strict=True):
                arguments[place] = x
            return body(*arguments)

        derivatives: tuple[tb.Tensor, ...] = tb.vjp(of_inexact, *(natives[place] for place in places))[1](cotangents)
        return derivatives

    def run(*natives: tb.Tensor) -> Any:
        detached = tuple(x.detach() for x in natives)
        results = compiled(*detached)
        if any(isinstance(x, tb.Tensor) and _is_recorded(x) for x in tb.tree_leaves(results)):
            return compiled(*natives)

        def pulled(cotangents: Any) -> tuple[tb.Tensor | None, ...]:
            derivatives = iter(pull(detached, cotangents))
            return tuple(next(derivatives) if x.dtype.is_inexact else None for x in detached)

        return tb.custom_gradient(lambda *same: (results, pulled))(*natives)

    return run


def _is_recorded(x: tb.Tensor) -> bool:
    """Whether a tape recorded the computation of a tensor."""
    return x.backend.beneath is not x.backend


def named_as(f: Function) -> str:
    """The name of a function, "function" if it has none."""
    return getattr(f, "__name__", "function")


def named(f: Function, prefix: str) -> Callable[[Function], Function]:
    """Make a decorator that gives a wrapper of f the signature of f and a name with a prefix."""

    def rename(function: Function) -> Function:
        wrapper = wraps(f)(function) if hasattr(f, "__name__") else function
        wrapper.__name__ = f"{prefix}({named_as(f)})"
        return wrapper

    return rename
