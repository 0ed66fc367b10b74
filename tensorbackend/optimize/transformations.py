"""Transformations of gradients: pure functions over trees, in pairs of `init` and `update`.

`state = transformation.init(parameters)` once, then in each step `updates, state = transformation.update(gradients,
state, parameters)` and `parameters = apply_updates(parameters, updates)`. States are trees of tensors, so a step can be
compiled, batched and carried through loops like any other function.

Gradients of float16 and bfloat16 are widened to float32, and each update is rounded once, to the gradient's dtype.
Sums in states are float32 or wider.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, reduce
from typing import Any, NamedTuple, Protocol, TypeVar

from ..declarations.argument_errors import check_arguments, check_arguments_early, check_construction
from ..dtypes import DType, DTypeLike, as_dtype, float32, iinfo, promote_types
from ..errors import ArgumentError, OperandError, expected
from ..expr.trees import flatten, is_inexact, tree_map, unflatten
from ..ops.composite.elementwise.functions import isfinite, square
from ..ops.creation.filled import full, zeros_like
from ..ops.creation.values import asarray, operand_tensors
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import add, logical_and, maximum, minimum
from ..ops.elementwise.transcendental import sqrt
from ..rules.template_text import is_template, parse_template
from ..select import get_backend
from ..template import Template
from ..tensor import Tensor, TensorLike
from ..tensor.missing_names import explain_missing

Trees = Any
Nested = TypeVar("Nested")


class Update(Protocol):
    """The `update` function of a transformation: its updates are nested like the gradients."""

    def __call__(self, gradients: Nested, state: Any, /, parameters: Trees = None) -> tuple[Nested, Any]: ...


@explain_missing
@check_construction
class GradientTransformation(NamedTuple):
    """A transformation of gradients: two pure functions."""

    init: Callable[[Trees], Any]
    """Returns the first state, from the parameters. Those of this package also take templates, as objects or as text;
    then the state has templates in place of tensors, for a dry run."""
    update: Update
    """Returns the updates and the next state, from gradients, the state, and the parameters."""


def new_transformation(init: Callable[[Trees], Any], update: Update) -> GradientTransformation:
    """A transformation whose `init` also takes templates in place of tensors, and then returns templates."""

    def init_of_templates(parameters: Trees) -> Any:
        leaves, tree = flatten(parameters)
        told = [parse_template(x) if isinstance(x, str) and is_template(x) else x for x in leaves]
        if not any(isinstance(x, Template) for x in told):
            return init(parameters)
        shapes_only = get_backend("template")
        state = init(unflatten(tree, [Tensor(x, shapes_only, None) if isinstance(x, Template) else x for x in told]))
        return tree_map(lambda x: x.template if isinstance(x, Tensor) and x.backend is shapes_only else x, state)

    def update_of_state(gradients: Trees, state: Any, *others: Any, **options: Any) -> Any:
        try:
            return update(gradients, state, *others, **options)
        except AttributeError as error:
            if isinstance(state, tuple):
                raise
            remedy = "write update(gradients, state, parameters)"
            wanted = "the state that init(parameters) or the last update returned"
            raise OperandError(expected(wanted, remedy, state=type(state).__name__)).named("update") from error

    return GradientTransformation(init_of_templates, update_of_state)


@check_arguments
def apply_updates(parameters: Nested, updates: Trees) -> Nested:
    """Add updates to parameters.

    Parameters
    ----------
    parameters : tree of Tensors
        The parameters to optimise.
    updates : tree of Tensors
        Nested as the parameters: the result of a transformation's `update`.

    Returns
    -------
    tree of Tensors
        The sums of parameters and updates, in the parameters' dtypes.

    Examples
    --------
    >>> tb.optimize.apply_updates({"w": tb.ones(2)}, {"w": tb.asarray([0.5, -1.0])})["w"].tolist()
    [1.5, 0.0]
    """

    def add_update(parameter: Any, update: Any) -> Tensor:
        x, step = operand_tensors(parameter, update)
        return astype(x + step, x.dtype)

    updated: Nested = map_numbers(add_update, parameters, updates)
    return updated


@check_arguments
def global_norm(tree: Trees) -> Tensor:
    """The Euclidean norm of all tensors of a tree as one vector.

    Parameters
    ----------
    tree : tree of Tensors
        Such as gradients.

    Returns
    -------
    Tensor
        A real number without axes, float32 or wider. Its squares neither overflow nor underflow.

    Examples
    --------
    >>> tb.optimize.global_norm([tb.asarray([3.0]), tb.asarray([[4.0]])]).item()
    5.0
    """
    largest, norm = _norm(tree)
    return largest * norm


def _norm(tree: Trees) -> tuple[Tensor, Tensor]:
    """The largest magnitude among all elements, and the norm of the elements divided by it; 1 in place of 0 or inf."""
    numbers = filter(is_inexact, flatten(tree)[0])
    leaves = operand_tensors(*numbers)
    magnitudes = [abs(widen(x)) for x in leaves if x.size]
    if not magnitudes:
        like = leaves[0] if leaves else None
        return full((), 1.0, like=like), full((), 0.0, like=like)
    largest = reduce(maximum, [x.max() for x in magnitudes])
    largest = where(logical_and(largest > 0, isfinite(largest)), largest, 1)
    return largest, sqrt(reduce(add, [square(x / largest).sum() for x in magnitudes]))


@check_arguments_early
def chain(*transformations: GradientTransformation) -> GradientTransformation:
    """Apply transformations one after the other.

    Parameters
    ----------
    *transformations : GradientTransformation
        Each takes the updates of the previous one, the first one gradients.

    Returns
    -------
    GradientTransformation
        Its state is the tuple of their states. Between them, updates are float32 or wider.

    Examples
    --------
    >>> both = tb.optimize.chain(tb.optimize.clip_by_global_norm(1.0), tb.optimize.sgd(0.5))
    >>> updates, state = both.update(tb.asarray([4.0]), both.init(tb.zeros(1)), None)
    >>> updates.tolist()
    [-0.5]
    """

    def update(gradients: Trees, states: tuple[Any, ...], parameters: Trees = None) -> tuple[Trees, Any]:
        after, updates = [], map_numbers(widen, gradients)
        for part, state in zip(transformations, states, strict=True):
            updates, state = part.update(updates, state, parameters)
            after.append(state)
        return round_updates(updates, gradients), tuple(after)

    return new_transformation(lambda parameters: tuple(part.init(parameters) for part in transformations), update)


def stateless(function: Callable[[Trees, Trees], Trees]) -> GradientTransformation:
    return new_transformation(
        lambda parameters: (), lambda gradients, state, parameters=None: (function(gradients, parameters), state)
    )


@check_arguments_early
def scale(factor: float) -> GradientTransformation:
    """Multiply gradients by a number.

    Parameters
    ----------
    factor : float
        The number.

    Examples
    --------
    >>> half = tb.optimize.scale(0.5)
    >>> half.update(tb.asarray([4.0]), half.init(None))[0].tolist()
    [2.0]
    """
    number = float(factor)
    return stateless(lambda gradients, parameters: compute_wide(lambda x: x * number, gradients))


@check_arguments_early
def clip_by_global_norm(most: float) -> GradientTransformation:
    """Scale gradients down if their global norm exceeds a limit.

    Parameters
    ----------
    most : float
        The maximum `global_norm`, above 0.

    Raises
    ------
    ArgumentError
        For a norm that is not above 0.

    Examples
    --------
    >>> clip = tb.optimize.clip_by_global_norm(1.0)
    >>> clip.update([tb.asarray([3.0]), tb.asarray([4.0])], ())[0][1].tolist()
    [0.800000011920929]
    """
    if not most > 0:
        raise ArgumentError(expected("a norm above 0", most=most))

    def clip_gradients(gradients: Trees, parameters: Trees) -> Trees:
        largest, norm = _norm(gradients)
        within = norm <= most / largest
        divisor, factor = where(within, 1, largest), where(within, 1, most / where(within, 1, norm))
        return compute_wide(lambda x: x / divisor * factor, gradients)

    return stateless(clip_gradients)


Mask = Any
"""`None`, a tree of bools like the parameters, or a function from parameters to one."""


@check_arguments_early
def add_decayed_weights(decay: float, *, mask: Mask = None) -> GradientTransformation:
    """Add a multiple of the parameters to the gradients: weight decay.

    Parameters
    ----------
    decay : float
        The multiple of the parameters that is added.
    mask : tree of bools, or function, optional
        Which parameters decay, by default all: a tree nested like the parameters, or a function from the parameters to
        such a tree.

    Returns
    -------
    GradientTransformation
        Without a state; its `update` needs the parameters.

    Raises
    ------
    ArgumentError
        In `update`, without parameters, or for a mask that is nested otherwise than these.

    Examples
    --------
    >>> tb.optimize.add_decayed_weights(0.5).update(tb.ones(1), (), tb.full((1,), 4.0))[0].tolist()
    [3.0]
    >>> matrices = lambda parameters: tb.tree_map(lambda x: x.ndim > 1, parameters)
    >>> decay = tb.optimize.add_decayed_weights(0.5, mask=matrices)
    >>> decay.update({"bias": tb.ones(1)}, (), {"bias": tb.ones(1)})[0]["bias"].tolist()
    [1.0]
    """

    def decay_weights(gradients: Trees, parameters: Trees) -> Trees:
        if parameters is None:
            wanted = "the parameters, a part of which decay adds to the updates"
            raise ArgumentError(expected(wanted, "write update(gradients, state, parameters)", parameters=None))
        if mask is None:
            return compute_wide(lambda g, x: g + decay * x, gradients, parameters)
        chosen = mask(parameters) if callable(mask) else mask
        return map_numbers(
            lambda g, x, decays: compute_wide(lambda g, x: g + decay * x, g, x) if decays else g,
            gradients,
            parameters,
            chosen,
        )

    return stateless(decay_weights)


class Counted(NamedTuple):
    """A number of steps."""

    steps: Tensor


def zero_steps(parameters: Trees) -> Tensor:
    """The number 0 of steps, on the backend of the parameters."""
    tensors = [x for x in flatten(parameters)[0] if isinstance(x, Tensor)]
    return full((), 0, dtype="int32", backend=tensors[0].backend if tensors else None)


def next_step(steps: Tensor) -> Tensor:
    """One more step; the largest number is kept."""
    return minimum(steps, iinfo(steps.dtype).max - 1) + 1


def check_decay(**decays: float) -> None:
    """Raises `ArgumentError` for a decay outside [0, 1)."""
    for name, decay in decays.items():
        if not 0 <= decay < 1:
            raise ArgumentError(expected(f"{name} from 0 to below 1", **{name: decay}))


@cache
def wide_dtype(dtype: DType) -> DType:
    """A dtype that is at least float32."""
    return promote_types(dtype, float32)


def widen(x: TensorLike) -> Tensor:
    """A tensor in a dtype that is at least float32; complex numbers stay complex."""
    tensor = asarray(x)
    dtype = wide_dtype(tensor.dtype)
    return tensor if dtype is tensor.dtype else astype(tensor, dtype)


def map_numbers(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """The results of a function for each leaf, as of `tree_map`; leaves without a gradient stay unchanged.

    The function gets a tensor for a number or an array among the leaves of the first tree.
    """

    def apply(leaf: Any, *others: Any) -> Any:
        return function(asarray(leaf), *others) if is_inexact(leaf) else leaf

    return tree_map(apply, tree, *others)


def wide_zeros(parameters: Any, dtype: DType | None = None) -> Any:
    """Zeros like parameters, in float32 or wider: what a state sums up. `dtype` is that for real parameters instead."""

    def zeros_of(x: Tensor) -> Tensor:
        return zeros_like(x, dtype=wide_dtype(x.dtype) if dtype is None or x.dtype.is_complex else dtype)

    return map_numbers(zeros_of, parameters)


def dtype_of_moments(moments_dtype: DTypeLike | None) -> DType | None:
    """The floating dtype that an option asks for; `None` for that of the parameters, at least float32."""
    if moments_dtype is None:
        return None
    dtype = as_dtype(moments_dtype)
    if not dtype.is_floating:
        raise ArgumentError(expected("a floating dtype, or None for float32 or wider", moments_dtype=dtype))
    return dtype


def cast_to_dtype_of(x: Tensor, like: TensorLike) -> Tensor:
    """A result in the dtype of what it was computed from, unless that is not floating."""
    if not isinstance(like, Tensor) or like.dtype is x.dtype or not like.dtype.is_inexact:
        return x
    return astype(x, like.dtype)


def round_updates(updates: Any, gradients: Any) -> Any:
    """Updates in the dtypes of gradients that are nested likewise."""
    return map_numbers(cast_to_dtype_of, updates, gradients)


def compute_wide(function: Callable[..., Tensor], gradients: Any, *others: Any) -> Any:
    """The results of a function of gradients and other tensors, computed in wide dtypes and then rounded."""
    return map_numbers(lambda g, *xs: cast_to_dtype_of(function(widen(g), *map(widen, xs)), g), gradients, *others)
