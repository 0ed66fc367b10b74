"""A model as a function of its parameters and its state, which can be transformed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import tensorbackend as tb

from .random import Random


def parameters(model: Any) -> dict[str, tb.Tensor]:
    """The trainable parameters of a model, by name.

    Parameters
    ----------
    model : returnn.frontend.Module
        A model whose parameters are tensors of tensorbackend.

    Returns
    -------
    dict of str to Tensor
        The floating parameters that are trained. Running statistics are not included.

    Examples
    --------
    >>> import returnn.frontend as rf
    >>> import tensorbackend as tb
    >>> import tensorbackend_returnn
    >>> from returnn.tensor import Dim
    >>> backend = tensorbackend_returnn.select_backend("numpy")
    >>> inputs, outputs = Dim(3, name="inputs"), Dim(2, name="outputs")
    >>> model = rf.Linear(inputs, outputs)
    >>> x = rf.ones([inputs])
    >>> def loss(parameters):
    ...     with tensorbackend_returnn.substituted(model, parameters):
    ...         y = model(x)
    ...     return rf.reduce_sum(y * y, axis=outputs).raw_tensor
    >>> value, slopes = tb.jit(tb.value_and_grad(loss))(tensorbackend_returnn.parameters(model))
    >>> sorted(slopes)
    ['bias', 'weight']
    """
    return {
        name: parameter.raw_tensor
        for name, parameter in model.named_parameters()
        if parameter.trainable is not False and not parameter.auxiliary and parameter.raw_tensor.dtype.is_floating
    }


class State(NamedTuple):
    """What a training step changes besides the parameters: a tree of tensors, which the step takes and returns."""

    statistics: dict[str, tb.Tensor]
    """The parameters that are not trained, by name, such as the running statistics of batch norm."""
    key: tb.Tensor
    """The state of the generator of random numbers: (2,), uint32."""


def state(model: Any) -> State:
    """The state of a model and of RETURNN's generator of random numbers, for the first call of a `functional` step.

    Parameters
    ----------
    model : returnn.frontend.Module
        A model whose parameters are tensors of tensorbackend.

    Returns
    -------
    State
        The parameters that `parameters` leaves out, and a new key. RETURNN's generator draws other numbers from now on.

    Examples
    --------
    >>> import returnn.frontend as rf
    >>> import tensorbackend_returnn
    >>> from returnn.tensor import Dim
    >>> backend = tensorbackend_returnn.select_backend("numpy")
    >>> sorted(tensorbackend_returnn.state(rf.BatchNorm(Dim(3, name="inputs"))).statistics)
    ['running_mean', 'running_variance']
    """
    trained = parameters(model)
    statistics = {name: held.raw_tensor for name, held in model.named_parameters() if name not in trained}
    return State(statistics, Random._next_key())


def functional(model: Any, function: Callable[..., Any]) -> Callable[..., tuple[Any, State]]:
    """A function that uses a model as a pure function of parameters and state, for `tb.jit` and `tb.value_and_grad`.

    A compiled function runs its Python code once. So a mask of dropout that it draws from RETURNN's generator would be
    the same at each call, and running statistics would keep a value of the trace. This function takes the state of both
    and returns the one after the call.

    Parameters
    ----------
    model : returnn.frontend.Module
        A model whose parameters are tensors of tensorbackend. It is the same after each call.
    function : function
        A function that calls the model, and returns tensors of tensorbackend.

    Returns
    -------
    function
        A function `(parameters, state, *arguments, **named) -> (result, state)`, where `parameters` are those of
        `tensorbackend_returnn.parameters`, and `state` is that of `tensorbackend_returnn.state` or of a call. The other
        arguments are passed to `function`.

    Examples
    --------
    >>> import returnn.frontend as rf
    >>> import tensorbackend as tb
    >>> import tensorbackend_returnn
    >>> from returnn.tensor import Dim
    >>> backend = tensorbackend_returnn.select_backend("numpy")
    >>> rf.init_train_step_run_ctx(train_flag=True)
    >>> inputs = Dim(4, name="inputs")
    >>> model, x = rf.Linear(inputs, inputs), rf.ones([inputs])
    >>> def loss():
    ...     y = rf.dropout(model(x), 0.5, axis=inputs)
    ...     return rf.reduce_sum(y * y, axis=inputs).raw_tensor
    >>> step = tb.jit(tb.value_and_grad(tensorbackend_returnn.functional(model, loss), has_aux=True))
    >>> parameters, state = tensorbackend_returnn.parameters(model), tensorbackend_returnn.state(model)
    >>> (first, state), slopes = step(parameters, state)
    >>> (second, state), slopes = step(parameters, state)
    >>> bool(first == second)
    False
    """

    def pure(values: Mapping[str, tb.Tensor], before: State, *arguments: Any, **named: Any) -> tuple[Any, State]:
        known = dict(model.named_parameters())
        with _restored(known), Random._drawing_from(before.key) as generator:
            _set(known, {**before.statistics, **values})
            returned = function(*arguments, **named)
            after = State({name: known[name].raw_tensor for name in before.statistics}, generator.key)
        return returned, after

    return pure


@contextmanager
def substituted(model: Any, values: Mapping[str, tb.Tensor]) -> Iterator[None]:
    """A context in which parameters of a model have other values, for example those of a traced function.

    Parameters
    ----------
    model : returnn.frontend.Module
        A model. Its previous parameters are restored after the block.
    values : mapping of str to Tensor
        The new values, by the names that `parameters` returns.

    Raises
    ------
    KeyError
        If no parameter has a name.
    ArgumentError
        If other parameters, such as running statistics, changed in a traced function: they would be lost. They are
        restored too.
    """
    known = dict(model.named_parameters())
    others = {name: known[name].raw_tensor for name in known.keys() - values.keys()}
    with _restored({name: known[name] for name in values}):
        _set(known, values)
        yield
    runs_once = tb.get_backend().repeats_from() is not None
    changed = sorted(
        name
        for name, x in others.items()
        if known[name].raw_tensor is not x and (runs_once or not tb.is_concrete(known[name].raw_tensor))
    )
    if changed:
        _set(known, others)
        raise tb.errors.ArgumentError(
            f"substituted: expected a traced function to leave the other parameters alone, got changed={changed}; "
            "write the step with tensorbackend_returnn.functional, which returns them"
        )


@contextmanager
def _restored(known: Mapping[str, Any]) -> Iterator[None]:
    """A context after which parameters have their previous values."""
    before = {name: parameter.raw_tensor for name, parameter in known.items()}
    try:
        yield
    finally:
        _set(known, before)


def _set(known: Mapping[str, Any], values: Mapping[str, tb.Tensor]) -> None:
    for name, value in values.items():
        known[name].raw_tensor = value
