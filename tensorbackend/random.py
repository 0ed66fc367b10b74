"""Random numbers from keys: the same on every backend, and the same as those of `jax.random`.

A key, which is a tensor of two words (uint32), determines the numbers that are drawn with it. Draw with each key only
once, and `split` a key to get more keys. These functions return the numbers of JAX's default generator, the
partitionable Threefry-2x32:

- to the bit: `key`, `split`, `fold_in`, `bits`, `uniform`, `randint`, `bernoulli`, `permutation`, `shuffle`;
- by the same formulas, within the error of the functions in them: `normal` (where JAX's own inverse error function
  is up to some 80 ulps off in float32), `exponential`, `laplace`, `gumbel`, `truncated_normal`,
  `multivariate_normal`, `gamma`, `beta`, `dirichlet`, `student_t`, `categorical`, `choice`;
- counts by the same formulas: `poisson`, `binomial`.

Differences: all 64 bits of a seed are used, as in JAX with 64-bit dtypes enabled; `randint` returns
int64 unless a dtype is given, as JAX does in that mode; `choice` draws its positions as int32, as JAX does by default.

>>> import tensorbackend as tb
>>> first, second = tb.random.split(tb.random.key(42))
>>> tb.random.uniform(first, (2, 3), names=("row", "column")).template
f32[row: 2][column: 3]
>>> tb.random.bits(second).item()
3125294276
"""

from .ops.composite.random.continuous import exponential as exponential
from .ops.composite.random.continuous import gumbel as gumbel
from .ops.composite.random.continuous import laplace as laplace
from .ops.composite.random.continuous import normal as normal
from .ops.composite.random.continuous import truncated_normal as truncated_normal
from .ops.composite.random.continuous import uniform as uniform
from .ops.composite.random.discrete import bernoulli as bernoulli
from .ops.composite.random.discrete import categorical as categorical
from .ops.composite.random.discrete import choice as choice
from .ops.composite.random.discrete import permutation as permutation
from .ops.composite.random.discrete import randint as randint
from .ops.composite.random.discrete import shuffle as shuffle
from .ops.composite.random.multivariate import multivariate_normal as multivariate_normal
from .ops.composite.random.threefry import bits as bits
from .ops.composite.random.threefry import fold_in as fold_in
from .ops.composite.random.threefry import split as split
from .ops.composite.random.threefry import threefry2x32 as threefry2x32
from .ops.generator import Generator as Generator
from .ops.generator import generator as generator
from .ops.random import key as key
from .sampling.counts import binomial as binomial
from .sampling.counts import poisson as poisson
from .sampling.gamma import beta as beta
from .sampling.gamma import dirichlet as dirichlet
from .sampling.gamma import gamma as gamma
from .sampling.gamma import student_t as student_t
from .tensor.missing_names import missing_names as _missing_names

__getattr__ = _missing_names(__name__)
