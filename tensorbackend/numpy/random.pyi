"""`numpy.random`: generators and the legacy functions, over the library's keys. Written by `python -m tensorbackend.numpy.stub`."""

import builtins
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, overload

from . import _ArrayOrNumber, ndarray

from numpy.random import BitGenerator as BitGenerator
from numpy.random import MT19937 as MT19937
from numpy.random import PCG64 as PCG64
from numpy.random import PCG64DXSM as PCG64DXSM
from numpy.random import Philox as Philox
from numpy.random import SFC64 as SFC64
from numpy.random import SeedSequence as SeedSequence

class Generator:
    def __init__(self, bit_generator: Any) -> None: ...
    def beta(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def binomial(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    @property
    def bit_generator(self) -> Any: ...
    def bytes(self, *arguments: Any, **options: Any) -> builtins.bytes: ...
    def chisquare(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def choice(self, a: Any, size: Any = ..., replace: builtins.bool = ..., p: Any = ..., axis: int = ..., shuffle: builtins.bool = ...) -> _ArrayOrNumber:
        """Entries drawn along an axis, or numbers up to one."""
    def dirichlet(self, *arguments: Any, **options: Any) -> ndarray: ...
    def exponential(self, scale: Any = ..., size: Any = ...) -> _ArrayOrNumber:
        """Exponentially distributed numbers."""
    def f(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def gamma(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def geometric(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def gumbel(self, loc: Any = ..., scale: Any = ..., size: Any = ...) -> _ArrayOrNumber:
        """Gumbel-distributed numbers."""
    def hypergeometric(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def integers(self, low: Any, high: Any = ..., size: Any = ..., dtype: Any = ..., endpoint: builtins.bool = ...) -> _ArrayOrNumber:
        """Integers from low up to high."""
    def laplace(self, loc: Any = ..., scale: Any = ..., size: Any = ...) -> _ArrayOrNumber:
        """Laplace-distributed numbers."""
    def logistic(self, loc: Any = ..., scale: Any = ..., size: Any = ...) -> _ArrayOrNumber:
        """Logistically distributed numbers."""
    def lognormal(self, mean: Any = ..., sigma: Any = ..., size: Any = ...) -> _ArrayOrNumber:
        """Numbers whose logarithms are normally distributed."""
    def logseries(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def multinomial(self, n: Any, pvals: Any, size: Any = ...) -> ndarray:
        """Counts of each of several outcomes."""
    def multivariate_hypergeometric(self, *arguments: Any, **options: Any) -> ndarray: ...
    def multivariate_normal(self, mean: Any, cov: Any, size: Any = ..., *arguments: Any, **options: Any) -> ndarray:
        """Vectors of normally distributed numbers with given covariances."""
    def negative_binomial(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def noncentral_chisquare(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def noncentral_f(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def normal(self, loc: Any = ..., scale: Any = ..., size: Any = ...) -> _ArrayOrNumber:
        """Normally distributed numbers."""
    def pareto(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def permutation(self, x: Any, axis: int = ...) -> ndarray:
        """The entries along an axis, or the numbers up to one, in random order."""
    def permuted(self, x: Any, *, axis: Any = ..., out: Any = ...) -> ndarray:
        """The elements along an axis, each line in a separate random order."""
    def poisson(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def power(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def random(self, size: Any = ..., dtype: Any = ..., out: Any = ...) -> _ArrayOrNumber:
        """Numbers from 0 to 1."""
    def rayleigh(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def shuffle(self, x: Any, axis: int = ...) -> None:
        """Shuffle the entries along an axis, in place."""
    def spawn(self, n_children: int) -> list[Generator]:
        """Generators with independent streams."""
    def standard_cauchy(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def standard_exponential(self, size: Any = ..., dtype: Any = ..., method: str = ..., out: Any = ...) -> _ArrayOrNumber:
        """Numbers of the standard exponential distribution."""
    def standard_gamma(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def standard_normal(self, size: Any = ..., dtype: Any = ..., out: Any = ...) -> _ArrayOrNumber:
        """Numbers of the standard normal distribution."""
    def standard_t(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def triangular(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def uniform(self, low: Any = ..., high: Any = ..., size: Any = ...) -> _ArrayOrNumber:
        """Numbers between two bounds."""
    def vonmises(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def wald(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def weibull(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def zipf(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...

class RandomState:
    def __init__(self, seed: Any = ...) -> None: ...
    def beta(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def binomial(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def bytes(self, *arguments: Any, **options: Any) -> builtins.bytes: ...
    def chisquare(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def choice(self, a: Any, size: Any = ..., replace: builtins.bool = ..., p: Any = ..., axis: int = ..., shuffle: builtins.bool = ...) -> _ArrayOrNumber:
        """Entries drawn along an axis, or numbers up to one."""
    def dirichlet(self, *arguments: Any, **options: Any) -> ndarray: ...
    def exponential(self, scale: Any = ..., size: Any = ...) -> _ArrayOrNumber:
        """Exponentially distributed numbers."""
    def f(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def gamma(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def geometric(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def get_state(self, legacy: builtins.bool = ...) -> Any:
        """The state, for `set_state`."""
    def gumbel(self, loc: Any = ..., scale: Any = ..., size: Any = ...) -> _ArrayOrNumber:
        """Gumbel-distributed numbers."""
    def hypergeometric(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def laplace(self, loc: Any = ..., scale: Any = ..., size: Any = ...) -> _ArrayOrNumber:
        """Laplace-distributed numbers."""
    def logistic(self, loc: Any = ..., scale: Any = ..., size: Any = ...) -> _ArrayOrNumber:
        """Logistically distributed numbers."""
    def lognormal(self, mean: Any = ..., sigma: Any = ..., size: Any = ...) -> _ArrayOrNumber:
        """Numbers whose logarithms are normally distributed."""
    def logseries(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def multinomial(self, n: Any, pvals: Any, size: Any = ...) -> ndarray:
        """Counts of each of several outcomes."""
    def multivariate_normal(self, mean: Any, cov: Any, size: Any = ..., *arguments: Any, **options: Any) -> ndarray:
        """Vectors of normally distributed numbers with given covariances."""
    def negative_binomial(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def noncentral_chisquare(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def noncentral_f(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def normal(self, loc: Any = ..., scale: Any = ..., size: Any = ...) -> _ArrayOrNumber:
        """Normally distributed numbers."""
    def pareto(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def permutation(self, x: Any, axis: int = ...) -> ndarray:
        """The entries along an axis, or the numbers up to one, in random order."""
    def poisson(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def power(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def rand(self, *shape: Any) -> _ArrayOrNumber:
        """Numbers from 0 to 1, with the sizes as arguments."""
    def randint(self, low: Any, high: Any = ..., size: Any = ..., dtype: Any = ...) -> _ArrayOrNumber:
        """Integers from low up to high."""
    def randn(self, *shape: Any) -> _ArrayOrNumber:
        """Numbers of the standard normal distribution, with the sizes as arguments."""
    def random(self, size: Any = ...) -> _ArrayOrNumber:
        """Numbers from 0 to 1."""
    def random_integers(self, low: Any, high: Any = ..., size: Any = ...) -> _ArrayOrNumber:
        """Integers from low to high."""
    def random_sample(self, size: Any = ...) -> _ArrayOrNumber:
        """Numbers from 0 to 1."""
    def rayleigh(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def seed(self, seed: Any = ...) -> None:
        """Reseed the generator."""
    def set_state(self, state: Any) -> None:
        """Restore a state. After one of NumPy's own, numbers are drawn from NumPy's stream."""
    def shuffle(self, x: Any, axis: int = ...) -> None:
        """Shuffle the entries along an axis, in place."""
    def standard_cauchy(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def standard_exponential(self, size: Any = ...) -> _ArrayOrNumber:
        """Numbers of the standard exponential distribution."""
    def standard_gamma(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def standard_normal(self, size: Any = ...) -> _ArrayOrNumber:
        """Numbers of the standard normal distribution."""
    def standard_t(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def tomaxint(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def triangular(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def uniform(self, low: Any = ..., high: Any = ..., size: Any = ...) -> _ArrayOrNumber:
        """Numbers between two bounds."""
    def vonmises(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def wald(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def weibull(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...
    def zipf(self, *arguments: Any, **options: Any) -> _ArrayOrNumber: ...

_rand: RandomState
beta = _rand.beta
binomial = _rand.binomial
bytes = _rand.bytes
chisquare = _rand.chisquare
choice = _rand.choice
dirichlet = _rand.dirichlet
exponential = _rand.exponential
f = _rand.f
gamma = _rand.gamma
geometric = _rand.geometric
get_state = _rand.get_state
gumbel = _rand.gumbel
hypergeometric = _rand.hypergeometric
laplace = _rand.laplace
logistic = _rand.logistic
lognormal = _rand.lognormal
logseries = _rand.logseries
multinomial = _rand.multinomial
multivariate_normal = _rand.multivariate_normal
negative_binomial = _rand.negative_binomial
noncentral_chisquare = _rand.noncentral_chisquare
noncentral_f = _rand.noncentral_f
normal = _rand.normal
pareto = _rand.pareto
permutation = _rand.permutation
poisson = _rand.poisson
power = _rand.power
rand = _rand.rand
randint = _rand.randint
randn = _rand.randn
random = _rand.random
random_integers = _rand.random_integers
random_sample = _rand.random_sample
rayleigh = _rand.rayleigh
seed = _rand.seed
set_state = _rand.set_state
shuffle = _rand.shuffle
standard_cauchy = _rand.standard_cauchy
standard_exponential = _rand.standard_exponential
standard_gamma = _rand.standard_gamma
standard_normal = _rand.standard_normal
standard_t = _rand.standard_t
tomaxint = _rand.tomaxint
triangular = _rand.triangular
uniform = _rand.uniform
vonmises = _rand.vonmises
wald = _rand.wald
weibull = _rand.weibull
zipf = _rand.zipf
ranf = random_sample
sample = random_sample
def default_rng(seed: Any = ...) -> Generator:
    """A generator from a seed."""
def numpy_stream() -> AbstractContextManager[None]:
    """Within the block draw from NumPy's own streams."""
mtrand: Any
