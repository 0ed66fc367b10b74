"""Checkpoints in the format of RETURNN's PyTorch engine: a model can be trained by either and go on with the other."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import tensorbackend as tb

from .base import Base


def save_checkpoint(model: Any, path: str | os.PathLike[str], *, epoch: int = 1, step: int = 0) -> None:
    """Write the parameters of a model to a file that RETURNN's PyTorch engine loads.

    Parameters
    ----------
    model : returnn.frontend.Module
        A model whose parameters are tensors of tensorbackend.
    path : str or path
        The file, such as "model.001.pt". It is replaced only when the new one is complete.
    epoch, step : int, optional
        The epoch, and the number of training steps so far.

    Examples
    --------
    >>> import tempfile
    >>> import returnn.frontend as rf
    >>> import tensorbackend_returnn
    >>> from returnn.tensor import Dim
    >>> backend = tensorbackend_returnn.select_backend("numpy")
    >>> model = rf.Linear(Dim(3, name="inputs"), Dim(2, name="outputs"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tensorbackend_returnn.save_checkpoint(model, f"{folder}/model.001.pt", step=30)
    ...     tensorbackend_returnn.load_checkpoint(model, f"{folder}/model.001.pt")
    (1, 30)
    """
    import returnn
    import torch

    arrays = {name: np.array(parameter.raw_tensor) for name, parameter in model.named_parameters()}
    content = {
        "model": {name: torch.from_numpy(array) for name, array in arrays.items()},
        "epoch": epoch,
        "step": step,
        "effective_learning_rate": None,
        "returnn_version": returnn.__long_version__,
    }
    target = Path(path)
    partial = target.with_name(target.name + ".tmp_write")
    torch.save(content, partial)
    partial.replace(target)


def load_checkpoint(model: Any, path: str | os.PathLike[str]) -> tuple[int, int]:
    """Set the parameters of a model to those of a checkpoint, of RETURNN's PyTorch engine or of `save_checkpoint`.

    Parameters
    ----------
    model : returnn.frontend.Module
        A model. Its parameters are made on the selected backend.
    path : str or path
        The file. No code in it is run.

    Returns
    -------
    tuple of int
        The epoch and the step of the checkpoint.

    Raises
    ------
    ArgumentError
        If the names or shapes of its parameters are not those of the model, which is then unchanged.
    """
    import torch

    content = torch.load(path, map_location="cpu", weights_only=True)
    known, stored = dict(model.named_parameters()), content["model"]
    if different := sorted(known.keys() ^ stored.keys()):
        raise tb.errors.ArgumentError(
            f"load_checkpoint: expected the parameters of the model, {sorted(known)}, got "
            f"missing or unknown={different}"
        )
    for name, parameter in known.items():
        shape = tuple(dim.get_dim_value() for dim in parameter.dims)
        if tuple(stored[name].shape) != shape:
            raise tb.errors.ArgumentError(
                f"load_checkpoint: expected the shape {shape} of {name!r}, got shape={tuple(stored[name].shape)}"
            )
    for name, parameter in known.items():
        parameter.raw_tensor = tb.asarray(stored[name].numpy(), dtype=parameter.dtype, backend=Base._home(), copy=True)
    return int(content["epoch"] or 0), int(content["step"] or 0)
