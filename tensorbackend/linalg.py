"""Linear algebra: the Array API's extension `linalg`, and more. The last two axes are the matrix."""

from .ops.linalg import cholesky as cholesky
from .ops.linalg import eig as eig
from .ops.linalg import eigh as eigh
from .ops.linalg import lu as lu
from .ops.linalg import qr as qr
from .ops.linalg import svd as svd
from .ops.linalg import triangular_solve as triangular_solve
