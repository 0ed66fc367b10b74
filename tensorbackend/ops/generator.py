"""A generator that holds a random key, for programs that prefer a seed to passing keys around."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeVar

from ..caching import module_lock
from ..declarations.argument_errors import check_arguments, check_construction
from ..errors import ArgumentError, expected
from ..protocol import BackendLike
from ..select import get_backend
from ..tensor import Tensor, TensorLike
from ..tensor.missing_names import explain_missing
from .composite.random.threefry import split
from .creation.filled import asarray
from .random import key as key_of

P = ParamSpec("P")
R = TypeVar("R")

_lock = module_lock(__name__)
"""Held while a generator's key is compared and replaced, never while one is split."""


def repeating_trace() -> int | None:
    """The start of the innermost trace whose graph runs again without Python: of `jit`, of a loop, of `vmap`."""
    return get_backend().repeats_from()


def is_from_outside(trace: int | None) -> bool:
    """Whether a state that was made in a trace, or in none, is drawn from in another one whose graph runs again."""
    current = repeating_trace()
    return current is not None and (trace is None or trace < current)


def outside_error(remedy: str, **shown: object) -> ArgumentError:
    """The error for draws from such a state: each call, iteration or example would draw the same numbers."""
    return ArgumentError(expected("no generator from outside in a function that is traced once", remedy, **shown))


@explain_missing
@check_construction
@dataclass
class Generator:
    """Holds a random key and splits it at each draw, so that no key is used twice.

    Its state is its key, a tensor: `tb.save` keeps it, and a generator made from it draws the same numbers again. As a
    dataclass, a generator is a tree of one tensor: it can be pickled, moved to another backend, and passed to and
    returned from traced functions. Draws in a traced function advance only the generator that the function returns. A
    function that `tb.jit` compiles, or the body of a loop, must get the generator as an argument or a carried value.
    Under `tb.vmap` each example needs a key.

    Threads may draw from one generator: no key is drawn twice, but which thread gets which key depends on their timing.
    A draw that fails leaves the generator as it was.

    Parameters
    ----------
    key : Tensor
        A random key; `tb.random.generator` makes a generator from a seed.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> random = tb.random.generator(42)
    >>> first, second = random.draw(tb.random.uniform), random.draw(tb.random.uniform)
    >>> bool(first == second)
    False
    >>> state = random.key
    >>> again = tb.random.Generator(state)
    >>> random.draw(tb.random.normal, (3,), names=("n",)).tolist() == again.draw(tb.random.normal, (3,)).tolist()
    True
    """

    key: Tensor
    """The state: a key that no draw has used yet."""

    def __post_init__(self) -> None:
        self._trace = repeating_trace()

    def next_key(self) -> Tensor:
        """Return a key for one draw, which no other draw uses.

        Returns
        -------
        Tensor
            A random key.

        Raises
        ------
        ArgumentError
            In a function that `tb.jit` compiles, in the body of a loop and under `tb.vmap`, for a generator from
            outside that is not passed in: the function is traced only once, so each call, iteration or example would
            draw the same numbers.

        Examples
        --------
        >>> import tensorbackend as tb
        >>> random = tb.random.generator(0)
        >>> tb.nn.dropout(random.next_key(), tb.ones(4), 0.5).shape
        (4,)
        """
        return self._advance()[1]

    def _advance(self) -> tuple[Tensor, Tensor, Tensor]:
        """The key before, a key for one draw, and the key after, which is now the generator's."""
        if is_from_outside(getattr(self, "_trace", None)):
            key = asarray(self.key)
            if key.backend.is_concrete(key):
                remedy = "pass the generator to the function and return it, so that its state advances"
                raise outside_error(remedy, key=key.template)
        while True:
            before = self.key
            both = split(before)
            after, drawn = both[0], both[1]
            if self._replace(before, after):
                return before, drawn, after

    def _replace(self, old: Tensor, new: Tensor) -> bool:
        """Whether the generator had a key; if so, it has another now. If not, another thread has drawn."""
        with _lock:
            if self.key is not old:
                return False
            self.key = new
            return True

    def draw(self, function: Callable[Concatenate[TensorLike, P], R], /, *arguments: P.args, **options: P.kwargs) -> R:
        """Call a function of a key with the next key.

        Parameters
        ----------
        function : function
            A function whose first parameter is a key, as in `tb.random` and the initialisers of `tb.nn`.
        *arguments, **options
            Its other arguments.

        Returns
        -------
        Any
            The result of the function. If it raises an error, the generator keeps its key, unless another thread has
            drawn meanwhile.

        Examples
        --------
        >>> import tensorbackend as tb
        >>> tb.random.generator(0).draw(tb.random.randint, (2, 3), 0, 10).shape
        (2, 3)
        """
        before, drawn, after = self._advance()
        try:
            return function(drawn, *arguments, **options)
        except BaseException:  # an interrupt too
            self._replace(after, before)
            raise


@check_arguments
def generator(seed: int, /, *, backend: BackendLike = None) -> Generator:
    """Make a generator from a seed.

    Parameters
    ----------
    seed : int
        A seed as for `tb.random.key`.
    backend : backend, optional
        The backend of the key and of the drawn numbers; by default the default backend.

    Returns
    -------
    Generator
        A generator that draws the same numbers for the same seed, on every backend.

    Examples
    --------
    >>> tb.random.generator(7).draw(tb.random.bits).item() == tb.random.generator(7).draw(tb.random.bits).item()
    True
    """
    return Generator(key_of(seed, backend=backend))
