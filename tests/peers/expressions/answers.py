"""Names that only answer: limits of dtypes, questions about tensors, modes, typed constructors."""

from __future__ import annotations

from .row import Row, lines

ROWS: list[Row] = [
    *lines(
        "finfo",
        "",
        """
        [paddle.finfo('float32').max, paddle.finfo('float32').min, paddle.finfo('float32').eps]
        [paddle.finfo('bfloat16').max, paddle.finfo('bfloat16').min, paddle.finfo('bfloat16').eps]
        [paddle.finfo(paddle.float16).tiny, paddle.finfo(paddle.float16).smallest_normal, paddle.finfo('float16').bits]
        [paddle.finfo('bfloat16').tiny, paddle.finfo('bfloat16').resolution, paddle.finfo('bfloat16').bits]
        [paddle.finfo(d).resolution for d in ('float16', 'float32', 'float64')]
        [paddle.finfo(T([1.]).dtype).dtype, paddle.finfo(None).dtype, paddle.finfo(float).dtype]
        [repr(paddle.finfo(d)) for d in ('float16', 'bfloat16', 'float32', 'float64')]
        paddle.finfo('int32')
        paddle.finfo('x')
        """,
    ),
    *lines(
        "iinfo",
        "",
        """
        [[paddle.iinfo(d).min, paddle.iinfo(d).max] for d in ('uint8', 'int8', 'int16', 'int32', 'int64')]
        [paddle.iinfo(T([1]).dtype).bits, paddle.iinfo(int).bits, paddle.iinfo('uint8').dtype]
        repr(paddle.iinfo(paddle.int64))
        paddle.iinfo('bool')
        paddle.iinfo('float32')
        paddle.iinfo('x')
        """,
    ),
    *lines(
        "questions",
        "",
        """
        [paddle.is_floating_point(T([1], dtype=d)) for d in ('bool', 'int8', 'float16', 'bfloat16', 'float64')]
        [paddle.is_integer(T([1], dtype=d)) for d in ('bool', 'uint8', 'int8', 'int64', 'float16')]
        [paddle.is_complex(T([1.]).T), T([1]).is_complex(), T([1]).is_integer(), T([1]).is_tensor()]
        paddle.is_floating_point(1.)
        paddle.is_integer([1])
        paddle.is_complex(None)
        [paddle.is_empty(T([])), paddle.is_empty(T(1)), paddle.is_empty(paddle.zeros([2, 0, 3]))]
        T([[1, 2], [3, 4]])[:, :0].is_empty()
        paddle.is_empty(1)
        [T([1]).is_dense(), T([1]).is_sparse(), T([1]).is_sparse_coo(), T([1]).is_sparse_csr(), T([1]).is_dist()]
        """,
    ),
    *lines(
        "typed",
        "",
        """
        [paddle.LongTensor([1.7]), paddle.IntTensor([[1, 2], [3, 4]]), paddle.ShortTensor((2, 3)), paddle.CharTensor([1])]
        [paddle.ByteTensor([1]), paddle.BoolTensor([0, 2]), paddle.HalfTensor([1]), paddle.DoubleTensor([0.1])]
        paddle.BFloat16Tensor([1, 2])
        [paddle.FloatTensor(2, 3).shape == [2, 3], paddle.FloatTensor(2, 3).dtype, paddle.FloatTensor().dtype]
        [paddle.LongTensor(T([1.5])), paddle.FloatTensor(np.zeros([2, 0]))]
        isinstance(T([1]), paddle.LongTensor)
        paddle.LongTensor(True)
        paddle.FloatTensor(2, -1)
        """,
    ),
    *lines(
        "modes",
        "",
        """
        [paddle.in_dynamic_mode(), paddle.disable_static(), paddle.disable_signal_handler(), paddle.is_autocast_enabled()]
        [paddle.is_compiled_with_cuda(), paddle.is_compiled_with_rocm(), paddle.is_compiled_with_xpu()]
        [paddle.is_compiled_with_ipu(), paddle.is_compiled_with_cinn(), paddle.is_compiled_with_custom_device('npu')]
        [paddle.device.get_cudnn_version(), paddle.device.is_current_stream_capturing(), paddle.get_cuda_rng_state()]
        [paddle.version.full_version, paddle.version.major, paddle.version.cuda(), paddle.version.cuda_archs()]
        [paddle.version.nccl(), paddle.version.tensorrt(), paddle.version.hip, paddle.version.xpu_xre()]
        paddle.get_flags(['FLAGS_check_nan_inf', 'FLAGS_use_mkldnn'])['FLAGS_check_nan_inf']
        paddle.get_flags('FLAGS_nope')
        paddle.get_flags(3)
        paddle.set_flags(3)
        paddle.set_flags({'FLAGS_nope': 1})
        paddle.enable_grad()(lambda x: x + 1)(T([1]))
        paddle.set_grad_enabled(False) ;; T([1.]) * 2
        state = paddle.get_rng_state() ;; a = paddle.rand([3]) ;; paddle.set_rng_state(state) ;; (a == paddle.rand([3]))
        paddle.manual_seed(3) ;; a = paddle.rand([3]) ;; paddle.manual_seed(3) ;; (a == paddle.rand([3]))
        paddle.set_rng_state([])
        paddle.get_rng_state('x')
        """,
    ),
]
