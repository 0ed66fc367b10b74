"""The parameters of a model as a dictionary of tensors, to make the model a function that can be transformed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import tensorbackend as tb


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
    """
    known = dict(model.named_parameters())
    before = {name: known[name].raw_tensor for name in values}
    try:
        for name, value in values.items():
            known[name].raw_tensor = value
        yield
    finally:
        for name, value in before.items():
            known[name].raw_tensor = value
