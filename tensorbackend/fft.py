"""Discrete Fourier transforms: the `fft` extension of the Array API standard; and cosine transforms.

>>> import tensorbackend as tb
>>> tb.fft.rfft(tb.asarray([1.0, 2.0])).tolist()
[(3+0j), (-1+0j)]
"""

from .ops.composite.fourier import dct as dct
from .ops.composite.fourier import fft2 as fft2
from .ops.composite.fourier import fftn as fftn
from .ops.composite.fourier import fftshift as fftshift
from .ops.composite.fourier import hfft as hfft
from .ops.composite.fourier import idct as idct
from .ops.composite.fourier import ifft2 as ifft2
from .ops.composite.fourier import ifftn as ifftn
from .ops.composite.fourier import ifftshift as ifftshift
from .ops.composite.fourier import ihfft as ihfft
from .ops.composite.fourier import irfft as irfft
from .ops.composite.fourier import irfftn as irfftn
from .ops.composite.fourier import rfft as rfft
from .ops.composite.fourier import rfftn as rfftn
from .ops.fourier import fft as fft
from .ops.fourier import fftfreq as fftfreq
from .ops.fourier import ifft as ifft
from .ops.fourier import rfftfreq as rfftfreq
from .tensor.missing_names import missing_names as _missing_names

__getattr__ = _missing_names(__name__)
