"""What each layer answers: its text, its state with names, its results in training and evaluation, its gradients.

    layers.py --record FILE    asks the real PaddlePaddle, which this Python has, and writes FILE

tests/python/test_layers_recorded.py asks paddle_mps for the same and compares. Every parameter and every input has elements that follow
from its name alone, so that both libraries compute with the same numbers.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import zlib
from typing import Any

import numpy as np

GOLDEN = pathlib.Path(__file__).with_name("layers_3_3_1.json")

# Layer | inputs, each a shape of floats or, with `int N`, of integers below N; "-" for a layer that is not called. Dropout is off:
# its random numbers are each library's own.
CASES = """
nn.CELU(1.5) | 2,3
nn.ELU() | 2,3
nn.ELU(0.5) | 2,3
nn.GELU() | 2,3
nn.GELU(True) | 2,3
nn.GLU() | 2,4
nn.GLU(0) | 2,4
nn.Hardshrink() | 2,3
nn.Hardshrink(0.1) | 2,3
nn.Hardsigmoid() | 2,3
nn.Hardsigmoid(name='h') | 2,3
nn.Hardswish() | 2,3
nn.Hardtanh() | 2,3
nn.Hardtanh(-0.5, 0.2, name='t') | 2,3
nn.LeakyReLU() | 2,3
nn.LeakyReLU(0.2) | 2,3
nn.LogSigmoid() | 2,3
nn.LogSoftmax() | 2,3
nn.LogSoftmax(0) | 2,3
nn.Maxout(2) | 2,4,3,2
nn.Maxout(2, 3, 'm') | 2,3,2,4
nn.Maxout(2) | 2,4,3
nn.Mish() | 2,3
nn.PReLU() | 2,3,2
nn.PReLU(3, 0.1) | 2,3,2
nn.PReLU(2, data_format='NHWC') | 2,3,3,2
nn.RReLU() | -
nn.RReLU(0.1, 0.3, name='r') | -
nn.ReLU() | 2,3
nn.ReLU(name='r') | 2,3
nn.ReLU6() | 2,3
nn.SELU() | 2,3
nn.SELU(1.2, 0.5) | 2,3
nn.Sigmoid() | 2,3
nn.Silu() | 2,3
nn.SiLU() | 2,3
nn.Softmax() | 2,3
nn.Softmax(0, name='s') | 2,3
nn.Softmax2D() | 2,3,2,2
nn.Softplus() | 2,3
nn.Softplus(2, 15) | 2,3
nn.Softshrink() | 2,3
nn.Softsign() | 2,3
nn.Swish() | 2,3
nn.Tanh() | 2,3
nn.Tanhshrink() | 2,3
nn.ThresholdedReLU() | 2,3
nn.ThresholdedReLU(0.1, 0.3) | 2,3
nn.Identity(3, a=4) | 2,3
nn.Flatten() | 2,3,2
nn.Flatten(0, 1) | 2,3,2
nn.Unflatten(1, [2, 2]) | 2,4
nn.Unflatten(0, [1, 2], 'u') | 2,4
nn.Unfold(2) | 1,2,3,3
nn.Unfold([2, 1], 1, 1, [1, 2], name='u') | 1,2,3,3
nn.Fold([3, 3], 2) | 1,8,4
nn.Fold([4, 4], [2, 2], strides=2) | 1,4,4
nn.PixelShuffle(2) | 1,4,2,2
nn.PixelShuffle(2, 'NHWC', 'p') | 1,2,2,4
nn.PixelUnshuffle(2) | 1,1,4,4
nn.ChannelShuffle(2) | 1,4,2,2
nn.Upsample([4, 4]) | 1,1,2,2
nn.Upsample(scale_factor=2, mode='bilinear') | 1,1,2,2
nn.Upsample(size=[5], mode='linear', align_corners=True, data_format='NCW') | 1,2,3
nn.UpsamplingNearest2D(scale_factor=2) | 1,2,2,2
nn.UpsamplingBilinear2D(size=[3, 4]) | 1,2,2,2
nn.Pad1D(1) | 1,2,3
nn.Pad1D([1, 2], 'reflect') | 1,2,3
nn.Pad2D([1, 0, 2, 1], value=1.5, name='p') | 1,2,3,3
nn.Pad2D(1, 'circular', data_format='NHWC') | 1,3,3,2
nn.Pad3D(1, 'replicate') | 1,1,2,2,2
nn.ZeroPad1D(1) | 1,2,3
nn.ZeroPad2D([1, 0, 0, 1]) | 1,2,3,3
nn.ZeroPad3D(1) | 1,1,2,2,2
nn.ConstantPad1D(1, 2.0) | 1,2,3
nn.ConstantPad2D([1, 2, 0, 0], 2.0) | 1,2,3,3
nn.ConstantPad3D(1, -1.0) | 1,1,2,2,2
nn.ReflectionPad1D(2) | 1,2,3
nn.ReflectionPad2D(1) | 1,2,3,3
nn.ReflectionPad3D(1) | 1,1,2,2,2
nn.ReplicationPad1D(2) | 1,2,3
nn.ReplicationPad2D(1) | 1,2,3,3
nn.ReplicationPad3D(1) | 1,1,2,2,2
nn.CircularPad1D(2) | 1,2,3
nn.CircularPad2D(1) | 1,2,3,3
nn.CircularPad3D(1) | 1,1,2,2,2
nn.Dropout(0.0) | 2,3
nn.Dropout(0.3, True, [0], 'downscale_in_infer', 'd') | -
nn.Dropout2D(0.0) | 1,2,2,2
nn.Dropout2D(0.2, 'NHWC', name='d') | -
nn.Dropout3D(0.0) | 1,2,2,2,2
nn.AlphaDropout(0.0) | 2,3
nn.FeatureAlphaDropout(0.0) | 2,3
nn.AvgPool1D(2) | 1,2,4
nn.AvgPool1D(2, 1, 1, False) | 1,2,4
nn.AvgPool2D(2) | 1,2,4,4
nn.AvgPool2D([2, 3], [1, 2], 1, True, False, name='a') | 1,2,4,4
nn.AvgPool2D(2, divisor_override=3) | 1,2,4,4
nn.AvgPool3D(2) | 1,1,2,4,4
nn.MaxPool1D(2) | 1,2,4
nn.MaxPool2D(2) | 1,2,4,4
nn.MaxPool2D(3, 2, 1, ceil_mode=True) | 1,2,4,4
nn.MaxPool2D(2, return_mask=True) | 1,2,4,4
nn.MaxPool3D(2, 1) | 1,1,2,3,3
nn.AdaptiveAvgPool1D(3) | 1,2,4
nn.AdaptiveAvgPool2D(1) | 1,2,4,4
nn.AdaptiveAvgPool2D([3, None], name='a') | 1,2,4,4
nn.AdaptiveAvgPool3D(2) | 1,1,3,3,3
nn.AdaptiveMaxPool1D(3) | 1,2,4
nn.AdaptiveMaxPool2D(2) | 1,2,3,3
nn.AdaptiveMaxPool2D([2, 2], True) | 1,2,3,3
nn.AdaptiveMaxPool3D(2) | 1,1,3,3,3
nn.LPPool1D(2, 2) | 1,2,4
nn.LPPool2D(3.0, 2, 1) | 1,2,3,3
nn.FractionalMaxPool2D(2) | -
nn.FractionalMaxPool3D(2, 1, 0.3) | -
nn.MaxUnPool2D(2) | -
nn.MaxUnPool1D(2, output_size=[1, 2, 5]) | -
nn.Linear(3, 4) | 2,3
nn.Linear(3, 4) | 2,5,3
nn.Linear(3, 4, bias_attr=False, name='fc') | 2,3
nn.Bilinear(2, 3, 4) | 5,2 | 5,3
nn.Bilinear(2, 3, 4, bias_attr=False, name='b') | 5,2 | 5,3
nn.Embedding(6, 3) | int 6: 2,4
nn.Embedding(6, 3, padding_idx=2) | int 6: 2,4
nn.Embedding(6, 3, padding_idx=-1) | int 6: 5
nn.CosineSimilarity() | 2,3 | 2,3
nn.CosineSimilarity(0, 1e-4) | 2,3 | 2,3
nn.PairwiseDistance() | 2,3 | 2,3
nn.PairwiseDistance(1.0, 0.1, True, 'd') | 2,3 | 2,3
nn.HSigmoidLoss(3, 5) | 4,3 | int 5: 4,1
nn.AdaptiveLogSoftmaxWithLoss(4, 10, [3, 6], div_value=2.0) | 5,4 | int 10: 5
nn.AdaptiveLogSoftmaxWithLoss(4, 10, [3], head_bias=True) | 5,4 | int 10: 5
nn.Conv1D(2, 3, 3) | 1,2,5
nn.Conv1D(2, 4, 3, 2, 'same', 1, 2) | 1,2,5
nn.Conv1D(2, 3, 3, padding=1, padding_mode='circular', data_format='NLC') | 1,5,2
nn.Conv2D(2, 3, 3) | 1,2,4,4
nn.Conv2D(2, 4, [3, 1], [1, 2], [1, 0], 2, 2, bias_attr=False) | 1,2,6,6
nn.Conv2D(2, 3, 3, padding=1, padding_mode='reflect') | 1,2,4,4
nn.Conv2D(2, 3, 2, padding=[[0, 0], [0, 0], [1, 0], [0, 1]], data_format='NCHW') | 1,2,4,4
nn.Conv3D(1, 2, 2) | 1,1,3,3,3
nn.Conv1DTranspose(2, 3, 3, 2, 1, 1) | 1,2,4
nn.Conv2DTranspose(2, 4, 3, 2, 1, 1, groups=2) | 1,2,3,3
nn.Conv2DTranspose(2, 3, 2, dilation=2, bias_attr=False, data_format='NHWC') | 1,3,3,2
nn.Conv3DTranspose(1, 2, 2) | 1,1,2,2,2
nn.BatchNorm1D(3) | 4,3
nn.BatchNorm1D(3, 0.8, 1e-3) | 4,3,2
nn.BatchNorm2D(3) | 2,3,2,2
nn.BatchNorm2D(3, weight_attr=False, bias_attr=False, name='n') | 2,3,2,2
nn.BatchNorm2D(3, use_global_stats=True) | 2,3,2,2
nn.BatchNorm2D(3, data_format='NHWC') | 2,2,2,3
nn.BatchNorm3D(2) | 2,2,2,2,2
nn.SyncBatchNorm(3) | -
nn.BatchNorm(3) | 2,3,2,2
nn.BatchNorm(3, act='relu', momentum=0.5) | 4,3
nn.BatchNorm(3, is_test=True) | 4,3
nn.BatchNorm(3, use_global_stats=True) | 4,3
nn.InstanceNorm1D(3) | 2,3,4
nn.InstanceNorm2D(3) | 2,3,2,2
nn.InstanceNorm2D(3, 1e-3, weight_attr=False, bias_attr=False) | 2,3,2,2
nn.InstanceNorm3D(2) | 1,2,2,2,2
nn.GroupNorm(2, 4) | 2,4,3
nn.GroupNorm(2, 4, 1e-3, weight_attr=False) | 2,4,2,2
nn.GroupNorm(2, 4, weight_attr=False, bias_attr=False) | 2,4,2
nn.LayerNorm(4) | 2,3,4
nn.LayerNorm([3, 4], 1e-4, bias_attr=False) | 2,3,4
nn.LayerNorm(4, weight_attr=False) | 2,4
nn.LocalResponseNorm(3) | 1,4,2,2
nn.LocalResponseNorm(3, 0.1, 0.5, 2.0, 'NHWC', 'l') | 1,2,2,4
nn.SpectralNorm([3, 4]) | 3,4
nn.SpectralNorm([2, 3, 2], 1, 3) | 2,3,2
nn.SimpleRNNCell(3, 4) | 2,3
nn.SimpleRNNCell(3, 4, 'relu', bias_ih_attr=False) | 2,3
nn.LSTMCell(3, 4) | 2,3
nn.GRUCell(3, 4) | 2,3
nn.SimpleRNN(3, 4) | 2,5,3
nn.SimpleRNN(3, 4, 2, 'bidirect', activation='relu') | 2,5,3
nn.SimpleRNN(3, 4) | 3,5,3 | none | lengths: 3,5,1
nn.LSTM(3, 4) | 2,5,3
nn.LSTM(3, 4, 2, 'bidirectional') | 2,5,3
nn.LSTM(3, 4, time_major=True) | 5,2,3
nn.LSTM(3, 4, direction='bidirect') | 3,5,3 | none | lengths: 3,5,1
nn.GRU(3, 4) | 2,5,3
nn.GRU(3, 4, 2, 'bidirect', time_major=True) | 5,2,3
nn.GRU(3, 4) | 3,5,3 | none | lengths: 3,5,1
nn.RNN(nn.GRUCell(3, 4)) | 2,5,3
nn.RNN(nn.LSTMCell(3, 4), True, True) | 5,2,3
nn.RNN(nn.SimpleRNNCell(3, 4)) | 3,5,3 | none | lengths: 3,5,1
nn.BiRNN(nn.LSTMCell(3, 4), nn.LSTMCell(3, 4)) | 2,5,3
nn.MultiHeadAttention(4, 2) | 2,3,4
nn.MultiHeadAttention(4, 2, kdim=3, vdim=5) | 2,3,4 | 2,2,3 | 2,2,5
nn.MultiHeadAttention(4, 2, need_weights=True, bias_attr=False) | 2,3,4
nn.TransformerEncoderLayer(4, 2, 8, 0.0) | 2,3,4
nn.TransformerEncoderLayer(4, 2, 8, 0.0, 'gelu', normalize_before=True) | 2,3,4
nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, 0.0), 2) | 2,3,4
nn.TransformerDecoderLayer(4, 2, 8, 0.0) | 2,3,4 | 2,2,4
nn.TransformerDecoderLayer(4, 2, 8, 0.0, normalize_before=True) | 2,3,4 | 2,2,4
nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8, 0.0), 2, nn.LayerNorm(4)) | 2,3,4 | 2,2,4
nn.Transformer(4, 2, 1, 1, 8, 0.0) | 2,3,4 | 2,2,4
nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3)) | 2,1,4,4
nn.Sequential(('a', nn.Linear(2, 3)), ('b', nn.Tanh())) | 2,2
nn.LayerList([nn.Linear(2, 3), nn.LayerList([nn.ReLU()])]) | -
nn.LayerDict({'a': nn.Linear(2, 3), 'b': nn.Dropout()}) | -
nn.ParameterList([nn.Linear(1, 2).weight]) | -
nn.ParameterDict({'w': nn.Linear(1, 2).weight}) | -
nn.utils.weight_norm(nn.Linear(3, 4)) | 2,3
nn.utils.weight_norm(nn.Conv2D(2, 3, 2), dim=1) | 1,2,3,3
nn.utils.weight_norm(nn.Conv2D(2, 3, 2), dim=None) | 1,2,3,3
nn.utils.spectral_norm(nn.Conv2D(2, 3, 2)) | 1,2,3,3
nn.BCELoss() | unit 2,3 | unit 2,3
nn.BCEWithLogitsLoss(reduction='sum') | 2,3 | unit 2,3
nn.CTCLoss() | 5,2,4 | 1..3: 2,3 | lengths: 5,4 | lengths: 3,2
nn.CosineEmbeddingLoss(0.1) | 2,3 | 2,3 | sign 2
nn.CrossEntropyLoss() | 4,3 | int 3: 4
nn.CrossEntropyLoss(ignore_index=1, reduction='none', axis=1) | 4,3,2 | int 3: 4,2
nn.CrossEntropyLoss(soft_label=True, label_smoothing=0.1) | 4,3 | shares 4,3
nn.GaussianNLLLoss(True) | 2,3 | 2,3 | unit 2,3
nn.HingeEmbeddingLoss() | 2,3 | sign 2,3
nn.KLDivLoss('batchmean') | 2,3 | unit 2,3
nn.L1Loss() | 2,3 | 2,3
nn.MSELoss('sum') | 2,3 | 2,3
nn.MarginRankingLoss(0.2) | 2,3 | 2,3 | sign 2,3
nn.MultiLabelMarginLoss() | 2,4 | int 4: 2,4
nn.MultiLabelSoftMarginLoss() | 2,3 | sign 2,3
nn.MultiMarginLoss(2, 0.5) | 4,3 | int 3: 4
nn.NLLLoss() | 4,3 | int 3: 4
nn.PoissonNLLLoss() | 2,3 | unit 2,3
nn.SmoothL1Loss(delta=0.5) | 2,3 | 2,3
nn.SoftMarginLoss() | 2,3 | sign 2,3
nn.TripletMarginLoss() | 2,3 | 2,3 | 2,3
nn.TripletMarginWithDistanceLoss(margin=2.0) | 2,3 | 2,3 | 2,3
"""


def cases() -> list[str]:
    """The rows of CASES."""
    return [line for line in CASES.strip().splitlines() if line]


def drawn(name: str, shape: list[int]) -> np.ndarray[Any, Any]:
    """Numbers that follow from a name."""
    generator = np.random.RandomState(zlib.crc32(name.encode()) % 2**31)
    return generator.standard_normal(shape).astype(np.float32)


def shares(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers above 0 that add up to 1 along the last axis."""
    found: np.ndarray[Any, Any] = np.exp(x) / np.exp(x).sum(-1, keepdims=True)
    return found


