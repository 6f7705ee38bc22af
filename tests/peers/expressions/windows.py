"""Functions of paddle.nn.functional that move windows over images: convolution, pooling, interpolation, patches."""

from __future__ import annotations

from match import Steps, Summed

from .row import NO_KERNEL, Row, defects, lines

# Elements are small whole numbers, so that sums of products are exact in any order, and means are rounded once.
SETUP = (
    "F = paddle.nn.functional\n"
    "def make(*shape, dtype='float32', m=7):\n"
    "    n = 1\n"
    "    for d in shape:\n"
    "        n *= d\n"
    "    return (paddle.arange(n) * 5 % m - m // 2).reshape(list(shape)).astype(dtype)\n"
    "x = make(2, 4, 6, 7)\nh = make(2, 6, 7, 4)\nl = make(2, 4, 9)\nd = make(2, 2, 4, 5, 6)\n"
    "w = make(6, 4, 3, 2, m=5)\nw1 = make(6, 4, 3, m=5)\nw3 = make(4, 2, 2, 3, 2, m=5)\nb = T([1.0, 2.0, -3.0, 4.0, 5.0, -6.0])\n"
    "t = make(4, 3, 3, 2, m=5)\nt1 = make(4, 3, 3, m=5)\nt3 = make(2, 3, 2, 2, 3, m=5)\n"
    "p = make(2, 3, 7, 5, m=101)\nq = make(1, 2, 8, 9, m=101)"
)

# Dtypes without a kernel here as there.
REFUSED = [
    Row(body.split("(")[0].removeprefix("F."), body, rule=NO_KERNEL, instead="fail(RuntimeError)", setup=SETUP)
    for body in (
        "F.conv2d(x.astype('int64'), w.astype('int64'))",
        "F.max_pool2d(p.astype('int32'), 2)",
        "F.avg_pool2d(p.astype('int32'), 2)",
        "F.interpolate(p.astype('int32'), [3, 3], mode='bilinear')",
        "F.unfold(p.astype('int32'), 2)",
        "F.fold(F.unfold(q, 2).astype('int32'), [8, 9], 2)",
    )
]

