"""Statements that write to arrays, run with NumPy and with the namespace in its place, on the operands of `calls`."""

from __future__ import annotations

from typing import Final

WRITES: Final = """
a[0] = 5
a[:, 0] = row[0]
a[m] = 0
a[[0, -1]] = 1.5
a[0][-1] = 7
a[1:][...] = 2
a += b
a *= 2
a -= row
i += 3
i //= 2
m |= w
a[0] += 1
a[:, 0] *= 3
a[m] += 1
a.T[0] = 4
a.T[0, 0] = 4
a.reshape(-1)[1] = 9
a.ravel()[:2] = 8
a[::-1][0] = 6
a.fill(3)
a.sort()
a.sort(axis=0)
a.flat = 2
a.flat[1] = 5
a.shape = -1
c.real = 1
c.imag = a
c.real[0] = 4
c.imag[:, 0] = 5
np.add(a, b, out=a)
np.multiply(a, 2, a)
np.exp(a, out=b)
np.add(a, 1, out=a, where=m)
np.copyto(a, b)
np.copyto(a, 0, where=m)
np.add.at(v, [0, 0, 1], 1)
np.subtract.at(v, [0, 1, 0], 2.0)
np.multiply.at(v, [0, 0, 1], 3)
np.maximum.at(v, [0, 1], 0.5)
np.negative.at(v, [0, 0])
np.add.at(a, (slice(None), [0, 0]), 1)
np.put(a, [0, -1], [5, 6])
np.place(a, m, [1.0, 2.0])
np.putmask(a, m, b)
np.fill_diagonal(a, 7)
np.put_along_axis(a, np.argmax(a, axis=1, keepdims=True), 9, axis=1)
a.put([0, 1], 3)
a.partition(1)
np.diagonal(M).copy()
view = a[0]; view += 1
view = a[1:]; view[0] = 3; view *= 2
view = a.T; view[:, 0] = 1
view = a[0][1:]; view[...] = 5
view = np.swapaxes(a, 0, 1); view[0] = 1
view = np.flip(a, 0); view[0] = 1
view = np.expand_dims(a, 0); view[0, 0] = 1
view = a.reshape(1, -1); view[0, 0] = 4; a[0, 1] = 3
view = np.squeeze(a[None]); view[0] = 2
view = np.split(v, [1])[1]; view[...] = 0
view = i.view(np.uint64); view[0] = 1
view = np.moveaxis(t, 0, -1); view[..., 0] = 2
view = a[:, 0]; a[0, 0] = 50; b[0] = view[0]
view = a[:]; view += b; a *= 2
for r in a: r[0] = 1
b[:] = a[::-1]; a[:] = a[::-1]
v[1:] = v[:-1]
v[:-1] += v[1:]
x, y = a[0], a[-1]; x[...] = y
a[0], a[-1] = a[-1].copy(), a[0].copy()
s = a.sum(); s += 1; a[0, 0] = s
z = np.array(3.0); y = z; z += 1; a[0, 0] = y
""".strip().splitlines()
"""Statements that change their operands, all of which are compared afterwards."""
