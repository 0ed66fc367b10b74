"""autograd's differential operators, each implemented by tensorbackend's equivalent."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import numpy

import tensorbackend as tb

from .numpy import namespace as np
from .values import to_numpy, to_tensor

Function = Callable[..., Any]


def of_argument(operator: Callable[[Function, Any], Any]) -> Any:
    """Extend an operator on functions of one argument to any of the arguments of a function, one or several."""

    @wraps(operator)
    def on(function: Function, argnum: int | list[int] | tuple[int, ...] = 0) -> Function:
        @wraps(function)
        def called(*arguments: Any, **options: Any) -> Any:
            def one(x: Any) -> Any:
                filled = list(arguments)
                for number, value in (
                    zip([argnum], [x], strict=True) if isinstance(argnum, int) else zip(argnum, x, strict=True)
                ):
                    filled[number] = value
                return function(*filled, **options)

            x = arguments[argnum] if isinstance(argnum, int) else tuple(arguments[number] for number in argnum)
            return operator(one, x)

        return called

    return on


def pulled_back(function: Function, x: Any) -> tuple[Function, Any]:
    """Return a function from the cotangent of the result to the gradient, and the result."""
    value, pull = tb.vjp(lambda each: to_tensor(function(each)), to_tensor(x))
    return lambda cotangent: to_numpy(pull(_like(cotangent, value))[0]), to_numpy(value)


def _like(cotangent: Any, value: Any) -> Any:
    """Return a cotangent in the dtypes of the result."""
    if isinstance(value, dict):
        return {key: _like(cotangent[key], each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_like(one, each) for one, each in zip(cotangent, value, strict=True))
    return tb.astype(to_tensor(cotangent), value.dtype) if isinstance(value, tb.Tensor) else cotangent


make_vjp = of_argument(pulled_back)
make_hvp = of_argument(lambda function, x: pulled_back(grad(function), x))


@of_argument
def make_jvp(function: Function, x: Any) -> Function:
    """Return a function from the tangent of the argument to the result and the result's tangent."""
    point = to_tensor(x)

    def pushed(tangent: Any) -> Any:
        return to_numpy(tb.jvp(lambda each: to_tensor(function(each)), (point,), (_like(tangent, point),)))

    return pushed


def _scalar(operator: str, value: Any) -> None:
    if numpy.size(value) != 1 or numpy.iscomplexobj(value):
        raise TypeError(f"{operator}: expected a function with one real number as its result")


@of_argument
def value_and_grad(function: Function, x: Any) -> Any:
    pull, value = pulled_back(function, x)
    if isinstance(value, tb.Tensor):
        shape, dtype = value.shape, value.dtype
        if value.size != 1 or dtype.is_complex:
            raise TypeError("grad: expected a function with one real number as its result")
        return value, pull(tb.ones(shape, dtype=dtype))
    _scalar("grad", value)
    return value, pull(numpy.ones_like(value))


def grad(function: Function, argnum: Any = 0) -> Function:
    both = value_and_grad(function, argnum)
    return wraps(function)(lambda *arguments, **options: both(*arguments, **options)[1])


@of_argument
def elementwise_grad(function: Function, x: Any) -> Any:
    pull, value = pulled_back(function, x)
    if value.dtype.is_complex if isinstance(value, tb.Tensor) else numpy.iscomplexobj(value):
        raise TypeError("elementwise_grad: expected a function with a real result")
    return pull(np.ones_like(value))


@of_argument
def deriv(function: Function, x: Any) -> Any:
    return make_jvp(function)(x)(np.ones_like(x))[1]


@of_argument
def holomorphic_grad(function: Function, x: Any) -> Any:
    return grad(lambda each: tb.real(function(each)))(x)


@of_argument
def jacobian(function: Function, x: Any) -> Any:
    return to_numpy(tb.jacobian(lambda each: to_tensor(function(each)))(to_tensor(x)))


def hessian(function: Function, argnum: int = 0) -> Any:
    return jacobian(jacobian(function, argnum), argnum)


@of_argument
def grad_and_aux(function: Function, x: Any) -> Any:
    (gradient, aux) = tb.grad(lambda each: to_tensor(function(each)), has_aux=True)(to_tensor(x))
    return to_numpy(gradient), to_numpy(aux)


def hessian_tensor_product(function: Function, argnum: int = 0) -> Any:
    gradient = grad(function, argnum)

    def product(*arguments: Any, **options: Any) -> Any:
        return np.tensordot(gradient(*arguments[:-1], **options), arguments[-1], np.ndim(arguments[-1]))

    return grad(product, argnum)


def tensor_jacobian_product(function: Function, argnum: int = 0) -> Any:
    def product(*arguments: Any, **options: Any) -> Any:
        return np.tensordot(arguments[-1], function(*arguments[:-1], **options), np.ndim(arguments[-1]))

    return jacobian(product, argnum)


hessian_vector_product = hessian_tensor_product
vector_jacobian_product = tensor_jacobian_product


def make_ggnvp(function: Function, g: Function = lambda x: 0.5 * np.sum(x**2, axis=-1), f_argnum: int = 0) -> Any:
    """Return a function that multiplies a vector by the generalised Gauss-Newton matrix."""

    @of_argument
    def products(one: Function, x: Any) -> Function:
        pull, value = pulled_back(one, x)
        pull_second, _ = pulled_back(grad(g), value)
        push = make_jvp(one)(x)
        return lambda vector: pull(pull_second(push(vector)[1]))

    return products(function, f_argnum)


def multigrad_dict(function: Function) -> Function:
    """Return a function that gives the gradient with respect to each argument, by name."""
    names = list(signature(function).parameters)

    def gradients(*arguments: Any, **options: Any) -> Any:
        bound = signature(function).bind(*arguments, **options)
        bound.apply_defaults()
        return grad(lambda by_name: function(**by_name))({name: bound.arguments[name] for name in names})

    return gradients


def checkpoint(function: Function) -> Function:
    return lambda *arguments: tb.checkpoint(function)(*map(to_tensor, arguments))