CONV = [
    *lines(
        "conv2d",
        SETUP,
        """
        F.conv2d(x, w)
        F.conv2d(x, w, b)
        F.conv2d(input=x, weight=w, bias=b, stride=2)
        F.conv2d(x, w, b, [2, 1], [1, 2], [1, 2])
        F.conv2d(x, w, None, (1, 3), [1, 0, 2, 1])
        F.conv2d(x, w, padding=[[0, 0], [0, 0], [1, 2], [0, 3]])
        F.conv2d(h, w, b, 2, [[0, 0], [1, 2], [0, 3], [0, 0]], data_format='NHWC')
        F.conv2d(x, w, padding='SAME', stride=2)
        F.conv2d(x, w, padding='same', dilation=2)
        F.conv2d(x, w, padding='valid')
        F.conv2d(x, w[:, :2], groups=2)
        F.conv2d(x, make(4, 1, 3, 3), groups=4, padding=1)
        F.conv2d(x, make(8, 1, 3, 3), groups=4, stride=2)
        F.conv2d(h, make(8, 1, 3, 3), groups=4, stride=2, data_format='NHWC')
        F.conv2d(x, make(5, 4, 1, 1))
        F.conv2d(x, make(5, 4, 1, 1), stride=3)
        F.conv2d(x[:, :, ::-1, ::2], w.transpose([0, 1, 3, 2]))
        F.conv2d(x.transpose([0, 1, 3, 2]), w)
        F.conv2d(x[:0], w)
        F.conv2d(x.astype('float64'), w.astype('float64'), b.astype('float64'))
        F.conv2d(make(1, 40, 20, 30), make(70, 40, 3, 3, m=3), padding=1)
        F.conv2d(make(3, 3, 30, 30), make(9, 3, 7, 7, m=3), stride=2, padding=3)
        F.conv2d(x, w, data_format='NCL')
        F.conv2d(x[0], w)
        F.conv2d(x, w, groups=0)
        F.conv2d(x, w, groups=3)
        F.conv2d(x, w, groups=2)
        F.conv2d(x, w, padding=-1)
        F.conv2d(x, w, padding=[1, 2, 3])
        F.conv2d(x, w, padding='some')
        F.conv2d(x, w, padding=[[0, 0], [0, 1], [1, 2], [0, 3]])
        F.conv2d(x, w, stride=[1, 2, 3])
        F.conv2d(x, w, stride=1.5)
        F.conv2d(x, w.astype('float64'))
        """,
    ),
    Row(
        "conv2d",
        "F.conv2d(x.astype('float16'), w.astype('float16'))",
        rule=NO_KERNEL,
        instead="F.conv2d(x, w).astype('float16')",
        setup=SETUP,
    ),
    Row(
        "conv2d",
        "F.conv2d(x.astype('bfloat16'), w.astype('bfloat16'))",
        rule=NO_KERNEL,
        instead="F.conv2d(x, w).astype('bfloat16')",
        setup=SETUP,
    ),
    *lines(
        "conv1d",
        SETUP,
        """
        F.conv1d(l, w1)
        F.conv1d(l, w1, b, 2, 1, 2)
        F.conv1d(l, w1, b, stride=[2], padding=[1, 3])
        F.conv1d(l, w1, padding='SAME', stride=2)
        F.conv1d(l.transpose([0, 2, 1]), w1, b, data_format='NLC')
        F.conv1d(l, w1[:, :2], groups=2, padding=[[0, 0], [0, 0], [2, 1]])
        F.conv1d(l[:, :, ::-1].astype('float64'), w1.astype('float64'))
        F.conv1d(l, w1, data_format='NCHW')
        F.conv1d(x, w1)
        F.conv1d(l, w1, groups=0)
        """,
    ),
    *lines(
        "conv3d",
        SETUP,
        """
        F.conv3d(d, w3)
        F.conv3d(d, w3, T([1.0, 2.0, 3.0, 4.0]), 2, 1)
        F.conv3d(d, w3, stride=[1, 2, 3], padding=[0, 1, 1, 2, 0, 3], dilation=[1, 1, 2])
        F.conv3d(d.transpose([0, 2, 3, 4, 1]), w3, padding='SAME', data_format='NDHWC')
        F.conv3d(d, w3[:, :1], groups=2)
        F.conv3d(x, w3)
        F.conv3d(d, w3, data_format='NCHW')
        """,
    ),
    *lines(
        "conv2d_transpose",
        SETUP,
        """
        F.conv2d_transpose(x, t)
        F.conv2d_transpose(x, t, T([1.0, 2.0, 3.0]), 2)
        F.conv2d_transpose(x, t, None, [2, 3], [1, 0])
        F.conv2d_transpose(x, t, stride=2, padding=1, output_padding=1)
        F.conv2d_transpose(x, t, stride=3, padding=[1, 0, 0, 1], output_padding=[2, 1])
        F.conv2d_transpose(x, t, stride=2, output_size=[14, 14])
        F.conv2d_transpose(x, t, stride=2, output_size=14)
        F.conv2d_transpose(x, t, dilation=2, stride=3)
        F.conv2d_transpose(x, t[:, :1], groups=4)
        F.conv2d_transpose(x, t, groups=2, stride=2, padding=1)
        F.conv2d_transpose(h, t, T([1.0, 2.0, 3.0]), 2, data_format='NHWC')
        F.conv2d_transpose(x, t, padding='SAME', stride=2)
        F.conv2d_transpose(x, t, padding='VALID', stride=4)
        F.conv2d_transpose(x[:, :, ::-1, ::2].astype('float64'), t.astype('float64'), stride=2)
        F.conv2d_transpose(make(2, 40, 9, 9), make(40, 30, 3, 3, m=3), stride=2, padding=1)
        F.conv2d_transpose(x, t, stride=2, output_size=[15, 14])
        F.conv2d_transpose(x, t, stride=2, output_size=[12, 14])
        F.conv2d_transpose(x, t, stride=2, output_padding=2)
        F.conv2d_transpose(x, t, output_padding=1, output_size=[14, 14])
        F.conv2d_transpose(x, t, groups=3)
        F.conv2d_transpose(x[0], t)
        F.conv2d_transpose(x, t[0])
        F.conv2d_transpose(x, t, data_format='NCL')
        """,
    ),
    *lines(
        "conv1d_transpose",
        SETUP,
        """
        F.conv1d_transpose(l, t1)
        F.conv1d_transpose(l, t1, T([1.0, 2.0, 3.0]), 2, 1, 1)
        F.conv1d_transpose(l, t1, stride=3, output_size=29)
        F.conv1d_transpose(l.transpose([0, 2, 1]), t1, T([1.0, 2.0, 3.0]), 2, data_format='NLC')
        F.conv1d_transpose(l, t1, groups=2, dilation=2)
        F.conv1d_transpose(l, t1[0])
        """,
    ),
    *lines(
        "conv3d_transpose",
        SETUP,
        """
        F.conv3d_transpose(d, t3)
        F.conv3d_transpose(d, t3, T([1.0, 2.0, 3.0]), 2, 1, 1)
        F.conv3d_transpose(d, t3, stride=[1, 2, 3], padding=[0, 1, 1], output_size=[5, 8, 17])
        F.conv3d_transpose(d.transpose([0, 2, 3, 4, 1]), t3, data_format='NDHWC', dilation=[2, 1, 1])
        """,
    ),
    *defects("conv2d", "window without room", SETUP, "F.conv2d(x, make(6, 4, 7, 2))  =>  ValueError"),
]

