"""A model's parameters as a dictionary of tensors, for gradients and compilation by functions of them."""

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
        A model whose parameters are of ours.

    Returns
    -------
    dict of str to Tensor
        Floating parameters that are trained; running statistics are not.

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
    """A block in which parameters of a model have other values, those of a traced function say.

    Parameters
    ----------
    model : returnn.frontend.Module
        A model; after the block its parameters are what they were.
    values : mapping of str to Tensor
        By the names that `parameters` gives.

    Raises
    ------
    KeyError
        For a name that no parameter has.
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
