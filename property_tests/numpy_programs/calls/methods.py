"""Operators, methods and attributes of arrays."""

from __future__ import annotations

from typing import Final

CALLS: Final = """
a + b * 2 - row
a / p
i / 2
i // 3
i % 3
-a
abs(i)
a @ b.T
2 ** i4.clip(0, 5)
p ** 0.5
a > b
(a > 0) & (b > 0)
~m
i & 3
i << 1
divmod(p, 2.0)
a == i
a + 1j
m + m
m * 2
a + [1.0] * a.shape[1]
np.float64(3) * a
np.float32(2) * f4
np.int8(3) + i
a.sum()
a.mean(0)
a.std(axis=1, ddof=1)
a.max(axis=0, keepdims=True)
a.argmax()
a.argsort(axis=0)
a.cumsum()
a.cumprod(axis=0)
a.clip(0, 1)
a.round(1)
a.dot(b.T)
a.ravel()
a.flatten("F")
a.reshape(-1, 1)
a.reshape((a.size,))
t.transpose(1, 0, 2)
t.T
t.mT
t.swapaxes(0, 1)
a.squeeze()
a.repeat(2)
a.take([0, 1])
a.trace()
a.diagonal()
a.nonzero()
a.all()
a.any(axis=1)
a.prod()
a.var()
a.astype(int)
a.astype("f4")
a.tolist()
a.copy()
c.real
c.imag
c.conj()
a.real
i.imag
a[0]
a[-1, 0]
a[:, 0]
a[::-1]
a[..., None]
a[m]
a[[0, -1]]
a[:, [0, 0]]
a[[0, -1], [0, 0]]
a[i % a.shape[0], 0]
a[m.nonzero()]
a[np.newaxis, :, 0]
a[a > 0]
t[:, [0], :1]
t[0, ..., 0]
a.flat[1]
list(a.flat)
len(a)
a.shape
a.size
a.ndim
a.dtype
a.itemsize
a.nbytes
a.strides
float(v[0])
int(k[0])
a.item(0)
a.tobytes()
i.view(np.uint64)
f4.view("i4")
a.compress([True], axis=0)
a.searchsorted(0.0) if a.ndim == 1 else v.shape
a.partition
np.set_printoptions
""".strip().splitlines()