POOLS = [
    *lines(
        "max_pool2d",
        SETUP,
        """
        F.max_pool2d(p, 2)
        F.max_pool2d(p, [3, 2], 2, 1)
        F.max_pool2d(p, 3, [2, 1], [1, 0, 0, 1], ceil_mode=True)
        F.max_pool2d(p, 3, 2, 1, True)
        F.max_pool2d(p, 2, 3, ceil_mode=True, return_mask=True)
        F.max_pool2d(p, 2, 3, 1, ceil_mode=True, return_mask=True)
        F.max_pool2d(p, 2, 2, 2)
        F.max_pool2d(p, 3, 2, 'SAME')
        F.max_pool2d(p, 3, 2, 'VALID')
        F.max_pool2d(p, 2, padding=[[0, 0], [0, 0], [1, 0], [0, 1]])
        F.max_pool2d(p.transpose([0, 2, 3, 1]), 2, 1, data_format='NHWC')
        F.max_pool2d(p[:, :, ::-1, ::2], 2, 1, return_mask=True)
        F.max_pool2d(p.astype('float64'), 3, return_mask=True)
        F.max_pool2d(p.astype('float16'), 3)
        F.max_pool2d(paddle.zeros([1, 1, 4, 4]), 2, return_mask=True)
        F.max_pool2d(p, 8, 9)
        F.max_pool2d(p[:0], 2)
        F.max_pool2d(p[:, :, :0], 3, 1, 1)
        F.max_pool2d(p[0], 2)
        F.max_pool2d(p, 2, padding='VALID', ceil_mode=True)
        F.max_pool2d(p, 2, data_format='NCL')
        F.max_pool2d(p, 2, return_mask=True, data_format='NHWC')
        F.max_pool2d(p, 2.5)
        F.max_pool2d(p, [1, 2, 3])
        """,
    ),
    *defects(
        "max_pool2d",
        "largest of nan",
        SETUP,
        """
        F.max_pool2d(T([[[[nan, 1.0], [2.0, 3.0]]]]), 2)  =>  T([[[[nan]]]])
        F.max_pool2d(T([[[[1.0, 2.0], [nan, 3.0]]]]), 2, return_mask=True)  =>  (T([[[[nan]]]]), T([[[[2]]]], 'int32'))
        F.adaptive_max_pool2d(T([[[[1.0, 2.0], [3.0, nan]]]]), 1)  =>  T([[[[nan]]]])
        F.max_pool2d(T([[[[-inf, -inf], [-inf, -inf]]]]), 2, return_mask=True)  =>  (T([[[[-inf]]]]), T([[[[0]]]], 'int32'))
        """,
    ),
    *defects(
        "max_pool2d",
        "padding of a mask",
        SETUP,
        """
        F.max_pool2d(p, 3, 2, 'SAME', True)[0]  =>  F.max_pool2d(p, 3, 2, 'SAME')
        F.max_pool2d(p, 3, 2, [1, 0, 0, 1], True)[0]  =>  F.max_pool2d(p, 3, 2, [1, 0, 0, 1])
        """,
    ),
    *lines(
        "fractional_max_pool2d",
        SETUP,
        """
        F.fractional_max_pool2d(p, 3, random_u=0.3)
        F.fractional_max_pool2d(p, [4, 3], random_u=0.7, return_mask=True)
        F.fractional_max_pool2d(p, [3, 2], 3, 0.5, True)
        F.fractional_max_pool2d(p, (2, None), [4, 1], 0.2, True)
        F.fractional_max_pool2d(p, 1, 2, 0.5, True)
        F.fractional_max_pool2d(p, [7, 6], None, 0.9, True)
        F.fractional_max_pool2d(p[:, :, ::-1, ::2], 2, random_u=0.1, return_mask=True)
        F.fractional_max_pool2d(p.astype('float64'), 3, 2, 0.9, True)
        F.fractional_max_pool2d(p.astype('float16'), 3, None, 0.6, True)
        F.fractional_max_pool2d(T([[[[nan, 1.0], [-inf, -inf]]]]), [2, 1], None, 0.5, True)
        F.fractional_max_pool2d(p[:0], 2, random_u=0.5)
        F.fractional_max_pool2d(p, [None, 2]).shape
        F.fractional_max_pool2d(p[0], 2, random_u=0.5)
        F.fractional_max_pool2d(p, 2, random_u=1.0)
        F.fractional_max_pool2d(p, 2, random_u=0.0)
        F.fractional_max_pool2d(p, 3, 6, 0.5)
        F.fractional_max_pool2d(p, [1, 2, 3], random_u=0.5)
        """,
    ),
    *lines(
        "fractional_max_pool3d",
        SETUP,
        """
        F.fractional_max_pool3d(d, 2, random_u=0.3)
        F.fractional_max_pool3d(d, [3, 2, 4], random_u=0.7, return_mask=True)
        F.fractional_max_pool3d(d, [3, 2, 1], [2, 3, 1], 0.5, True)
        F.fractional_max_pool3d(d.transpose([0, 1, 4, 2, 3]), 3, 2, 0.8, True)
        F.fractional_max_pool3d(d, 3, 4, 0.5)
        F.fractional_max_pool3d(p, 2, random_u=0.5)
        """,
    ),
    *lines(
        "max_pool1d",
        SETUP,
        """
        F.max_pool1d(l, 2)
        F.max_pool1d(l, 3, 2, 1, True)
        F.max_pool1d(l, 3, 2, 1, ceil_mode=True)
        F.max_pool1d(l[:, :, ::-1], [2], padding=[1, 0])
        F.max_pool1d(l, 3, 2, 'SAME')
        F.max_pool1d(p, 2)
        F.max_pool1d(l[:, :, :0], 3, 1, 1)
        F.max_pool1d(l[:, :, :0], 1)
        F.max_pool1d(l[:, :, :1], 2, 1)
        F.max_pool1d(l[:, :, :1], 3, 1)
        F.max_pool1d(l[:, :, :0], 3, 1, 1, return_mask=True)[1].shape
        """,
    ),
    *lines(
        "max_pool3d",
        SETUP,
        """
        F.max_pool3d(d, 2)
        F.max_pool3d(d, [2, 3, 1], 2, 1, ceil_mode=True)
        F.max_pool3d(d, 2, 1, 0, True)
        F.max_pool3d(d.transpose([0, 2, 3, 4, 1]), 2, data_format='NDHWC')
        F.max_pool3d(d, 2, data_format='NDHWC', return_mask=True)
        """,
    ),
    *lines(
        "avg_pool2d",
        SETUP,
        """
        F.avg_pool2d(p, 2)
        F.avg_pool2d(p, 3, 2, 1)
        F.avg_pool2d(p, 3, 2, 1, exclusive=False)
        F.avg_pool2d(p, [3, 2], [2, 1], [1, 0, 0, 1], True)
        F.avg_pool2d(p, [3, 2], [2, 1], [1, 0, 0, 1], True, False)
        F.avg_pool2d(p, 2, 3, ceil_mode=True)
        F.avg_pool2d(p, 2, 2, 2)
        F.avg_pool2d(p, 3, 2, 'SAME')
        F.avg_pool2d(p, 3, 2, 'SAME', exclusive=False)
        F.avg_pool2d(p.transpose([0, 2, 3, 1]), 2, 1, data_format='NHWC')
        F.avg_pool2d(p[:, :, ::-1, ::2].astype('float64'), 2, 1)
        F.avg_pool2d(p, 2, divisor_override='3')
        F.avg_pool2d(p, 0)
        F.avg_pool2d(p, 2, 0)
        F.avg_pool2d(p, 2, data_format='NCL')
        """,
    ),
    # Three roundings each: of the mean, of a product that is exact here, and of the quotient, once ours and once Paddle's.
    *lines(
        "avg_pool2d",
        SETUP,
        "F.avg_pool2d(p, 2, 2, 1, divisor_override=3)\nF.avg_pool2d(p, 3, divisor_override=2.5)",
        Steps(6),
    ),
    *lines(
        "avg_pool1d",
        SETUP,
        """
        F.avg_pool1d(l, 2)
        F.avg_pool1d(l, 3, 2, 1)
        F.avg_pool1d(l, 3, 2, 1, False, True)
        F.avg_pool1d(l, 3, 2, [0, 1], exclusive=False)
        F.avg_pool1d(l, 0)
        F.avg_pool1d(l[:, :, :0], 3, 1, 1)
        F.avg_pool1d(l[:, :, :1], 2, 1)
        """,
    ),
    *lines(
        "avg_pool3d",
        SETUP,
        """
        F.avg_pool3d(d, 2)
        F.avg_pool3d(d, [2, 3, 1], 2, 1, True)
        F.avg_pool3d(d, [2, 3, 1], 2, [1, 1, 0], exclusive=False)
        F.avg_pool3d(d.transpose([0, 2, 3, 4, 1]), 2, data_format='NDHWC')
        F.avg_pool3d(d, 2, divisor_override=4)
        """,
    ),
    *lines(
        "adaptive_avg_pool2d",
        SETUP,
        """
        F.adaptive_avg_pool2d(p, 1)
        F.adaptive_avg_pool2d(p, [3, 4])
        F.adaptive_avg_pool2d(input=p, output_size=[None, 2])
        F.adaptive_avg_pool2d(p, [9, 10])
        F.adaptive_avg_pool2d(p.transpose([0, 2, 3, 1]), (3, 2), 'NHWC')
        F.adaptive_avg_pool2d(p[:, :, ::-1].astype('float64'), 3)
        F.adaptive_avg_pool2d(p, 1, 'NCL')
        F.adaptive_avg_pool2d(p, [1, 2, 3])
        F.adaptive_avg_pool1d(l, 4)
        F.adaptive_avg_pool1d(p, 4)
        F.adaptive_avg_pool3d(d, [2, None, 4])
        F.adaptive_avg_pool3d(d.transpose([0, 2, 3, 4, 1]), 3, 'NDHWC')
        """,
    ),
    *lines(
        "adaptive_max_pool2d",
        SETUP,
        """
        F.adaptive_max_pool2d(p, 1)
        F.adaptive_max_pool2d(p, [3, 4], True)
        F.adaptive_max_pool2d(input=p, output_size=[None, 2], return_indices=True)
        F.adaptive_max_pool2d(p[0], 1)
        F.adaptive_max_pool1d(l, 4, True)
        F.adaptive_max_pool1d(l, 3)
        F.adaptive_max_pool3d(d, [2, None, 4], True)
        """,
    ),
    *lines(
        "max_unpool2d",
        SETUP,
        """
        F.max_unpool2d(*F.max_pool2d(q, 2, return_mask=True), 2)
        F.max_unpool2d(*F.max_pool2d(q, 2, return_mask=True), 2, output_size=[8, 9])
        F.max_unpool2d(*F.max_pool2d(q, 2, return_mask=True), 2, output_size=[1, 2, 8, 9])
        F.max_unpool2d(*F.max_pool2d(q, 3, 2, 1, return_mask=True), 3, 2, 1)
        F.max_unpool2d(T([[[[1.0, 2.0]]]]), T([[[[0, 4]]]], 'int32'), [1, 2])
        F.max_unpool2d(T([[[[1.0, 2.0]]]]), T([[[[3, 3]]]], 'int32'), [1, 2])
        F.max_unpool2d(T([[[[1, 2]]]]), T([[[[3, 0]]]], 'int32'), [1, 2])
        F.max_unpool2d(q, T([1]), 2)
        F.max_unpool2d(*F.max_pool2d(q, 2, return_mask=True), 2, output_size=[8, 11])
        F.max_unpool2d(*F.max_pool2d(q, 2, return_mask=True), 2, output_size=[8])
        F.max_unpool2d(*F.max_pool2d(q, 2, return_mask=True), 2, data_format='NHWC')
        F.max_unpool1d(*F.max_pool1d(l, 2, return_mask=True), 2)
        F.max_unpool3d(*F.max_pool3d(d, 2, return_mask=True), 2, output_size=[4, 5, 6])
        """,
    ),
    # x ** p, a sum of 9 terms and the root of it: pow within 2 ulps each, which the root makes smaller, and the 8 roundings
    # of a sum, ours and Paddle's.
    *lines(
        "lp_pool2d",
        SETUP,
        """
        F.lp_pool2d(p, 2, 2)
        F.lp_pool2d(p, 2.0, 3, 2, 1)
        F.lp_pool2d(paddle.abs(p) + 1.0, 0.5, 3, 2, 1, True)
        F.lp_pool2d(p, 3, 2)
        F.lp_pool2d(p, float('inf'), 2)
        F.lp_pool2d(p.transpose([0, 2, 3, 1]), 2, 2, data_format='NHWC')
        F.lp_pool2d(p, 0, 2)
        F.lp_pool2d(p[0], 2, 2)
        F.lp_pool1d(l, 2, 3)
        F.lp_pool1d(l, 2, 3, 2, True)
        """,
        Steps(24),
    ),
]

