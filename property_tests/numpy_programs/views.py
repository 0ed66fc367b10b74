"""Programs that write to what functions and keys return: makers of arrays from an array, and ways to write to them.

A maker is an expression of `x`, an array of 3 rows and 4 columns. A write is statements about what was made, `y`.
"""

from typing import Final

MAKERS: Final = """
x
x[...]
x[()]
x[1]
x[1:]
x[:, 1:3]
x[::2]
x[::-1]
x[:, ::-1]
x[:, 2]
x[None]
x[1:3, 1:]
x.reshape(2, 6)
x.reshape(-1)
x.reshape(-3, 4)
x.reshape(6, 2, order="F")
x.reshape(-1, order="A")
x.T.reshape(6, 2)
x.T.reshape(6, 2, order="F")
x[:, 1:3].reshape(-1)
x[:, :1].reshape(-1)
x[::2].reshape(2, 2, 2)
x[::-1].reshape(-1)
np.reshape(x, (4, 3))
np.reshape(x, (4, 3), copy=True)
x.ravel()
x.ravel("F")
x.ravel("K")
x.ravel("A")
x.T.ravel()
x.T.ravel("F")
x.T.ravel("K")
x.T.ravel("A")
x[:, 1:3].ravel()
x[::-1].ravel("K")
np.ravel(x[1:])
x.flatten()
x.flatten("F")
x.T.flatten("K")
x.T
x.mT
x.transpose(1, 0)
np.permute_dims(x, (1, 0))
np.swapaxes(x, 0, 1)
np.moveaxis(x, 0, -1)
np.rollaxis(x, 1)
np.matrix_transpose(x)
np.squeeze(x)
np.squeeze(x[None])
np.expand_dims(x, 0)
np.atleast_1d(x)
np.atleast_2d(x)
np.atleast_3d(x)
np.flip(x)
np.flip(x, 0)
np.fliplr(x)
np.flipud(x)
np.rot90(x)
np.rot90(x, 2)
np.rot90(x).ravel()
np.diagonal(x)
x.diagonal(1)
np.diag(x)
np.diag(x.ravel())
x.view()
x.view(np.float64)
x.view(np.int64)
x.view(np.float32)
x.real
x.imag
np.real(x)
x.conj()
(x + 0j).real
(x + 0j).imag
np.asarray(x)
np.asarray(x, order="F")
np.asanyarray(x)
np.array(x)
np.array(x, copy=None)
np.array(x, order="F")
np.array(x.T)
np.array(x, ndmin=3, copy=None)
np.ascontiguousarray(x)
np.ascontiguousarray(x.T)
np.ascontiguousarray(x[:, 1:3])
np.asfortranarray(x)
np.asfortranarray(x.T)
np.asfortranarray(x[1])
np.require(x, requirements="C")
np.require(x.T, requirements="C")
np.require(x[1:], requirements="O")
np.asarray_chkfinite(x)
np.copy(x)
x.copy()
x.copy("F")
x.T.copy("K")
x.astype(float)
x.astype(float, copy=False)
x.astype(np.float32, order="F")
np.broadcast_to(x, (2, 3, 4))
np.broadcast_to(x, (3, 4))
np.broadcast_arrays(x, np.ones((2, 1, 1)))[0]
np.broadcast_arrays(x, x)[0]
np.meshgrid(x[0], x[1], copy=False)[0]
np.meshgrid(x[0], x[1], copy=False, sparse=True)[1]
np.meshgrid(x[0], x[1])[0]
np.lib.stride_tricks.sliding_window_view(x, 2, 0)
np.lib.stride_tricks.sliding_window_view(x, (2, 2), writeable=True)
np.lib.stride_tricks.as_strided(x, (2, 3), (32, 16))
np.lib.stride_tricks.as_strided(x[1:], (2, 2), (32, 8), writeable=False)
np.lib.stride_tricks.as_strided(x.T)
np.einsum("ii->i", x[:, :3])
np.einsum("ij->ji", x)
np.einsum("ji", x)
np.einsum("...i->i...", x)
np.einsum("ij->i", x)
np.trim_zeros(x[0])
np.split(x, 3)[1]
np.split(x, 2, axis=1)[1]
np.array_split(x, 2)[1]
np.hsplit(x, 2)[1]
np.vsplit(x, 3)[1]
np.dsplit(x[None], 2)[0]
np.unstack(x)[1]
next(iter(x))
np.nditer(x).operands[0]
np.real_if_close(x)
np.nan_to_num(x, copy=False)
np.nan_to_num(x)
x[x > 3]
x[[0, 1]]
x[:, [0, 1]]
np.take(x, [0], 0)
np.compress([True, False, True], x, 0)
np.clip(x, 2, None)
np.roll(x, 1)
np.tile(x, 2)
np.concatenate([x])
np.stack([x])
np.where(x > 3, x, x)
np.sort(x)
np.zeros_like(x.T)
np.full_like(x.T, 2.0)
np.zeros(x.shape, order="F")
np.tril(x)
x + 0
""".strip().splitlines()

WRITES: Final = """
y += 1
y -= y.mean()
y *= y
y **= 2
y /= 2
y[...] = 5
y[()] = 5
y[:] = y
y[:] = y[::-1]
y[0] = 5
y[0] = y[-1]
y[..., 0] = 7
y[-1:] += 1
y[y > 3] = 0
y[y > 3] += 1
y[[0]] = 7
y[1:, ...][...] = 2
y.T[...] = 4
np.add(y, 1, out=y)
np.add(y, y, out=(y,))
np.sqrt(y, y)
np.add(y, 1, out=y, where=y > 3)
np.add.at(y, 0, 1)
np.negative.at(y, [0])
np.add.accumulate(y, out=y)
np.cumsum(y, 0, out=y)
np.clip(y, 2, 5, out=y)
y.round(out=y)
np.multiply(y, 2, out=y[...])
y.sort()
y[::-1].sort(0)
y.partition(0)
y.fill(3)
y.put([0, 1], 9)
np.put(y, [0, 1], [8, 9])
np.putmask(y, y > 2, [8, 9])
np.place(y, y > 2, [8, 9])
np.copyto(y, 9)
np.copyto(y, 9, where=y > 2)
np.put_along_axis(y, y.argmax(0)[None], 99, 0)
np.fill_diagonal(y, 9)
np.nan_to_num(y, copy=False)
y.flat[1] = 9
y.flat = 9
y.flat[-1] = 8.5; y.flat[np.int8(0)] = y.flat[1]
for place, each in enumerate(y.flat): y.flat[place] = each + place
places = y.flat; next(places); y.flat[2] = 9; y.flat[0] = sum(places)
for place in range(len(y)): y[place] = place
for place in range(len(y)): y[place] += np.float64(place)
for place in range(len(y)): y[place, ...] = y[place].sum()
y.real = 9
y.shape = (-1,); y[0] = 9
y.itemset(0, 9)
y.byteswap(True)
y.flags.writeable = False; y[0] = 1
y.setflags(write=True); y[0] = 1
""".strip().splitlines()
