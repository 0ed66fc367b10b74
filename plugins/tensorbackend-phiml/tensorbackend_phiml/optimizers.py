"""The optimisers of `phiml.nn`, made of the transformations of `tb.optimize`, and one step of training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import phiml.math
import tensorbackend as tb
from phiml.math import channel
from phiml.math._functional import JitFunction

from .networks import Network

Nets = Network | Sequence[Network]


class Optimizer:
    """An optimiser of the parameters of one network or several, its state, and its learning rate."""

    def __init__(self, net: Nets, directions: tb.optimize.GradientTransformation, learning_rate: float) -> None:
        self.networks = [net] if isinstance(net, Network) else list(net)
        for network in self.networks:
            if not isinstance(network, Network):
                raise TypeError(f"expected a network of this backend, got {type(network).__name__}")
        self.directions = directions
        """What makes directions of gradients; a step goes against them, by the learning rate."""
        self.learning_rate = learning_rate
        self.state: Any = directions.init(self.parameters)
        self._gradients: dict[Any, Callable[..., Any]] = {}

    @property
    def parameters(self) -> list[dict[str, tb.Tensor]]:
        """The parameters of each network."""
        return [dict(network.parameters) for network in self.networks]

    def step(self, gradients: Sequence[Mapping[str, tb.Tensor]]) -> None:
        """Change the parameters against the directions that the gradients give."""
        parameters = self.parameters
        directions, self.state = self.directions.update(list(map(dict, gradients)), self.state, parameters)
        updates = tb.tree_map(lambda x: x * -self.learning_rate, directions)
        for network, changed in zip(self.networks, tb.optimize.apply_updates(parameters, updates), strict=True):
            network.parameters = changed

    def update(self, loss_function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Compute the loss and its gradients, take a step, and return what the loss function returned."""
        if loss_function not in self._gradients:
            self._gradients[loss_function] = self._gradient(loss_function)
        tensors = [
            {name: phiml.math.wrap(x, *axes(x)) for name, x in network.parameters.items()} for network in self.networks
        ]
        (_, output), gradients = self._gradients[loss_function](tensors, args, kwargs)
        self.step([{name: x.native(x.shape) for name, x in gradient.items()} for gradient in gradients])
        return output

    def _gradient(self, loss_function: Callable[..., Any]) -> Callable[..., Any]:
        """The gradient of a loss by the parameters, which is compiled if the loss is."""
        compiled = isinstance(loss_function, JitFunction)
        called = loss_function.f if compiled else loss_function  # type: ignore[attr-defined] # of `JitFunction`

        # PhiML allows no arguments that are called `args` and `kwargs`.
        def loss(parameters: list[dict[str, Any]], positional: tuple[Any, ...], named: dict[str, Any]) -> Any:
            with ExitStack() as held:
                for network, tensors in zip(self.networks, parameters, strict=True):
                    natives = {name: x.native(x.shape) for name, x in tensors.items()}
                    held.enter_context(network.substituted(natives))
                output = called(*positional, **named)
            value = output[0] if isinstance(output, tuple | list) else output
            return phiml.math.sum(value, value.shape), output

        gradient = phiml.math.gradient(loss, wrt="parameters", get_output=True)
        return phiml.math.jit_compile(gradient) if compiled else gradient  # type: ignore[no-any-return]


def axes(parameter: tb.Tensor) -> list[Any]:
    """PhiML's dims of a parameter: of a kernel its outputs, its inputs and the spatial axes."""
    named = {1: "output", 2: "input,output", 3: "output,input,x", 4: "output,input,x,y", 5: "output,input,x,y,z"}
    return [channel(named[parameter.ndim])]


class Squares(NamedTuple):
    """The state of `adagrad`: the sums of squared gradients, and the number of steps."""

    squares: Any
    steps: tb.Tensor


def scale_by_sum_of_squares(initial: float, decay: float, epsilon: float) -> tb.optimize.GradientTransformation:
    """Divide gradients by the root of the sum of their squares, and by a number that grows with the steps."""

    def init(parameters: Any) -> Squares:
        first = tb.tree_leaves(parameters)[0]
        sums = tb.tree_map(lambda x: tb.full_like(x, initial), parameters)
        return Squares(sums, tb.zeros((), dtype=first.dtype, backend=first.backend))

    def update(gradients: Any, state: Squares, parameters: Any = None) -> tuple[Any, Squares]:
        squares = tb.tree_map(lambda total, x: total + x * x, state.squares, gradients)
        factor = 1 / (1 + decay * state.steps)
        directions = tb.tree_map(lambda x, total: factor * x / (tb.sqrt(total) + epsilon), gradients, squares)
        return directions, Squares(squares, state.steps + 1)

    return tb.optimize.GradientTransformation(init, update)


def _chain(weight_decay: float, *parts: tb.optimize.GradientTransformation) -> tb.optimize.GradientTransformation:
    decayed = [tb.optimize.add_decayed_weights(weight_decay)] if weight_decay else []
    return tb.optimize.chain(*decayed, *parts)


def adam(
    net: Nets, learning_rate: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), epsilon: float = 1e-7
) -> Optimizer:
    """Adam."""
    return Optimizer(net, tb.optimize.scale_by_adam(b1=betas[0], b2=betas[1], epsilon=epsilon), learning_rate)


def sgd(
    net: Nets,
    learning_rate: float = 1e-3,
    momentum: float = 0.0,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    nesterov: bool = False,
) -> Optimizer:
    """Gradient descent, with momentum. Raises `NotImplementedError` for dampening, which `tb.optimize.trace` lacks."""
    if dampening:
        raise NotImplementedError(
            f"sgd: expected dampening=0, as tb.optimize.trace has none, got dampening={dampening}"
        )
    parts = [tb.optimize.trace(momentum, nesterov=nesterov)] if momentum else []
    return Optimizer(net, _chain(weight_decay, *parts), learning_rate)


def adagrad(
    net: Nets,
    learning_rate: float = 1e-3,
    lr_decay: float = 0.0,
    weight_decay: float = 0.0,
    initial_accumulator_value: float = 0.0,
    eps: float = 1e-10,
) -> Optimizer:
    """Adagrad."""
    parts = scale_by_sum_of_squares(initial_accumulator_value, lr_decay, eps)
    return Optimizer(net, _chain(weight_decay, parts), learning_rate)


def rmsprop(
    net: Nets,
    learning_rate: float = 1e-3,
    alpha: float = 0.99,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    momentum: float = 0.0,
    centered: bool = False,
) -> Optimizer:
    """RMSProp. `eps` is added below the root, as in PhiML's on JAX; on PyTorch it is added to the root."""
    parts = [tb.optimize.scale_by_rms(decay=alpha, epsilon=eps, centered=centered)]
    parts += [tb.optimize.trace(momentum)] if momentum else []
    return Optimizer(net, _chain(weight_decay, *parts), learning_rate)