# A share is the fraction of an index of at most 8, with a rounding of that and one of its own; each of two or three axes
# adds two products and a sum. Elements are 50 at most, neighbours 100 apart: an index that is 2 roundings of 8 off moves
# an element by 2 * 8 / 50 * 100 = 32 of them, on each side and each axis.
RESIZED = Summed(100, 50)
RESIZE = [
    *lines(
        "interpolate",
        SETUP,
        """
        F.interpolate(p, [14, 10])
        F.interpolate(p, [3, 7])
        F.interpolate(p, scale_factor=2)
        F.interpolate(p, scale_factor=[1.5, 2.7])
        F.interpolate(p.astype('int32'), [4, 9])
        F.interpolate(p.abs().astype('uint8'), [4, 9])
        F.interpolate(d, [3, 9, 7])
        F.interpolate(p.transpose([0, 2, 3, 1]), [14, 10], data_format='NHWC')
        F.interpolate(p[:, :, ::-1], T([3, 4]))
        F.interpolate(p, [3, T(4)])
        F.interpolate(p, scale_factor=T(2.0))
        F.interpolate(p, scale_factor=1.3, recompute_scale_factor=True)
        F.interpolate(p, None, 1.3, 'nearest', False, True)
        F.interpolate(p, [3, 4], mode='area')
        F.interpolate(l, [5], mode='area')
        F.interpolate(p, 3)
        F.interpolate(p)
        F.interpolate(p, [3])
        F.interpolate(p, [0, 3])
        F.interpolate(p, [3, 3], 2.0)
        F.interpolate(p, scale_factor=-1.0)
        F.interpolate(p, [3, 3], mode='linear')
        F.interpolate(p, [3, 3], mode='cubic')
        F.interpolate(p, [3, 3], align_corners=True)
        F.interpolate(p, [3, 3], mode='bilinear', align_corners=1)
        F.interpolate(p, [3, 3], mode='bilinear', align_mode=2)
        F.interpolate(p, [3, 3], data_format='NCW')
        F.interpolate(l, [3])
        """,
    ),
    *lines(
        "interpolate",
        SETUP,
        """
        F.interpolate(p, [14, 10], mode='bilinear')
        F.interpolate(p, [3, 4], mode='bilinear')
        F.interpolate(p, [13, 9], mode='bilinear', align_corners=True)
        F.interpolate(p, [13, 9], mode='bilinear', align_mode=1)
        F.interpolate(p, [1, 9], mode='bilinear')
        F.interpolate(p, scale_factor=1.7, mode='bilinear')
        F.interpolate(p, scale_factor=[0.6, 2.3], mode='BILINEAR')
        F.interpolate(p, scale_factor=1.7, mode='bilinear', recompute_scale_factor=True)
        F.interpolate(p.transpose([0, 2, 3, 1]), [14, 10], mode='bilinear', data_format='NHWC')
        F.interpolate(p, [14, 10], mode='bicubic')
        F.interpolate(p, [3, 4], mode='bicubic')
        F.interpolate(p, [13, 9], mode='bicubic', align_corners=True)
        F.interpolate(p, scale_factor=1.7, mode='bicubic')
        F.interpolate(l, [20], mode='linear')
        F.interpolate(l, [5], mode='linear', align_corners=True)
        F.interpolate(l.transpose([0, 2, 1]), [20], mode='linear', data_format='NWC')
        F.interpolate(d, [6, 3, 11], mode='trilinear')
        F.interpolate(d, [6, 3, 11], mode='trilinear', align_corners=True)
        F.interpolate(d.transpose([0, 2, 3, 4, 1]), [6, 3, 11], mode='trilinear', data_format='NDHWC')
        F.upsample(p, [14, 10], mode='bilinear')
        F.upsample(p, scale_factor=2)
        """,
        RESIZED,
    ),
    # Shares are float32 in any case, as in Paddle, so that the roundings of those count.
    *lines(
        "interpolate", SETUP, "F.interpolate(p.astype('float64'), [14, 10], mode='bilinear').astype('float32')", RESIZED
    ),
    *lines(
        "interpolate",
        SETUP,
        """
        F.interpolate(p, [3, 3], mode='bilinear', antialias=True)
        F.interpolate(p, [3, 3], mode='bicubic', antialias=True)
        F.interpolate(p, [1, 4], mode='bilinear', antialias=True)
        F.interpolate(p, [14, 10], mode='bilinear', antialias=True)
        F.interpolate(p, [1, 4], mode='bicubic', align_corners=True, antialias=True)
        F.interpolate(p, scale_factor=[0.6, 0.35], mode='bicubic', antialias=True)
        F.interpolate(p, scale_factor=1.7, mode='bilinear', antialias=True)
        F.interpolate(p.transpose([0, 2, 3, 1]), [3, 3], mode='bilinear', data_format='NHWC', antialias=True)
        F.interpolate(p, [3, 3], mode='nearest', antialias=True)
        """,
        RESIZED,
    ),
]

