"""The library of networks that `phiml.nn` uses: networks, optimisers, training, and files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import phiml.math
import tensorbackend as tb

from . import optimizers
from .networks import Network, Networks
from .optimizers import Nets, Optimizer, axes


class NeuralNetworks(Networks):
    """The functions that `phiml.nn` calls on an adapter. PhiML documents their parameters."""

    adam = staticmethod(optimizers.adam)
    sgd = staticmethod(optimizers.sgd)
    adagrad = staticmethod(optimizers.adagrad)
    rmsprop = staticmethod(optimizers.rmsprop)

    def get_parameters(self, net: Network, wrap: bool = True) -> dict[str, Any]:
        """The parameters by name, as PhiML's tensors or, unless `wrap`, as native tensors."""
        return {name: phiml.math.wrap(x, *axes(x)) if wrap else x for name, x in net.parameters.items()}

    def update_weights(
        self, net: Nets, optimizer: Optimizer, loss_function: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        """Take one step of an optimiser and return what the loss function returned.

        The loss is compiled with its gradient if it is a function of `jit_compile`.
        """
        return optimizer.update(loss_function, args, kwargs)

    def get_learning_rate(self, optimizer: Optimizer) -> float:
        """The learning rate of an optimiser."""
        return optimizer.learning_rate

    def set_learning_rate(self, optimizer: Optimizer, learning_rate: float) -> None:
        """Set the learning rate of an optimiser."""
        optimizer.learning_rate = float(learning_rate)

    def save_state(self, obj: Network | Optimizer, path: str) -> str:
        """Write the parameters of a network, or the state of an optimiser, to a file with the suffix `.npz`."""
        path = path if path.endswith(".npz") else f"{path}.npz"
        tb.save(path, _state(obj))
        return path

    def load_state(self, obj: Network | Optimizer, path: str) -> None:
        """Read what `save_state` wrote. Raises `ValueError` for the file of another network or optimiser."""
        path = path if path.endswith(".npz") else f"{path}.npz"
        loaded, held = dict(tb.load(path, backend=self.adapter.base)), _state(obj)  # type: ignore[arg-type] # of names
        found, expected = ({name: x.template for name, x in state.items()} for state in (loaded, held))
        if found != expected:
            raise ValueError(f"load_state: expected the templates {expected}, got {found} in {path}")
        if isinstance(obj, Network):
            obj.parameters = loaded
        else:
            obj.learning_rate = float(loaded.pop("learning_rate"))
            leaves = iter([loaded[str(place)] for place in range(len(loaded))])
            obj.state = tb.tree_map(lambda _: next(leaves), obj.state)


def _state(obj: Network | Optimizer) -> dict[str, tb.Tensor]:
    """Tensors by name from which a network or an optimiser is restored."""
    if isinstance(obj, Network):
        return dict(obj.parameters)
    if not isinstance(obj, Optimizer):
        raise TypeError(f"expected a network or an optimiser of this backend, got {type(obj).__name__}")
    leaves = {str(place): x for place, x in enumerate(tb.tree_leaves(obj.state))}
    return leaves | {"learning_rate": tb.asarray(np.float64(obj.learning_rate))}
