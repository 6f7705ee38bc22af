"""Functions of paddle.nn.functional that only move elements."""

from __future__ import annotations

from .row import NO_KERNEL, Row, lines

SETUP = (
    "F = paddle.nn.functional\nx = paddle.arange(12.0).reshape([3, 4])\nv = T([1.0, 2.0, 3.0])\nz = T(3.0)\n"
    "l = paddle.arange(6.0).reshape([1, 2, 3])\np = paddle.arange(4.0).reshape([1, 1, 2, 2])\n"
    "q = paddle.arange(16.0).reshape([1, 1, 4, 4])\nd = paddle.arange(8.0).reshape([1, 1, 2, 2, 2])\n"
    "c = paddle.arange(24).reshape([2, 3, 4])"
)

MASKS = [
    *lines(
        "one_hot",
        SETUP,
        """
        F.one_hot(T([1, 0, 2]), 3)
        F.one_hot(T([1, 0, 2])[::-1])
        F.one_hot(T([[1, 0], [2, 1]]).T, 4)
        F.one_hot(T(1), num_classes=3)
        F.one_hot(T([1], 'int32'), 3)
        F.one_hot(T([], 'int64'), 3)
        F.one_hot(T([1]), T(3))
        F.one_hot(T([1, 3]), 3)
        F.one_hot(T([-1]), 3)
        F.one_hot(T([], 'int64'))
        F.one_hot(T([1]), 0)
        """,
    ),
    Row("one_hot", "F.one_hot(T([1.0]), 3)", rule=NO_KERNEL, instead="fail(RuntimeError)", setup=SETUP),
    Row("one_hot", "F.one_hot(T([1], 'uint8'), 3)", rule=NO_KERNEL, instead="fail(RuntimeError)", setup=SETUP),
    *lines(
        "sequence_mask",
        SETUP,
        """
        F.sequence_mask(T([1, 3, 2]))
        F.sequence_mask(T([1, 3, 2])[::-1], 4, 'float32')
        F.sequence_mask(T([[1, 3], [2, 0]]).T)
        F.sequence_mask(T([1, 3]), T(2), 'bool')
        F.sequence_mask(T([1.5, 3.0]))
        F.sequence_mask(T(2))
        F.sequence_mask(T([0, 0]))
        """,
    ),
]