PATCHES = [
    *lines(
        "unfold",
        SETUP,
        """
        F.unfold(p, 2)
        F.unfold(p, [3, 2], 2, 1)
        F.unfold(p, [3, 2], [2, 1], [1, 2], [1, 2])
        F.unfold(p, 3, 1, [1, 0, 2, 3])
        F.unfold(p[:, :, ::-1, ::2], 2)
        F.unfold(p.astype('float64'), 2)
        F.unfold(p * float('inf'), 2, 1, 1)
        F.unfold(p[0], 2)
        F.unfold(p, 2, 1, [1, 2, 3])
        """,
    ),
    *lines(
        "fold",
        SETUP,
        """
        F.fold(F.unfold(q, 2), [8, 9], 2)
        F.fold(F.unfold(q, [3, 2], 2, 1), [8, 9], [3, 2], 2, 1)
        F.fold(F.unfold(q, 2, 1, 0, 2).astype('float64'), [8, 9], 2, dilations=2)
        F.fold(F.unfold(q, 2), [8, 8], 2)
        F.fold(q, [8, 8], 2)
        """,
    ),
    *defects(
        "fold",
        "padding of a fold",
        SETUP,
        """
        F.fold(F.unfold(q, 3, 1, [1, 0, 2, 3]), [8, 9], 3, 1, [1, 0, 2, 3])  =>  F.fold(F.unfold(F.pad(q, [0, 3, 1, 2]), 3), [11, 12], 3)[:, :, 1:9, :9]
        """,
    ),
    *lines(
        "affine_grid",
        SETUP,
        """
        F.affine_grid(T([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]), [1, 1, 3, 5])
        F.affine_grid(T([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]), [1, 1, 2, 4], align_corners=False)
        F.affine_grid(T([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]), T([1, 1, 2, 3], 'int32'))
        F.affine_grid(paddle.ones([2, 3, 4], 'float64'), [2, 1, 2, 3, 2])
        F.affine_grid([[1.0]], [1, 1, 2, 4])
        """,
    ),
]

