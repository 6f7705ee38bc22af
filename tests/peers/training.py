"""Training programs as Paddle's tutorials have them, and the numbers that they print.

    training.py --record FILE    asks the real PaddlePaddle, which this Python has, and writes FILE

tests/python/test_training.py runs the same programs with paddle_mps and compares. Data come from NumPy and first values of parameters
follow from their paths, so that nothing but the numbers is recorded. Beside each number stands how far it moves in PaddlePaddle itself if
the first values move by 3e-7 of themselves: training enlarges roundings.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any, Callable

import numpy as np
from layers import drawn

GOLDEN = pathlib.Path(__file__).with_name("training_3_3_1.json")
MOVES = 4  # how many times PaddlePaddle trains from moved first values

PROGRAMS: dict[str, Callable[[Any, Any], Iterator[Any]]] = {}


class Run:
    """How a program runs: `start` gives a network its first values, and compiles it if `traced`.

    Args:
        paddle: the library.
        traced: whether networks go through `to_static`.
        moved: which numbers move the first values; 0 leaves them.
    """

    def __init__(self, paddle: Any, traced: bool = False, moved: int = 0) -> None:
        self.paddle, self.traced, self.moved = paddle, traced, moved
        self.started: list[Any] = []

    def start(self, net: Any) -> Any:
        for path, p in net.named_parameters():
            values = drawn(path, list(p.shape))
            if len(p.shape) > 1:
                values = values / np.sqrt(values.size / values.shape[0])
            else:
                values = 0.1 * values + (0.0 if "bias" in path else 1.0)
            if self.moved:
                values = values * (1 + 3e-7 * np.sign(drawn(f"{self.moved} {path}", list(p.shape))))
            p.set_value(self.paddle.to_tensor(values.astype("float32")))
        self.started.append(net)
        return self.paddle.jit.to_static(net) if self.traced else net


def program(function: Callable[[Any, Run], Iterator[Any]]) -> Callable[[Any, Run], Iterator[Any]]:
    """Makes a function one of the programs."""
    PROGRAMS[function.__name__] = function
    return function


def numbers(paddle: Any, name: str, traced: bool = False, moved: int = 0) -> tuple[list[float], list[float]]:
    """What a program prints, and the mean magnitude of each parameter and statistic in the end."""
    run = Run(paddle, traced, moved)
    with paddle.utils.unique_name.guard():
        printed = [float(x) for x in PROGRAMS[name](paddle, run)]
    state = [x for net in run.started for x in net.state_dict().values()]
    return printed, [float(x.abs().mean()) for x in state if "float" in str(x.dtype)]


def integers(name: str, most: int, shape: list[int]) -> Any:
    """Integers below a number."""
    return (np.abs(drawn(name, shape)) * 1000).astype("int64") % most


# ---- Images


@program
def lenet(paddle: Any, run: Run) -> Iterator[Any]:
    """Digits, from a Dataset of one's own."""
    nn: Any = paddle.nn

    class Digits(paddle.io.Dataset):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.images = drawn("digits", [52, 1, 28, 28])
            self.labels = integers("labels", 10, [52, 1])

        def __getitem__(self, i: int) -> Any:
            return self.images[i], self.labels[i]

        def __len__(self) -> int:
            return len(self.images)

    class LeNet(nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(
                nn.Conv2D(1, 6, 3, stride=1, padding=1),
                nn.ReLU(),
                nn.MaxPool2D(2, 2),
                nn.Conv2D(6, 16, 5, stride=1, padding=0),
                nn.ReLU(),
                nn.MaxPool2D(2, 2),
            )
            self.fc = nn.Sequential(nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10))

        def forward(self, x: Any) -> Any:
            return self.fc(paddle.flatten(self.features(x), 1))

    net = run.start(LeNet())
    optimizer = paddle.optimizer.Momentum(
        learning_rate=0.001, momentum=0.9, parameters=net.parameters(), weight_decay=1e-4
    )
    loader = paddle.io.DataLoader(Digits(), batch_size=8)
    for _ in range(2):
        net.train()
        for images, labels in loader:
            logits = net(images)
            loss = paddle.nn.functional.cross_entropy(logits, labels)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            yield loss
        net.eval()
        right = [paddle.metric.accuracy(net(images), labels, k=3) for images, labels in loader]
        yield sum(float(r) for r in right) / len(right)


