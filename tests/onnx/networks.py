"""Networks that users export with paddle2onnx: of paddle.vision, and of the kinds that it does not have.

Weights are random, from one seed. The statistics of batch norms are random too, so that no normalization is the identity.
`NETWORKS` says for each how to make it, which inputs its file takes, and what to run it on: two sizes where they are free.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.vision import models

Feed = Mapping[str, "np.ndarray[Any, Any]"]


class UNet(nn.Layer):
    """Segmentation of images of any size that is a multiple of 4."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()

        def block(i: int, o: int) -> Any:
            first = [nn.Conv2D(i, o, 3, padding=1), nn.BatchNorm2D(o), nn.ReLU()]
            return nn.Sequential(*first, nn.Conv2D(o, o, 3, padding=1), nn.BatchNorm2D(o), nn.ReLU())

        self.down = nn.LayerList([block(3, width), block(width, 2 * width), block(2 * width, 4 * width)])
        self.up = nn.LayerList(
            [nn.Conv2DTranspose(4 * width, 2 * width, 2, 2), nn.Conv2DTranspose(2 * width, width, 2, 2)]
        )
        self.join = nn.LayerList([block(4 * width, 2 * width), block(2 * width, width)])
        self.out = nn.Conv2D(width, 2, 1)

    def forward(self, x: Any) -> Any:
        first = self.down[0](x)
        second = self.down[1](F.max_pool2d(first, 2))
        y = self.down[2](F.max_pool2d(second, 2))
        y = self.join[0](paddle.concat([self.up[0](y), second], 1))
        y = self.join[1](paddle.concat([self.up[1](y), first], 1))
        return F.sigmoid(self.out(y))


class CRNN(nn.Layer):
    """Text on lines of any width: convolutions, LSTMs both ways, a GRU."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(3, 32, 3, 2, 1), nn.BatchNorm2D(32), nn.Hardswish(),
            nn.Conv2D(32, 64, 3, (2, 1), 1), nn.BatchNorm2D(64), nn.ReLU(), nn.AvgPool2D((8, 1)),
        )  # fmt: skip
        self.lstm = nn.LSTM(64, 48, num_layers=2, direction="bidirect")
        self.gru, self.out = nn.GRU(96, 32), nn.Linear(32, 100)

    def forward(self, x: Any) -> Any:
        y, _ = self.lstm(self.features(x).squeeze(2).transpose([0, 2, 1]))
        y, _ = self.gru(y)
        return F.softmax(self.out(y), -1)


def encoder(layers: int, width: int, heads: int, first: bool) -> Any:
    """Layers of attention; `first` has their norms before the work instead of behind."""
    layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, activation="gelu", normalize_before=first)
    return nn.TransformerEncoder(layer, layers)


class BERT(nn.Layer):
    """Six layers, with a mask of padding."""

    def __init__(self, width: int = 192) -> None:
        super().__init__()
        self.words, self.places, self.norm = nn.Embedding(1000, width), nn.Embedding(128, width), nn.LayerNorm(width)
        self.layers, self.out = encoder(6, width, 4, False), nn.Linear(width, 2)

    def forward(self, ids: Any, mask: Any) -> Any:
        x = self.norm(self.words(ids) + self.places(paddle.arange(ids.shape[1]).unsqueeze(0)))
        hidden = (1 - mask.astype("float32")).unsqueeze([1, 2]) * -1e4
        return self.out(self.layers(x, hidden)[:, 0])


class ViT(nn.Layer):
    """A tiny vision transformer."""

    def __init__(self, width: int = 192) -> None:
        super().__init__()
        self.patches = nn.Conv2D(3, width, 16, 16)
        self.token, self.places = self.create_parameter([1, 1, width]), self.create_parameter([1, 197, width])
        self.layers, self.norm, self.out = encoder(4, width, 3, True), nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, x: Any) -> Any:
        y = self.patches(x).flatten(2).transpose([0, 2, 1])
        y = paddle.concat([self.token.expand([y.shape[0], -1, -1]), y], 1) + self.places
        return self.out(self.norm(self.layers(y))[:, 0])


class Whisper(nn.Layer):
    """The encoder of sounds: convolutions of one axis, then attention."""

    def __init__(self, width: int = 96) -> None:
        super().__init__()
        self.first, self.second = nn.Conv1D(80, width, 3, padding=1), nn.Conv1D(width, width, 3, 2, 1)
        self.layers, self.norm = encoder(3, width, 4, True), nn.LayerNorm(width)

    def forward(self, x: Any) -> Any:
        return self.norm(self.layers(F.gelu(self.second(F.gelu(self.first(x)))).transpose([0, 2, 1])))


class ConvNeXt(nn.Layer):
    """Two blocks: a wide depthwise convolution, a layer norm of channels, a scale of the residual."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.stem, self.out = nn.Conv2D(3, width, 4, 4), nn.Linear(width, 10)
        self.deep = nn.LayerList([nn.Conv2D(width, width, 7, padding=3, groups=width) for _ in range(2)])
        self.norm = nn.LayerList([nn.LayerNorm(width) for _ in range(2)])
        self.wide = nn.LayerList([nn.Linear(width, 4 * width) for _ in range(2)])
        self.slim = nn.LayerList([nn.Linear(4 * width, width) for _ in range(2)])
        self.scale = self.create_parameter([width])

    def forward(self, x: Any) -> Any:
        x = self.stem(x)
        for deep, norm, wide, slim in zip(self.deep, self.norm, self.wide, self.slim):
            y = slim(F.gelu(wide(norm(deep(x).transpose([0, 2, 3, 1]))))) * self.scale
            x = x + y.transpose([0, 3, 1, 2])
        return self.out(x.mean([2, 3]))