PADS = [
    *lines(
        "pad",
        SETUP,
        """
        F.pad(x, [1, 2])
        F.pad(x.T, [1, 1, 2, 0])
        F.pad(x, [1, 1, 2, 0], pad_from_left_axis=False)
        F.pad(v[::-1], [1, 2], value=5.0)
        F.pad(x, [1])
        F.pad(x, [1, 1, 1, 1, 1, 1])
        F.pad(x, [T(1), 2])
        F.pad(x, [1, 1], data_format='FOO')
        F.pad(l, [1, 2])
        F.pad(l, [1, 2], mode='reflect')
        F.pad(l, [1, 2], mode='replicate')
        F.pad(l, [1, 2], mode='circular')
        F.pad(l, [4, 2], mode='circular')
        F.pad(l, [2, 1], mode='reflect', data_format='NLC')
        F.pad(l.transpose([0, 2, 1]), [1, 2], mode='reflect', data_format='NLC')
        F.pad(l, [1, 2], data_format='NLC')
        F.pad(p, [1, 0, 0, 1])
        F.pad(p, [1, 0, 0, 1], mode='replicate')
        F.pad(p, [1, 0, 0, 1], mode='replicate', data_format='NHWC')
        F.pad(p, [1, 0, 0, 1], data_format='NHWC')
        F.pad(p, [1, 0]).shape
        F.pad(p, [0, 0, 0, 0, 1, 1, 2, 2]).shape
        F.pad(p, [0, 1, 2, 3, 0, 0, 0, 0]).shape
        F.pad(p, [0, 1, 2, 3, 0, 0, 0, 0], pad_from_left_axis=False).shape
        F.pad(d, [1, 0, 0, 1, 2, 0])
        F.pad(d, [1, 0, 0, 1, 1, 0], mode='reflect')
        F.pad(d, [1, 0, 0, 1, 1, 0], mode='circular', data_format='NDHWC')
        F.pad(d, [1, 0, 0, 1]).shape
        F.pad(q, [-1, 0, 0, -1])
        F.pad(q, [-1, 0, 0, -1], mode='reflect')
        F.pad(q, [-1, 1, 2, -1], mode='replicate')
        F.pad(p.astype('int64'), [1, 0, 0, 1], value=7)
        F.pad(c, [1, 1, 0, 0, 2, 2]).shape
        F.pad(c, [1, 1, 0, 0, 2, 2], pad_from_left_axis=False).shape
        F.pad(c, [1, 1], data_format='NLC').shape
        F.pad(c.astype('float32'), [1, 1, 1, 1]).shape
        F.pad(paddle.zeros([0, 1, 2, 2]), [1, 0, 0, 1]).shape
        F.pad(paddle.zeros([1, 1, 0, 2]), [1, 0, 0, 1])
        F.zeropad2d(p, [1, 0, 0, 1])
        F.zeropad2d(p, [1, 0, 0, 1], 'NHWC').shape
        F.zeropad2d(x, [1, 0, 0, 1])
        F.zeropad2d(p, 1)
        F.pad(v, [1, 2], mode='reflect')
        F.pad(l, [3, 2], mode='reflect')
        F.pad(p, [1, 0], mode='reflect')
        F.pad(x, [-1, 0])
        F.pad(x, [1, 1], mode='foo')
        F.pad(p, [1, 0, 0, 1], data_format='FOO')
        F.pad(p, [1, 0, 0, 1], data_format='NCL')
        F.pad(p, 1)
        """,
    ),
]

SHUFFLES = [
    *lines(
        "pixel_shuffle",
        SETUP,
        """
        F.pixel_shuffle(paddle.arange(8.0).reshape([1, 4, 2, 1]), 2)
        F.pixel_shuffle(paddle.arange(36.0).reshape([2, 9, 1, 2])[:, ::-1], 3)
        F.pixel_shuffle(paddle.arange(8.0).reshape([1, 2, 1, 4]), 2, 'NHWC')
        F.pixel_shuffle(paddle.arange(16.0).reshape([1, 1, 2, 8]), 2, 'NHWC')
        F.pixel_shuffle(paddle.arange(6.0).reshape([1, 6, 1, 1]), 2)
        F.pixel_shuffle(x, 2)
        F.pixel_shuffle(p, 2.0)
        F.pixel_shuffle(p, 1, 'FOO')
        F.pixel_shuffle(p, 0)
        F.pixel_unshuffle(paddle.arange(8.0).reshape([1, 1, 2, 4]), 2)
        F.pixel_unshuffle(q.transpose([0, 1, 3, 2]), 2)
        F.pixel_unshuffle(paddle.arange(8.0).reshape([1, 2, 4, 1]), 2, 'NHWC')
        F.pixel_unshuffle(q, 3)
        F.pixel_unshuffle(x, 2)
        F.pixel_unshuffle(q, 0)
        F.pixel_unshuffle(q, 2, 'FOO')
        F.channel_shuffle(paddle.arange(4.0).reshape([1, 4, 1, 1]), 2)
        F.channel_shuffle(paddle.arange(12.0).reshape([1, 6, 1, 2])[:, :, :, ::-1], 3)
        F.channel_shuffle(paddle.arange(4.0).reshape([1, 1, 1, 4]), 2, 'NHWC')
        F.channel_shuffle(q, 3)
        F.channel_shuffle(x, 2)
        F.channel_shuffle(q, 2.0)
        F.channel_shuffle(q, -1)
        F.channel_shuffle(q, 1, 'FOO')
        """,
    ),
]

ROWS = [*MASKS, *PADS, *SHUFFLES]