def operand(paddle: Any, text: str, number: int) -> Any:
    """The input that a text describes."""
    text = text.strip()
    if text == "none":
        return None
    if text.startswith("lengths:"):
        return paddle.to_tensor(np.array([int(n) for n in text[8:].split(",")], np.int64))
    if text.startswith("int "):
        most, _, sizes = text[4:].partition(":")
        shape = [int(n) for n in sizes.split(",")]
        return paddle.to_tensor((np.abs(drawn(f"integers {number}", shape)) * 1000).astype(np.int64) % int(most))
    if ".." in text:
        ends, _, sizes = text.partition(":")
        low, high = (int(n) for n in ends.split(".."))
        shape = [int(n) for n in sizes.split(",")]
        found = (np.abs(drawn(f"labels {number}", shape)) * 1000).astype(np.int32) % (high - low + 1) + low
        return paddle.to_tensor(found)
    word, _, rest = text.rpartition(" ")
    x = drawn(f"input {number}", [int(n) for n in rest.split(",")])
    x = {
        "": lambda: x,
        "unit": lambda: 1 / (1 + np.exp(-x)),
        "sign": lambda: np.where(x < 0, -1, 1),
        "shares": lambda: shares(x),
    }[word]()
    made = paddle.to_tensor(x.astype(np.float32))
    made.stop_gradient = word in ("unit", "sign", "shares") and number > 0
    return made