class YOLO(nn.Layer):
    """Detection at two scales, with the ten boxes that are most likely."""

    def __init__(self) -> None:
        super().__init__()

        def block(i: int, o: int) -> Any:
            return nn.Sequential(nn.Conv2D(i, o, 3, 2, 1, bias_attr=False), nn.BatchNorm2D(o), nn.Silu())

        self.fine = nn.Sequential(block(3, 16), block(16, 32), block(32, 64))
        self.coarse = block(64, 64)
        self.heads = nn.LayerList([nn.Conv2D(128, 3 * 85, 1), nn.Conv2D(64, 3 * 85, 1)])

    def forward(self, x: Any) -> Any:
        fine = self.fine(x)
        coarse = F.max_pool2d(self.coarse(fine), 5, 1, 2)
        up = F.interpolate(coarse, size=paddle.shape(fine)[2:], mode="nearest")
        found = []
        for head, y in zip(self.heads, (paddle.concat([fine, up], 1), coarse)):
            y = F.sigmoid(head(y).flatten(2).reshape([0, 3, 85, -1]).transpose([0, 1, 3, 2]))
            y = paddle.concat([y[..., 0:2] * 2 - 0.5, (y[..., 2:4] * 2) ** 2, y[..., 4:]], -1)
            found.append(y.reshape([0, -1, 85]))
        found = paddle.concat(found, 1)
        return found, paddle.topk(found[..., 4], 10, -1)[1]


