"""Dask behind tensorbackend's protocol: `tb.get_backend("dask")`, or `DaskBackend(chunks={"time": 1000})`.

>>> import tensorbackend as tb
>>> x = tb.ones((4, 2), names=("time", "feature"), backend=DaskBackend(chunks={"time": 2}))
>>> x.data.chunks
((2, 2), (2,))
>>> tb.sum(x, axis="time").tolist()
[4.0, 4.0]
"""

from .backend import DaskBackend as DaskBackend
from .running import compute as compute
from .running import progress as progress
from .running import rechunk as rechunk
