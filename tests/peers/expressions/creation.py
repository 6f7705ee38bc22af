"""Creation functions: dtypes, shapes, forms of arguments. What is random is compared by shape and range."""

from __future__ import annotations

from .row import defects, lines

ROWS = [
    *lines(
        "to_tensor",
        "",
        """
        T(1)
        T(1.0)
        T(True)
        T([])
        T([[], []])
        T([1, 2.5])
        T([True, 2])
        T([[1, 2], [3, 4]])
        T((1, 2))
        T(range(3))
        T([T(1), T(2)])
        T([T([1.5]), T([2.5])])
        T(np.float32(1.5))
        T(np.float64(1.5))
        T(np.int32(1))
        T(np.bool_(True))
        T(np.ones(2))
        T(np.ones(2, 'float16'))
        T(np.ones(2, 'int16'))
        T(np.array(1.5))
        T(np.arange(6)[::-2])
        T(np.arange(6).reshape(2, 3).T)
        T(np.ones((2, 3)).T).strides
        T(T([1, 2]), dtype='float32')
        T([1.75, -1.75], dtype='int32')
        T([300], dtype='uint8')
        T([-1], dtype='uint8')
        T([1e40])
        T([1e6], dtype='float16')
        T([nan, inf, -inf, -0.0])
        T([2**63 - 1, -2**63])
        T([1], dtype=np.float64)
        T([1], 'float64', paddle.CPUPlace())
        T([1], place='cpu').place
        T([[1, 2], [3]])
        T('a')
        T(None)
        T([1.0, None])
        T([2**64])
        T([1], dtype='foo')
        T([1], foo=1)
        T()
        """,
    ),
    *lines(
        "full",
        "",
        """
        paddle.zeros([2, 3])
        paddle.zeros(2, 3)
        paddle.zeros(2)
        paddle.zeros([])
        paddle.zeros([0, 3])
        paddle.zeros([T(2), 3]).shape
        paddle.zeros(T([2, 3])).shape
        paddle.zeros(shape=[2])
        paddle.zeros([2], 'int64')
        paddle.zeros([2], dtype=paddle.int8)
        paddle.zeros([2], dtype=bool)
        paddle.zeros([2], dtype=float)
        paddle.zeros([2], dtype=int)
        paddle.zeros([2], dtype=np.int16)
        paddle.zeros([2], device='cpu').place
        paddle.ones([2, 2], 'bool')
        paddle.ones([2], 'bfloat16')
        paddle.ones([], 'uint8')
        paddle.full([2], 1)
        paddle.full([2], True)
        paddle.full([2], 1.5, 'int32')
        paddle.full([2], nan)
        paddle.full([2], -1.75, 'int64')
        paddle.full([2], 300, 'uint8')
        paddle.full([2], 2**40, 'int64')
        paddle.full([2], -0.0, 'float16')
        paddle.full([2], T(3.0))
        paddle.full((2,), fill_value=3)
        paddle.full(2, 1)
        paddle.full([], 1)
        paddle.empty([2, 0]).shape
        paddle.zeros_like(T([1, 2]))
        paddle.zeros_like(T([1.0]), dtype='int32')
        paddle.ones_like(T([True]))
        paddle.ones_like(T([[1, 2], [3, 4]]).T).strides
        paddle.full_like(T([1, 2]), 1.5)
        paddle.full_like(T([1.0, 2.0])[::-1], inf)
        paddle.full_like(T([1, 2]), 1.5, dtype='float32')
        paddle.empty_like(T([1, 2])).dtype
        paddle.zeros([2.0])
        paddle.zeros([2], dtype='foo')
        paddle.zeros([2], device='foo')
        paddle.zeros()
        paddle.full([2])
        """,
    ),
    *lines(
        "arange",
        "",
        """
        paddle.arange(5)
        paddle.arange(5.0)
        paddle.arange(1, 5, 2)
        paddle.arange(5, 1, -1)
        paddle.arange(5, 1)
        paddle.arange(0)
        paddle.arange(0, 1, 0.25)
        paddle.arange(0.5, 3)
        paddle.arange(3, dtype='float64')
        paddle.arange(0, 3.5, 1, 'int32')
        paddle.arange(T(3))
        paddle.arange(start=1, end=3)
        paddle.arange(2**40, 2**40 + 3)
        paddle.arange(np.float64(3)).dtype
        paddle.arange(0, 5, 0)
        paddle.arange(nan)
        """,
    ),
    *lines(
        "linspace",
        "",
        """
        paddle.linspace(0, 1, 5)
        paddle.linspace(0, 10, 4, 'int64')
        paddle.linspace(0, 10, 4, 'int32')
        paddle.linspace(1, 0, 3)
        paddle.linspace(0, 1, 1)
        paddle.linspace(0, 1, 0)
        paddle.linspace(0, 1, T(3))
        paddle.linspace(T(0.0), T(1.0), 3, dtype='float64')
        paddle.linspace(start=-2, stop=2, num=5)
        paddle.linspace(0, 1, -1)
        paddle.linspace(0, 1)
        """,
    ),
    *lines(
        "uniform",
        "",
        """
        paddle.uniform([2, 3]).dtype
        paddle.uniform([2], 'float64', 0, 1).shape
        x = paddle.uniform([1000], min=2, max=3) ;; [bool((x >= 2).all()), bool((x < 3).all())]
        x = paddle.uniform([1000]) ;; bool(x.min() >= -1.0) and bool(x.max() <= 1.0)
        paddle.rand([0, 2]).shape
        paddle.rand(2, 3).dtype
        paddle.rand([2], 'bfloat16').dtype
        x = paddle.randint(3, 5, [100]) ;; sorted({int(v) for v in x})
        paddle.randint(5).shape
        paddle.randint(0, 5, (2,), 'int32').dtype
        sorted(paddle.randperm(5).tolist())
        paddle.randperm(0)
        paddle.randperm(3, 'int32').dtype
        paddle.randint(5, 0, [2])
        paddle.randint(0)
        """,
    ),
    *lines(
        "normal",
        "",
        """
        paddle.randn([2, 3]).dtype
        paddle.randn(2, 3).shape
        paddle.randn([]).shape
        paddle.randn([0])
        paddle.randn([2], 'float64').dtype
        paddle.randn([2], device='cpu').place
        paddle.normal(0.0, 1.0, [2]).shape
        paddle.normal(1.0, 0.0, [2])
        paddle.normal(T([1.0, 2.0]), 0.0)
        paddle.normal(shape=[2]).dtype
        paddle.standard_normal([3]).shape
        paddle.seed(1) ;; x = paddle.randn([4]) ;; paddle.seed(1) ;; bool((x == paddle.randn([4])).all())
        paddle.seed(1) ;; x = paddle.randn([4]) ;; bool((x == paddle.randn([4])).all())
        abs(float(paddle.randn([10000]).mean())) < 0.1
        paddle.randn()
        """,
    ),
    *lines(
        "default dtype",
        "",
        """
        paddle.get_default_dtype()
        paddle.set_default_dtype('float64') ;; [T(1.5), paddle.zeros([1]), paddle.arange(3.0), T([1, 2]) + 1.5]
        paddle.set_default_dtype('float16') ;; [T(1.5), paddle.zeros([1])]
        paddle.set_default_dtype(paddle.float64) ;; paddle.get_default_dtype()
        paddle.set_default_dtype(np.float64) ;; T(1.5).dtype
        paddle.set_default_dtype('int32')
        paddle.set_default_dtype('foo')
        """,
    ),
    *defects(
        "to_tensor", "type as dtype", "", "T([1], dtype=float)  =>  T([1], 'float64')\nT([1.5], dtype=int)  =>  T([1])"
    ),
    *lines("to_tensor", "", "T([1.0], stop_gradient=False).stop_gradient"),
    *lines("full", "", "paddle.zeros([2], requires_grad=True)"),
    *defects(
        "normal",
        "place argument",
        "",
        """
        paddle.randn([2, 3], dtype='float32', place='cpu').shape  =>  paddle.randn([2, 3]).shape
        paddle.zeros([2], place=paddle.CPUPlace())  =>  paddle.zeros([2])
        paddle.full([2], 3, place='cpu')  =>  paddle.full([2], 3)
        """,
    ),
]
