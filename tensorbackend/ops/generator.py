"""A generator that holds a random key, for those who want a seed in place of keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeVar

from ..entry import entry
from ..protocol import BackendLike
from ..tensor import Tensor, TensorLike
from .composite.random.threefry import split
from .random import key as key_of

P = ParamSpec("P")
R = TypeVar("R")


@dataclass
class Generator:
    """Holds a random key and splits it at each draw, so that no key is used twice.

    Its state is its key: a tensor, which `tb.save` keeps, and a generator of which draws the same again. As a dataclass
    it is a tree of one tensor: pickled, moved to another backend, and taken and returned by traced functions. What a
    traced function draws counts only in the generator that it returns.

    Parameters
    ----------
    key : Tensor
        A random key; `tb.random.generator` makes a generator of a seed.

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
    """The state: a key that has not been drawn with yet."""

    def next_key(self) -> Tensor:
        """A key for one draw, which no other draw has.

        Returns
        -------
        Tensor
            A random key.

        Examples
        --------
        >>> import tensorbackend as tb
        >>> random = tb.random.generator(0)
        >>> tb.nn.dropout(random.next_key(), tb.ones(4), 0.5).shape
        (4,)
        """
        both = split(self.key)
        self.key = both[0]
        return both[1]

    def draw(self, function: Callable[Concatenate[TensorLike, P], R], /, *arguments: P.args, **options: P.kwargs) -> R:
        """Calls a function of a key with the next key.

        Parameters
        ----------
        function : function
            Takes a key first, as all of `tb.random` and the initialisers of `tb.nn` do.
        *arguments, **options
            What it takes besides.

        Returns
        -------
        Any
            What it returns.

        Examples
        --------
        >>> import tensorbackend as tb
        >>> tb.random.generator(0).draw(tb.random.randint, (2, 3), 0, 10).shape
        (2, 3)
        """
        return function(self.next_key(), *arguments, **options)


@entry
def generator(seed: int, /, *, backend: BackendLike = None) -> Generator:
    """A generator from a seed.

    Parameters
    ----------
    seed : int
        As `tb.random.key` takes it.
    backend : backend, optional
        The backend of the key and of the drawn numbers; by default the default backend.

    Returns
    -------
    Generator
        It draws the same numbers for the same seed, on every backend.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.random.generator(7).draw(tb.random.bits).item() == tb.random.generator(7).draw(tb.random.bits).item()
    True
    """
    return Generator(key_of(seed, backend=backend))