# A point becomes an index with two or three roundings of at most 8; then as for interpolation.
POINTS = (
    "g = (paddle.arange(60) * 7 % 23 - 11).reshape([1, 5, 6, 2]).astype('float32') / 10.0\n"
    "g3 = (paddle.arange(144) * 7 % 23 - 11).reshape([2, 2, 3, 4, 3]).astype('float32') / 10.0"
)
SAMPLES = [
    *lines(
        "grid_sample",
        f"{SETUP}\n{POINTS}",
        """
        F.grid_sample(q, g)
        F.grid_sample(q, g, align_corners=False)
        F.grid_sample(q, g, padding_mode='border')
        F.grid_sample(q, g, padding_mode='border', align_corners=False)
        F.grid_sample(q, g, 'bilinear', 'reflection')
        F.grid_sample(q, g, 'bilinear', 'reflection', False)
        F.grid_sample(q, g, 'nearest')
        F.grid_sample(q, g * 3.0, 'nearest', 'reflection', False)
        F.grid_sample(q, g, 'nearest', 'border')
        F.grid_sample(q[:, :, ::-1], g.transpose([0, 2, 1, 3]))
        F.grid_sample(d, g3)
        F.grid_sample(d, g3, 'nearest', 'border', False)
        F.grid_sample(q, g, 'cubic')
        F.grid_sample(q, g, padding_mode='none')
        F.grid_sample(q, g3)
        """,
        RESIZED,
    ),
]

ROWS = [*REFUSED, *CONV, *POOLS, *RESIZE, *PATCHES, *SAMPLES]