@program
def residual(paddle: Any, run: Run) -> Iterator[Any]:
    """Blocks with batch normalization, trained and evaluated by turns."""
    nn: Any = paddle.nn
    F: Any = nn.functional

    class Block(nn.Layer):  # type: ignore[misc]
        def __init__(self, inner: int, outer: int, stride: int = 1) -> None:
            super().__init__()
            self.conv1 = nn.Conv2D(inner, outer, 3, stride=stride, padding=1, bias_attr=False)
            self.bn1 = nn.BatchNorm2D(outer)
            self.conv2 = nn.Conv2D(outer, outer, 3, padding=1, bias_attr=False)
            self.bn2 = nn.BatchNorm2D(outer)
            self.shortcut = nn.Sequential()
            if stride != 1 or inner != outer:
                self.shortcut = nn.Sequential(
                    nn.Conv2D(inner, outer, 1, stride=stride, bias_attr=False), nn.BatchNorm2D(outer)
                )

        def forward(self, x: Any) -> Any:
            y = F.relu(self.bn1(self.conv1(x)))
            return F.relu(self.bn2(self.conv2(y)) + self.shortcut(x))

    class Net(nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Sequential(
                nn.Conv2D(3, 8, 3, padding=1), nn.BatchNorm2D(8), nn.ReLU(), nn.MaxPool2D(3, 2, 1)
            )
            self.layers = nn.Sequential(*[Block(8, 8), Block(8, 16, 2), Block(16, 16)])
            self.pool, self.fc = nn.AdaptiveAvgPool2D(1), nn.Linear(16, 5)

        def forward(self, x: Any) -> Any:
            return self.fc(self.pool(self.layers(self.stem(x))).flatten(1))

    net = run.start(Net())
    rate = paddle.optimizer.lr.CosineAnnealingDecay(0.05, T_max=12)
    optimizer = paddle.optimizer.Momentum(
        rate, 0.9, net.parameters(), use_nesterov=True, weight_decay=paddle.regularizer.L2Decay(1e-3)
    )
    x, y = paddle.to_tensor(drawn("images", [6, 3, 16, 16])), paddle.to_tensor(integers("y", 5, [6]))
    for i in range(12):
        net.train()
        loss = F.cross_entropy(net(x), y, label_smoothing=0.1)
        loss.backward()
        optimizer.step()
        optimizer.clear_gradients()
        rate.step()
        yield loss
        if i % 4 == 3:
            net.eval()
            with paddle.no_grad():
                yield F.cross_entropy(net(x), y)


@program
def unet(paddle: Any, run: Run) -> Iterator[Any]:
    """Segmentation: transposed convolution, upsampling, joined channels, a Dice loss."""
    nn: Any = paddle.nn
    F: Any = nn.functional

    def double(inner: int, outer: int) -> Any:
        return nn.Sequential(
            nn.Conv2D(inner, outer, 3, padding=1),
            nn.GroupNorm(2, outer),
            nn.LeakyReLU(0.1),
            nn.Conv2D(outer, outer, 3, padding="SAME", bias_attr=False),
            nn.BatchNorm2D(outer),
            nn.ReLU(),
        )

    class UNet(nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.down1, self.down2, self.middle = double(1, 4), double(4, 8), double(8, 16)
            self.pool = nn.MaxPool2D(2)
            self.up2 = nn.Conv2DTranspose(16, 8, 2, stride=2)
            self.up1 = nn.Sequential(
                nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False), nn.Conv2D(8, 4, 1)
            )
            self.join2, self.join1 = double(16, 8), double(8, 4)
            self.head = nn.Conv2D(4, 1, 1)

        def forward(self, x: Any) -> Any:
            a = self.down1(x)
            b = self.down2(self.pool(a))
            c = self.middle(self.pool(b))
            b = self.join2(paddle.concat([b, self.up2(c)], axis=1))
            a = self.join1(paddle.concat([a, self.up1(b)], axis=1))
            return self.head(a)

    net = run.start(UNet())
    optimizer = paddle.optimizer.Momentum(0.02, parameters=net.parameters())
    x = paddle.to_tensor(drawn("pictures", [2, 1, 16, 16]))
    mask = (x > 0.3).astype("float32")
    criterion = nn.BCEWithLogitsLoss(pos_weight=paddle.to_tensor([2.0]))
    for _ in range(10):
        logits = net(x)
        share = F.sigmoid(logits)
        dice = 1 - (2 * (share * mask).sum(axis=[1, 2, 3]) + 1) / (share.sum([1, 2, 3]) + mask.sum([1, 2, 3]) + 1)
        loss = criterion(logits, mask) + dice.mean()
        optimizer.clear_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


@program
def text_in_images(paddle: Any, run: Run) -> Iterator[Any]:
    """A CRNN with a CTC loss."""
    nn: Any = paddle.nn
    F: Any = nn.functional

    class CRNN(nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(
                nn.Conv2D(1, 8, 3, 1, 1),
                nn.BatchNorm2D(8),
                nn.ReLU(),
                nn.MaxPool2D(2, 2),
                nn.Conv2D(8, 12, (4, 3), 1, (0, 1)),
            )
            self.rnn = nn.LSTM(12, 10, direction="bidirectional", time_major=True)
            self.head = nn.Linear(20, 6)

        def forward(self, x: Any) -> Any:
            y = self.body(x).squeeze(2).transpose([2, 0, 1])
            y, _ = self.rnn(y)
            return self.head(y)

    net = run.start(CRNN())
    optimizer = paddle.optimizer.RMSProp(2e-3, parameters=net.parameters(), momentum=0.5)
    images = paddle.to_tensor(drawn("lines", [3, 1, 8, 24]))
    labels = paddle.to_tensor((integers("text", 5, [3, 4]) + 1).astype("int32"))
    steps, sizes = paddle.full([3], 12, "int64"), paddle.to_tensor([4, 3, 2], dtype="int64")
    for _ in range(10):
        logits = net(images)
        loss = F.ctc_loss(logits, labels, steps, sizes, blank=0, reduction="mean")
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        yield loss
        best = logits.argmax(-1).transpose([1, 0])
        yield (best != 0).astype("int64").sum()


# ---- Sequences


@program
def bilstm(paddle: Any, run: Run) -> Iterator[Any]:
    """Texts of several lengths, padded by a collate function."""
    nn: Any = paddle.nn
    F: Any = nn.functional
    lengths = [7, 3, 5, 9, 4, 6, 8, 2]
    texts = [integers(f"text {i}", 29, [n]) + 1 for i, n in enumerate(lengths)]

    class Texts(paddle.io.Dataset):  # type: ignore[misc]
        def __getitem__(self, i: int) -> Any:
            return texts[i], i % 2

        def __len__(self) -> int:
            return len(texts)

    def collate(samples: Any) -> Any:
        sizes = np.array([len(text) for text, _ in samples])
        padded = np.zeros([len(samples), sizes.max()], "int64")
        for row, (text, _) in zip(padded, samples):
            row[: len(text)] = text
        return padded, sizes, np.array([label for _, label in samples])

    class Classifier(nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(30, 8, padding_idx=0)
            self.lstm = nn.LSTM(8, 6, num_layers=2, direction="bidirect")
            self.dropout = nn.Dropout(0.0)
            self.fc = nn.Linear(24, 2)

        def forward(self, ids: Any, sizes: Any) -> Any:
            y, (h, _) = self.lstm(self.embedding(ids), sequence_length=sizes)
            mask = F.sequence_mask(sizes, maxlen=ids.shape[1], dtype="float32").unsqueeze(-1)
            mean = (y * mask).sum(1) / sizes.unsqueeze(-1).astype("float32")
            return self.fc(self.dropout(paddle.concat([mean, h[-2], h[-1]], -1)))

    net = run.start(Classifier())
    optimizer = paddle.optimizer.Adam(
        learning_rate=0.01, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.5)
    )
    criterion = nn.CrossEntropyLoss(weight=paddle.to_tensor([0.4, 0.6]))
    sampler = paddle.io.BatchSampler(Texts(), batch_size=3, drop_last=False)
    loader = paddle.io.DataLoader(Texts(), batch_sampler=sampler, collate_fn=collate)
    for _ in range(4):
        for ids, sizes, labels in loader:
            loss = criterion(net(ids, sizes), labels)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            yield loss


@program
def language(paddle: Any, run: Run) -> Iterator[Any]:
    """A GRU that predicts the next token, with its state carried along."""
    nn: Any = paddle.nn
    F: Any = nn.functional

    class Model(nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(20, 10, weight_attr=paddle.ParamAttr(name="tokens"))
            self.gru = nn.GRU(10, 10, num_layers=2, dropout=0.0)
            self.bias = self.create_parameter([20], is_bias=True)

        def forward(self, ids: Any, state: Any) -> Any:
            y, state = self.gru(self.embed(ids), state)
            return paddle.matmul(y, self.embed.weight, transpose_y=True) + self.bias, state

    net = run.start(Model())
    rate = paddle.optimizer.lr.ReduceOnPlateau(0.5, factor=0.5, patience=1)
    optimizer = paddle.optimizer.SGD(rate, parameters=net.parameters(), grad_clip=nn.ClipGradByNorm(1.0))
    ids = integers("book", 20, [2, 61])
    for _ in range(2):
        state = paddle.zeros([2, 2, 10])
        total = 0.0
        for start in range(0, 60, 10):
            x, y = (paddle.to_tensor(ids[:, start + k : start + k + 10]) for k in (0, 1))
            logits, state = net(x, state.detach())
            loss = F.cross_entropy(logits.reshape([-1, 20]), y.reshape([-1, 1]))
            loss.backward()
            optimizer.minimize(loss)
            net.clear_gradients()
            total += float(loss)
            yield loss
        rate.step(paddle.to_tensor(total))
        yield np.exp(total / 6)
        yield optimizer.get_lr()


@program
def encoder(paddle: Any, run: Run) -> Iterator[Any]:
    """A transformer that classifies padded texts, with Noam's learning rate."""
    nn: Any = paddle.nn
    F: Any = nn.functional

    class Classifier(nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(30, 16, padding_idx=0)
            self.places = self.create_parameter([1, 12, 16], default_initializer=nn.initializer.Normal(0.0, 0.02))
            layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, activation="gelu", normalize_before=True)
            self.encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(16))
            self.fc = nn.Linear(16, 3)

        def forward(self, ids: Any) -> Any:
            hidden = (ids == 0).astype("float32").unsqueeze([1, 2]) * -1e9
            y = self.encoder(self.embed(ids) * 4.0 + self.places[:, : ids.shape[1]], hidden)
            return self.fc(y[:, 0])

    net = run.start(Classifier())
    rate = paddle.optimizer.lr.NoamDecay(d_model=16, warmup_steps=6, learning_rate=0.5)
    undecayed = [p.name for n, p in net.named_parameters() if "bias" in n or "norm" in n]
    optimizer = paddle.optimizer.AdamW(
        learning_rate=rate,
        beta2=0.98,
        parameters=net.parameters(),
        weight_decay=0.05,
        apply_decay_param_fun=lambda name: name not in undecayed,
        grad_clip=nn.ClipGradByGlobalNorm(1.0),
    )
    ids = integers("words", 29, [4, 9]) + 1
    ids[1, 6:] = ids[3, 3:] = 0
    labels = paddle.to_tensor([0, 1, 2, 1])
    for _ in range(12):
        loss = F.cross_entropy(net(paddle.to_tensor(ids)), labels)
        loss.backward()
        optimizer.step()
        rate.step()
        optimizer.clear_grad()
        yield loss
        yield rate()


@program
def translation(paddle: Any, run: Run) -> Iterator[Any]:
    """Sequence to sequence with nn.Transformer, then greedy decoding."""
    nn: Any = paddle.nn
    F: Any = nn.functional

    class Seq2Seq(nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.source, self.target = nn.Embedding(15, 16), nn.Embedding(17, 16)
            self.transformer = nn.Transformer(16, 2, 2, 2, 24, dropout=0.0)
            self.project = nn.Linear(16, 17)

        def forward(self, source: Any, target: Any, mask: Any) -> Any:
            return self.project(self.transformer(self.source(source), self.target(target), tgt_mask=mask))

    net = run.start(Seq2Seq())
    rate = paddle.optimizer.lr.PolynomialDecay(2e-3, decay_steps=10, end_lr=1e-4)
    optimizer = paddle.optimizer.Adam(rate, 0.9, 0.98, epsilon=1e-9, parameters=net.parameters())
    source = paddle.to_tensor(integers("source", 15, [3, 6]))
    target = paddle.to_tensor(integers("target", 16, [3, 8]) + 1)
    mask = net.transformer.generate_square_subsequent_mask(7)
    for _ in range(10):
        logits = net(source, target[:, :-1], mask)
        loss = F.cross_entropy(logits, target[:, 1:].unsqueeze(-1), ignore_index=3)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        rate.step()
        yield loss
    net.eval()
    found = target[:, :1]
    with paddle.no_grad():
        for size in range(1, 5):
            mask = net.transformer.generate_square_subsequent_mask(size)
            logits = net(source, found, mask)[:, -1]
            found = paddle.concat([found, logits.argmax(-1, keepdim=True)], axis=1)
            yield logits.max()


# ---- Networks that make data


@program
def adversaries(paddle: Any, run: Run) -> Iterator[Any]:
    """A GAN with two optimizers and a gradient penalty."""
    nn: Any = paddle.nn
    made = run.start(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 2)))
    judge = run.start(
        nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
    )
    first = paddle.optimizer.Adam(1e-3, beta1=0.5, beta2=0.9, parameters=made.parameters())
    second = paddle.optimizer.Adam(1e-3, beta1=0.5, beta2=0.9, parameters=judge.parameters())
    for i in range(10):
        real = paddle.to_tensor(drawn(f"real {i}", [8, 2]) * 0.3 + 1)
        noise = paddle.to_tensor(drawn(f"noise {i}", [8, 4]))
        fake = made(noise).detach()
        share = paddle.to_tensor(1 / (1 + np.exp(-drawn(f"share {i}", [8, 1]))))
        between = share * real + (1 - share) * fake
        between.stop_gradient = False
        slopes = paddle.grad(judge(between).sum(), between, create_graph=True, retain_graph=True)[0]
        penalty = ((slopes.norm(2, axis=1) - 1) ** 2).mean()
        loss = judge(fake).mean() - judge(real).mean() + 10 * penalty
        second.clear_grad()
        loss.backward()
        second.step()
        yield loss
        yield penalty
        first.clear_grad()
        wanted = -judge(made(noise)).mean()
        wanted.backward()
        first.step()
        yield wanted


@program
def vae(paddle: Any, run: Run) -> Iterator[Any]:
    """A variational autoencoder."""
    nn: Any = paddle.nn
    F: Any = nn.functional

    class VAE(nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(20, 16)
            self.mean, self.spread = nn.Linear(16, 3), nn.Linear(16, 3)
            self.outer = nn.Sequential(("hidden", nn.Linear(3, 16)), ("act", nn.Silu()), ("out", nn.Linear(16, 20)))

        def forward(self, x: Any, noise: Any) -> Any:
            h = F.elu(self.inner(x))
            mean, log_variance = self.mean(h), self.spread(h)
            z = mean + noise * paddle.exp(0.5 * log_variance)
            return F.sigmoid(self.outer(z)), mean, log_variance

    net = run.start(VAE())
    optimizer = paddle.optimizer.Adam(paddle.optimizer.lr.ExponentialDecay(5e-3, 0.95), parameters=net.parameters())
    x = paddle.to_tensor((drawn("pixels", [10, 20]) > 0).astype("float32"))
    for i in range(12):
        again, mean, log_variance = net(x, paddle.to_tensor(drawn(f"noise {i}", [10, 3])))
        known = F.binary_cross_entropy(again, x, reduction="sum")
        divergence = -0.5 * paddle.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
        loss = (known + divergence) / x.shape[0]
        loss.backward()
        optimizer.step()
        optimizer._learning_rate.step()
        optimizer.clear_grad(set_to_zero=False)
        yield loss
        yield divergence


@program
def denoising(paddle: Any, run: Run) -> Iterator[Any]:
    """An autoencoder with weight_norm and spectral_norm, L1 decay and Adamax."""
    nn: Any = paddle.nn
    net = run.start(
        nn.Sequential(
            nn.utils.weight_norm(nn.Conv1D(2, 6, 3, padding=1)),
            nn.PReLU(6),
            nn.utils.weight_norm(nn.Conv1D(6, 3, 2, stride=2), dim=0),
            nn.Hardswish(),
            nn.Conv1DTranspose(3, 6, 2, stride=2),
            nn.InstanceNorm1D(6),
            nn.Mish(),
            nn.utils.weight_norm(nn.Conv1D(6, 2, 1), dim=None),
        )
    )
    optimizer = paddle.optimizer.Adamax(
        0.01, parameters=net.parameters(), weight_decay=paddle.regularizer.L1Decay(1e-3)
    )
    x = paddle.to_tensor(drawn("signals", [4, 2, 12]))
    criterion = nn.SmoothL1Loss()
    for i in range(12):
        loss = criterion(net(x + 0.1 * paddle.to_tensor(drawn(f"noise {i}", [4, 2, 12]))), x)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        yield loss


# ---- Others


@program
def regression(paddle: Any, run: Run) -> Iterator[Any]:
    """A multilayer perceptron, from a TensorDataset, with the learning rate of a scheduler."""
    nn: Any = paddle.nn
    net = run.start(nn.Sequential(nn.Linear(13, 10), nn.ReLU(), nn.LayerNorm(10), nn.Linear(10, 1)))
    rate = paddle.optimizer.lr.StepDecay(0.05, step_size=2, gamma=0.5)
    optimizer = paddle.optimizer.Adagrad(rate, parameters=net.parameters())
    x = drawn("houses", [40, 13])
    y = (x[:, :1] * 2 + np.sin(x[:, 1:2])).astype("float32")
    data = paddle.io.TensorDataset([paddle.to_tensor(x), paddle.to_tensor(y)])
    for _ in range(4):
        for inputs, wanted in paddle.io.DataLoader(data, batch_size=16, shuffle=False, drop_last=True):
            loss = nn.functional.square_error_cost(net(inputs), wanted).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            yield loss
        rate.step()
        yield rate.get_lr()


@program
def policy(paddle: Any, run: Run) -> Iterator[Any]:
    """A policy gradient with a baseline and a reward for entropy."""
    nn: Any = paddle.nn

    class Actor(nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Linear(4, 12)
            self.actor, self.critic = nn.Linear(12, 3), nn.Linear(12, 1)

        def forward(self, x: Any) -> Any:
            h = nn.functional.tanh(self.body(x))
            return self.actor(h), self.critic(h).squeeze(-1)

    net = run.start(Actor())
    optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
    for i in range(10):
        states = paddle.to_tensor(drawn(f"states {i}", [6, 4]))
        actions = paddle.to_tensor(integers(f"actions {i}", 3, [6]))
        rewards, total = drawn(f"rewards {i}", [6]), 0.0
        returns: list[float] = []
        for r in rewards[::-1]:
            total = float(r) + 0.9 * total
            returns.insert(0, total)
        wanted = paddle.to_tensor(returns)
        logits, values = net(states)
        chances = nn.functional.log_softmax(logits, axis=-1)
        taken = paddle.take_along_axis(chances, actions.unsqueeze(-1), axis=-1).squeeze(-1)
        better = wanted - values.detach()
        better = (better - better.mean()) / (better.std() + 1e-8)
        entropy = -(chances.exp() * chances).sum(-1).mean()
        loss = -(taken * better).mean() + 0.5 * nn.functional.mse_loss(values, wanted) - 0.01 * entropy
        optimizer.clear_grad()
        loss.backward()
        optimizer.step()
        yield loss
        yield entropy


@program
def fine_tuning(paddle: Any, run: Run) -> Iterator[Any]:
    """A frozen body, groups of parameters, a warm-up before a cosine, and a network that teaches."""
    nn: Any = paddle.nn
    F: Any = nn.functional

    class Net(nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1D(12), nn.ReLU(), nn.Linear(12, 12), nn.GELU())
            self.head = nn.Linear(12, 4)

        def forward(self, x: Any) -> Any:
            return self.head(self.body(x))

    net, teacher = run.start(Net()), run.start(nn.Linear(6, 4))
    teacher.eval()
    for p in teacher.parameters():
        p.stop_gradient = True
    for p in net.body[0].parameters():
        p.trainable = False
    net.body[1].eval()
    cosine = paddle.optimizer.lr.CosineAnnealingDecay(0.02, T_max=8, eta_min=1e-3)
    rate = paddle.optimizer.lr.LinearWarmup(cosine, warmup_steps=4, start_lr=0.0, end_lr=0.02)
    optimizer = paddle.optimizer.AdamW(
        rate,
        parameters=[
            {"params": net.body.parameters(), "learning_rate": 0.1, "weight_decay": 0.0},
            {"params": net.head.parameters()},
        ],
        weight_decay=0.1,
    )
    for i in range(12):
        x = paddle.to_tensor(drawn(f"x {i}", [8, 6]))
        y = paddle.to_tensor(integers(f"y {i}", 4, [8]))
        logits = net(x)
        known = F.kl_div(F.log_softmax(logits / 2.0), F.softmax(teacher(x) / 2.0), reduction="batchmean")
        loss = F.cross_entropy(logits, y) + 4.0 * known
        loss.backward()
        optimizer.step()
        rate.step()
        optimizer.clear_grad()
        yield loss
        yield optimizer.get_lr()
        if i == 7:
            for p in net.body[0].parameters():
                p.stop_gradient = False
            net.train()
    yield sum(int(p.stop_gradient) for p in net.parameters())


@program
def resumed(paddle: Any, run: Run) -> Iterator[Any]:
    """Saved in the middle, loaded into another network and another optimizer, and trained further."""
    nn: Any = paddle.nn

    def begin() -> Any:
        paddle.utils.unique_name.switch()  # names as in another process
        net = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1D(8), nn.Sigmoid(), nn.Linear(8, 2))
        rate = paddle.optimizer.lr.MultiStepDecay(0.05, milestones=[3, 8], gamma=0.3)
        return net, rate, paddle.optimizer.Adam(rate, parameters=net.parameters(), weight_decay=0.01)

    net, rate, optimizer = begin()
    net = run.start(net)
    with tempfile.TemporaryDirectory() as folder:
        for i in range(12):
            x, y = (paddle.to_tensor(drawn(f"{n} {i}", [6, size])) for n, size in (("x", 5), ("y", 2)))
            loss = nn.functional.l1_loss(net(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            rate.step()
            yield loss
            if i == 5:
                paddle.save(net.state_dict(), f"{folder}/net.pdparams")
                paddle.save(optimizer.state_dict(), f"{folder}/net.pdopt")
                paddle.save({"epoch": i, "losses": [float(loss)]}, f"{folder}/net.log")
                run.started.clear()
                net, rate, optimizer = begin()
                net = run.start(net)
                missing, unexpected = net.set_state_dict(paddle.load(f"{folder}/net.pdparams"))
                optimizer.set_state_dict(paddle.load(f"{folder}/net.pdopt"))
                yield len(missing) + len(unexpected)
                yield paddle.load(f"{folder}/net.log")["losses"][0]
                yield optimizer.get_lr()
                yield rate.last_epoch


@program
def metrics(paddle: Any, run: Run) -> Iterator[Any]:
    """A loop of evaluation, beside gradients that are added up over small batches."""
    nn: Any = paddle.nn
    F: Any = nn.functional
    net = run.start(nn.Sequential(nn.Flatten(), nn.Linear(12, 16), nn.Tanh(), nn.Dropout(0.0), nn.Linear(16, 4)))
    optimizer = paddle.optimizer.Lamb(0.02, parameters=net.parameters())
    x, y = drawn("tables", [24, 3, 4]), integers("kinds", 4, [24, 1])

    class Stream(paddle.io.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Any:
            yield from zip(x, y)

    accuracy = paddle.metric.Accuracy(topk=(1, 2))
    precision, recall, area = paddle.metric.Precision(), paddle.metric.Recall(), paddle.metric.Auc()
    for _ in range(3):
        net.train()
        for i, (inputs, labels) in enumerate(paddle.io.DataLoader(Stream(), batch_size=4)):
            loss = F.cross_entropy(net(inputs), labels, reduction="none").mean() / 2
            loss.backward()
            if i % 2:
                optimizer.step()
                optimizer.clear_grad()
            yield loss
        net.eval()
        for metric in (accuracy, precision, recall, area):
            metric.reset()
        for inputs, labels in paddle.io.DataLoader(Stream(), batch_size=7):
            with paddle.no_grad():
                logits = net(inputs)
            accuracy.update(accuracy.compute(logits, labels))
            first = F.softmax(logits)[:, :1]
            is_first = (labels == 0).astype("int64")
            precision.update(first, is_first)
            recall.update(first, is_first)
            area.update(preds=paddle.concat([1 - first, first], axis=1), labels=is_first)
        yield from accuracy.accumulate()
        yield precision.accumulate()
        yield recall.accumulate()
        yield area.accumulate()


@program
def twins(paddle: Any, run: Run) -> Iterator[Any]:
    """One network for three inputs, a loss with a margin, NAdam, and words that are drawn for a skip-gram."""
    nn: Any = paddle.nn
    F: Any = nn.functional

    class Twins(nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(12, 6)
            self.mix = nn.Bilinear(6, 6, 5)
            self.blocks = nn.LayerList([nn.Linear(5, 5) for _ in range(2)])

        def forward(self, ids: Any) -> Any:
            x = self.words(ids)
            y = self.mix(x[:, 0], x[:, 1])
            for block in self.blocks:
                y = y + F.softplus(block(y))
            return F.normalize(y, axis=-1)

    net = run.start(Twins())
    optimizer = paddle.optimizer.NAdam(0.01, parameters=net.parameters())
    criterion = nn.TripletMarginLoss(margin=0.5)
    for i in range(10):
        anchor, near, far = (net(paddle.to_tensor(integers(f"{n} {i}", 12, [5, 2]))) for n in ("a", "n", "f"))
        loss = criterion(anchor, near, far)
        centers, others = (net.words(paddle.to_tensor(integers(f"{n} {i}", 12, [5, 1]))) for n in ("c", "o"))
        scores = paddle.bmm(centers, others.transpose([0, 2, 1])).flatten()
        loss = loss - F.log_sigmoid(scores).mean()
        optimizer.clear_grad()
        loss.backward()
        optimizer.step()
        yield loss


def recorded(paddle: Any, name: str) -> dict[str, list[float]]:
    """The numbers of a program, and how far each moves if the first values do: what it prints at least as far as what it printed before."""
    known = [np.array(x) for x in numbers(paddle, name)]
    found = [numbers(paddle, name, moved=i + 1) for i in range(MOVES)]
    printed, ends = (
        np.max([np.abs(np.array(f[part]) - k) for f in found], 0) / np.maximum(np.abs(k), 1e-6)
        for part, k in enumerate(known)
    )
    answer = {"printed": known[0], "spread": np.maximum.accumulate(printed), "ends": known[1], "spread of ends": ends}
    return {key: [float(f"{v:.{2 if 'spread' in key else 9}g}") for v in values] for key, values in answer.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", metavar="FILE", type=pathlib.Path, required=True)
    options = parser.parse_args()
    import paddle

    lines = [f"{json.dumps(name)}: {json.dumps(recorded(paddle, name))}" for name in PROGRAMS]
    options.record.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"wrote {len(lines)} programs to {options.record}")


if __name__ == "__main__":
    main()