class EfficientNet(nn.Layer):
    """The beginning of B0: an inverted bottleneck with squeeze and excitation."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2D(3, 32, 3, 2, 1), nn.BatchNorm2D(32), nn.Swish())
        self.wide = nn.Sequential(nn.Conv2D(32, 96, 1), nn.BatchNorm2D(96), nn.Swish())
        self.deep = nn.Sequential(nn.Conv2D(96, 96, 5, 1, 2, groups=96), nn.BatchNorm2D(96), nn.Swish())
        self.squeeze = nn.Sequential(nn.AdaptiveAvgPool2D(1), nn.Conv2D(96, 8, 1), nn.Swish(), nn.Conv2D(8, 96, 1))
        self.slim, self.out = nn.Conv2D(96, 32, 1), nn.Linear(32, 10)

    def forward(self, x: Any) -> Any:
        x = self.stem(x)
        y = self.deep(self.wide(x))
        y = self.slim(y * F.sigmoid(self.squeeze(y))) + x
        return self.out(F.adaptive_avg_pool2d(y, 1).flatten(1))


class Llama(nn.Layer):
    """Two layers of a decoder with a cache of keys and values, which it takes and returns longer."""

    def __init__(self, width: int = 64, heads: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.heads, self.head = heads, width // heads
        self.words = nn.Embedding(200, width)

        def all_of(i: int, o: int) -> Any:
            return nn.LayerList([nn.Linear(i, o, bias_attr=False) for _ in range(layers)])

        self.qkv, self.join, self.gate = all_of(width, 3 * width), all_of(width, width), all_of(width, 4 * width)
        self.wide, self.slim = all_of(width, 4 * width), all_of(4 * width, width)
        self.scale = self.create_parameter([width], default_initializer=nn.initializer.Constant(1.0))
        self.out = nn.Linear(width, 200, bias_attr=False)

    def norm(self, x: Any) -> Any:
        """RMS norm."""
        return x * paddle.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * self.scale

    def turned(self, x: Any, places: Any) -> Any:
        """Rotary embedding."""
        speeds = 1.0 / (10000 ** (paddle.arange(0, self.head, 2).astype("float32") / self.head))
        angles = places.astype("float32").unsqueeze(-1) * speeds
        c, s = paddle.cos(angles).unsqueeze([0, 1]), paddle.sin(angles).unsqueeze([0, 1])
        u, v = x[..., : self.head // 2], x[..., self.head // 2 :]
        return paddle.concat([u * c - v * s, u * s + v * c], -1)

    def forward(self, ids: Any, keys: Any, values: Any) -> Any:
        x, many, long = self.words(ids), ids.shape[0], ids.shape[1]
        places = paddle.arange(long) + keys.shape[3]
        made: tuple[list[Any], list[Any]] = ([], [])
        for i in range(len(self.qkv)):
            y = self.qkv[i](self.norm(x)).reshape([many, long, 3, self.heads, self.head]).transpose([2, 0, 3, 1, 4])
            q, k = self.turned(y[0], places), self.turned(y[1], places)
            k, v = paddle.concat([keys[i], k], 2), paddle.concat([values[i], y[2]], 2)
            made[0].append(k)
            made[1].append(v)
            hidden = (paddle.arange(k.shape[2]).unsqueeze(0) > places.unsqueeze(1)).astype("float32") * -1e9
            shares = F.softmax(paddle.matmul(q, k, transpose_y=True) / self.head**0.5 + hidden, -1)
            x = x + self.join[i](paddle.matmul(shares, v).transpose([0, 2, 1, 3]).reshape([many, long, -1]))
            y = self.norm(x)
            x = x + self.slim[i](F.silu(self.gate[i](y)) * self.wide[i](y))
        return self.out(self.norm(x)), paddle.stack(made[0]), paddle.stack(made[1])


@dataclass(frozen=True)
class Network:
    """How to make a network, its inputs (shape with None for what is free, dtype, name), and what it is run on."""

    make: Callable[[], Any]
    inputs: Sequence[tuple[list[int | None], str, str]]
    feeds: Callable[[np.random.RandomState], list[Feed]]


def pictures(*shapes: tuple[int, ...]) -> Callable[[np.random.RandomState], list[Feed]]:
    """Feeds of input x."""
    return lambda rng: [{"x": rng.rand(*shape).astype("float32")} for shape in shapes]


def vision(make: Callable[[], Any], size: int = 224) -> Network:
    """A network of paddle.vision, for pictures of one size."""
    return Network(make, [([None, 3, size, size], "float32", "x")], pictures((1, 3, size, size), (2, 3, size, size)))


def free(make: Callable[[], Any], *shapes: tuple[int, ...]) -> Network:
    """A network for pictures of any size."""
    return Network(make, [([None, 3, None, None], "float32", "x")], pictures(*shapes))


def sentences(rng: np.random.RandomState) -> list[Feed]:
    """Feeds of BERT: words, and which of them are no padding."""
    return [
        {
            "ids": rng.randint(0, 1000, (n, long)),
            "mask": (np.arange(long) < long - 2)[None].repeat(n, 0).astype("int64"),
        }
        for n, long in ((1, 16), (2, 33))
    ]


def words(rng: np.random.RandomState) -> list[Feed]:
    """Feeds of Llama: a prompt and one word more, each behind a cache."""
    return [
        {"ids": rng.randint(0, 200, (n, long)),
         "keys": rng.randn(2, n, 4, past, 16).astype("float32"), "values": rng.randn(2, n, 4, past, 16).astype("float32")}
        for n, long, past in ((1, 5, 3), (2, 1, 9))
    ]  # fmt: skip


CACHE: list[int | None] = [2, None, 4, None, 16]
NETWORKS = {
    "resnet50": vision(models.resnet50),
    "mobilenetv3": vision(models.mobilenet_v3_small),
    "mobilenetv1": vision(models.mobilenet_v1),
    "shufflenet": vision(models.shufflenet_v2_x0_25),
    "squeezenet": vision(models.squeezenet1_1),
    "densenet121": vision(models.densenet121),
    "googlenet": vision(models.googlenet),
    "inceptionv3": vision(models.inception_v3, 299),
    "resnet18": free(models.resnet18, (1, 3, 64, 64), (2, 3, 97, 65)),
    "unet": free(UNet, (1, 3, 64, 64), (2, 3, 32, 96)),
    "efficientnet": free(EfficientNet, (1, 3, 64, 64), (2, 3, 33, 47)),
    "convnext": free(ConvNeXt, (1, 3, 64, 64), (2, 3, 40, 72)),
    "yolo": free(YOLO, (1, 3, 64, 64), (2, 3, 96, 128)),
    "crnn": Network(CRNN, [([None, 3, 32, None], "float32", "x")], pictures((1, 3, 32, 64), (2, 3, 32, 101))),
    "vit": Network(ViT, [([None, 3, 224, 224], "float32", "x")], pictures((1, 3, 224, 224), (2, 3, 224, 224))),
    "whisper": Network(
        Whisper, [([None, 80, None], "float32", "x")],
        lambda rng: [{"x": rng.randn(*shape).astype("float32")} for shape in ((1, 80, 100), (2, 80, 64))],
    ),
    "bert": Network(BERT, [([None, None], "int64", "ids"), ([None, None], "int64", "mask")], sentences),
    "llama": Network(
        Llama, [([None, None], "int64", "ids"), (CACHE, "float32", "keys"), (CACHE, "float32", "values")], words
    ),
}  # fmt: skip


def export(name: str, folder: str) -> None:
    """Writes the network as `folder/NAME.onnx`."""
    paddle.seed(1)
    network, rng = NETWORKS[name], np.random.RandomState(2)
    net = network.make()
    net.eval()
    for key, buffer in net.named_buffers():
        if key.endswith(("_mean", "_variance")):
            values = rng.rand(*buffer.shape) + 0.5 if key.endswith("_variance") else rng.randn(*buffer.shape) * 0.1
            buffer.set_value(paddle.to_tensor(values.astype("float32")))
    specs = [paddle.static.InputSpec(*given) for given in network.inputs]
    paddle.onnx.export(net, f"{folder}/{name}", input_spec=specs, opset_version=17)


def feeds(name: str) -> list[dict[str, Any]]:
    """What a network is run on, the same each time."""
    return [dict(feed) for feed in NETWORKS[name].feeds(np.random.RandomState(3))]