def flat(value: Any) -> list[Any]:
    """The tensors of nested tuples and lists."""
    if isinstance(value, (list, tuple)):
        return [x for inner in value for x in flat(inner)]
    return [value] if value is not None else []


def listed(x: Any) -> list[Any]:
    """A tensor as its shape and its elements."""
    a = np.asarray(x.numpy(), np.float64)
    digits = 15 if "64" in str(x.dtype) else 9
    return [list(a.shape), [float(f"{v:.{digits}g}") for v in a.ravel()]]


def fill(paddle: Any, layer: Any) -> None:
    """Gives parameters and buffers the numbers of their paths."""
    for path, x in layer.to_static_state_dict().items():
        values = drawn(path, list(x.shape)) * 0.5
        if "variance" in path:
            values = np.abs(values) + 0.5
        with paddle.no_grad():
            x.set_value(paddle.to_tensor(values).astype(x.dtype))
    for i, x in enumerate(flat(getattr(layer, "tail_weights", []))):
        with paddle.no_grad():
            x.set_value(paddle.to_tensor(drawn(f"tail {i}", list(x.shape)) * 0.5))


def answer(paddle: Any, case: str) -> dict[str, Any]:
    """What a library says of a case."""
    text, *wanted = (part.strip() for part in case.split(" | "))
    with paddle.utils.unique_name.guard():
        layer = eval(text, {"nn": paddle.nn})
    found: dict[str, Any] = {"repr": repr(layer)}
    found["state"] = [
        [
            path,
            list(x.shape),
            x.name if type(x).__name__ in ("EagerParamBase", "Parameter") else "",
            bool(x.stop_gradient),
        ]
        for path, x in layer.state_dict().items()
    ]
    found["parameters"] = [path for path, _ in layer.named_parameters()]
    if wanted == ["-"]:
        return found
    for mode in ("train", "eval"):
        getattr(layer, mode)()
        fill(paddle, layer)
        inputs = [operand(paddle, w, i) for i, w in enumerate(wanted)]
        results = [y for y in flat(layer(*inputs)) if hasattr(y, "numpy")]
        found[mode] = [listed(y) for y in results]
        floats = [y for y in results if "float" in str(y.dtype) and not y.stop_gradient]
        if not floats or (
            mode == "eval" and hasattr(layer, "num_directions")
        ):  # of which Paddle has no gradients in evaluation
            continue
        loss = sum((y * paddle.to_tensor(drawn(f"weights {i}", list(y.shape)))).sum() for i, y in enumerate(floats))
        loss.backward()
        leaves = [*(x for x in inputs if x is not None), *layer.parameters()]
        found[f"{mode} gradients"] = [listed(x.grad) for x in leaves if not x.stop_gradient and x.grad is not None]
        for x in leaves:
            x.clear_gradient()
        found[f"{mode} after"] = [
            listed(x) for path, x in layer.state_dict().items() if path.rpartition(".")[2] in ("_mean", "_variance")
        ]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", metavar="FILE", type=pathlib.Path, required=True)
    options = parser.parse_args()
    import paddle

    answers: dict[str, Any] = {}
    for case in cases():
        try:
            answers[case] = answer(paddle, case)
        except Exception as error:
            answers[case] = {"raises": type(error).__name__}
            print(f"raises {case}: {type(error).__name__} {error}"[:300])
    lines = [f"{json.dumps(case)}: {json.dumps(found)}" for case, found in answers.items()]
    options.record.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"wrote {len(answers)} layers to {options.record}")


if __name__ == "__main__":
    main()
