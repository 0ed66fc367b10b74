"""Functions of tensors as parts of PyTorch's graphs: their derivatives there are those of `tb.vjp` and `tb.jvp`.

`tb.for_arrays` passes a function from tensors to tensors here, with PyTorch's arrays. The derivatives of such a
function are functions of that kind again. So one `torch.autograd.Function` serves all: its backward calls itself with
the pullback, which has a backward too, and likewise for forward mode and `vmap`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import tensorbackend as tb
from tensorbackend import Tensor

from .library import torch

Program: TypeAlias = Callable[[Sequence[Tensor]], Sequence[Tensor]]
"""A function from tensors to tensors, which may be called and traced any number of times."""


def takes_part(arrays: Sequence[Any]) -> bool:
    """Whether PyTorch differentiates a call with these arrays, or maps it over examples."""
    if any(map(_is_wrapped, arrays)):
        return True
    if torch.is_grad_enabled() and any(array.requires_grad for array in arrays):
        return True
    # A level of forward mode is open only where `forward_ad` has been imported.
    return any(torch.autograd.forward_ad.unpack_dual(array).tangent is not None for array in arrays)


def call(program: Program, arrays: Sequence[Any]) -> list[Any]:
    """The arrays that a program returns for arrays, as parts of PyTorch's graph."""
    results: tuple[Any, ...] = _Part.apply(_Call(program, arrays), *arrays)  # type: ignore[no-untyped-call]
    return list(results)


def _is_wrapped(array: Any) -> bool:
    """Whether an array is a value of a transform of `torch.func`, which has no memory of its own."""
    return bool(torch._C._functorch.is_functorch_wrapped_tensor(array))


def _is_inexact(x: Any) -> bool:
    return bool(x.is_floating_point() or x.is_complex())


class _Call:
    """A program as it is called once, and what its forward run keeps for a backward run."""

    def __init__(self, program: Program, arrays: Sequence[Any]) -> None:
        self.program = program
        self.wanted = [place for place, array in enumerate(arrays) if array.requires_grad and _is_inexact(array)]
        self.pull: Callable[..., Any] | None = None

    def forward(self, tensors: list[Tensor]) -> list[Tensor]:
        """The results; keeps the function of cotangents."""
        if not self.wanted:
            return list(self.program(tensors))
        results, self.pull = tb.vjp(self._of_wanted(tensors), *[tensors[place] for place in self.wanted])
        return list(results)

    def pulled(self, cotangents: Sequence[Tensor]) -> list[Tensor]:
        """The cotangents of the wanted arrays, by what the forward run kept."""
        assert self.pull is not None  # where a backward run comes there is something wanted
        return list(map(_conjugate, self.pull(tuple(map(_conjugate, cotangents)))))

    def pullback(self, count: int) -> Program:
        """The program of the cotangents, from `count` arrays and then the cotangents of the results."""

        def pullback(tensors: Sequence[Tensor]) -> list[Tensor]:
            primals, cotangents = tensors[:count], tensors[count:]
            _, pull = tb.vjp(self._of_wanted(primals), *[primals[place] for place in self.wanted])
            return list(map(_conjugate, pull(tuple(map(_conjugate, cotangents)))))

        return pullback

    def pushforward(self, places: Sequence[int], count: int) -> Program:
        """The program of the tangents, from `count` arrays and then the tangents at some places."""

        def pushforward(tensors: Sequence[Tensor]) -> list[Tensor]:
            primals, tangents = list(tensors[:count]), tensors[count:]
            function = _at(self.program, primals, places)
            _, pushed = tb.jvp(function, tuple(primals[place] for place in places), tuple(tangents))
            return list(pushed)

        return pushforward

    def _of_wanted(self, tensors: Sequence[Tensor]) -> Callable[..., Any]:
        return _at(self.program, tensors, self.wanted)


def _at(program: Program, tensors: Sequence[Tensor], places: Sequence[int]) -> Callable[..., Any]:
    """A program as a function of the tensors at some places."""

    def function(*some: Tensor) -> tuple[Tensor, ...]:
        whole = list(tensors)
        for place, x in zip(places, some, strict=True):
            whole[place] = x
        return tuple(program(whole))

    return function


def _conjugate(x: Tensor) -> Tensor:
    """PyTorch's gradient of a complex number is the conjugate of ours."""
    return tb.conj(x) if x.dtype.is_complex else x


class _Part(torch.autograd.Function):
    """A call as a node of PyTorch's graph."""

    @staticmethod
    def forward(called: _Call, *arrays: Any) -> tuple[Any, ...]:
        results = called.forward([tb.asarray(array) for array in arrays])
        return tuple([x.backend.exported(x) for x in results])

    @staticmethod
    def setup_context(context: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
        called, *arrays = inputs
        context.called, context.inexact = called, [_is_inexact(array) for array in output]
        context.save_for_backward(*arrays)
        context.save_for_forward(*arrays)
        context.mark_non_differentiable(*[array for array in output if not _is_inexact(array)])

    @staticmethod
    def backward(context: Any, *cotangents: Any) -> tuple[Any, ...]:
        called, arrays = context.called, context.saved_tensors  # raises where one was written to since
        if torch.is_grad_enabled() or called.pull is None or any(map(_is_wrapped, (*arrays, *cotangents))):
            found = call(called.pullback(len(arrays)), [*arrays, *cotangents])
        else:
            found = [x.backend.exported(x) for x in called.pulled([tb.asarray(each) for each in cotangents])]
        gradients: list[Any] = [None] * len(arrays)
        for place, gradient in zip(called.wanted, found, strict=True):
            gradients[place] = gradient
        return None, *gradients

    @staticmethod
    def jvp(context: Any, _: None, *tangents: Any) -> tuple[Any, ...]:
        called, arrays = context.called, context.saved_tensors
        places = [place for place, tangent in enumerate(tangents) if tangent is not None and _is_inexact(tangent)]
        program = called.pushforward(places, len(arrays))
        found = call(program, [*arrays, *[tangents[place] for place in places]])
        return tuple([each if inexact else None for each, inexact in zip(found, context.inexact, strict=True)])

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], called: _Call, *arrays: Any) -> tuple[Any, Any]:
        axes = in_dims[1:]

        def batched(tensors: Sequence[Tensor]) -> list[Tensor]:
            return list(tb.vmap(lambda *each: tuple(called.program(each)), in_axes=axes)(*tensors))

        results = call(batched, arrays)
        return tuple(results), (0,) * len(results)
