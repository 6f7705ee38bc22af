"""Layers as objects: what belongs to them, hooks, state, copies, places, modes, errors; and the parameters that they make."""

from __future__ import annotations

import collections
import copy
import gc
import pathlib
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import nn
from paddle_mps.nn import functional as F
from paddle_mps.utils import unique_name


class Net(nn.Layer):
    """A network as programs write them."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(1, 2, 3)
        self.norm = nn.BatchNorm2D(2)
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(8, 3))
        self.scale = self.create_parameter([1], default_initializer=nn.initializer.Constant(2.0))
        self.register_buffer("steps", paddle.zeros([1]))
        self.shift = paddle.ones([1])  # a buffer that is not saved

    def forward(self, x: Any) -> Any:
        return self.head(F.relu(self.norm(self.conv(x)))) * self.scale + self.shift


def pictures(count: int = 2) -> paddle.Tensor:
    return paddle.to_tensor(np.random.RandomState(0).randn(count, 1, 4, 4).astype("float32"))


# ---- What belongs to a layer


def test_names_of_state_parameters_and_buffers() -> None:
    net = Net()
    paths = [
        "scale",
        "conv.weight",
        "conv.bias",
        "norm.weight",
        "norm.bias",
        "norm._mean",
        "norm._variance",
        "head.1.weight",
        "head.1.bias",
    ]
    assert [path for path, _ in net.named_parameters()] == paths
    assert list(net.state_dict()) == ["scale", "steps", *paths[1:]]
    assert [path for path, _ in net.named_buffers()] == ["steps", "shift"]
    assert list(net.to_static_state_dict()) == ["scale", "steps", "shift", *paths[1:]]
    assert [path for path, _ in net.named_sublayers()] == ["conv", "norm", "head", "head.0", "head.1"]
    assert [type(layer).__name__ for layer in net.children()] == ["Conv2D", "BatchNorm2D", "Sequential"]
    assert net.get_sublayer("head.1") is net.head[1] and net.get_parameter("conv.bias") is net.conv.bias
    assert net.get_buffer("steps") is net.steps
    assert "scale" in dir(net) and "conv" in dir(net)


def test_a_shared_parameter_is_found_once() -> None:
    net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    net[1].weight = net[0].weight
    assert len(net.parameters()) == 3 and len(list(net.named_parameters(remove_duplicate=False))) == 4
    assert len(net.state_dict()) == 4
    twin = copy.deepcopy(net)
    assert twin[1].weight is twin[0].weight and twin[0].weight is not net[0].weight


class Small(nn.Layer):
    """A buffer, a layer and a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.c = paddle.ones([1])
        self.l = nn.Linear(1, 1)
        self.w = self.create_parameter([1])


def owned(net: Any) -> tuple[list[str], list[str], list[str]]:
    return list(net._buffers), list(net._sub_layers), list(net._parameters)


@pytest.mark.parametrize(
    ("statement", "want"),
    [
        ("m.c = None", (["c"], ["l"], ["w"])),
        ("m.l = None", (["c"], ["l"], ["w"])),
        ("m.w = None", (["c"], ["l"], ["w"])),
        ("m.l = m.w", (["c"], [], ["w", "l"])),
        ("m.x = 3; m.x = paddle.ones([1])", (["c", "x"], ["l"], ["w"])),
        ("m.c = nn.Linear(1, 1)", ([], ["l", "c"], ["w"])),
        ("m.c = m.w", ([], ["l"], ["w", "c"])),
        ("del m.c", ([], ["l"], ["w"])),
        ("del m.l", (["c"], [], ["w"])),
        ("del m.w", (["c"], ["l"], [])),
        ("m.x = paddle.ones([1]); m.x = paddle.zeros([2])", (["c", "x"], ["l"], ["w"])),
        ("m.register_buffer('c', paddle.ones([2]))", (["c"], ["l"], ["w"])),
        ("m.add_sublayer('l', nn.ReLU())", (["c"], ["l"], ["w"])),
        ("m.add_sublayer('a.b', None)", (["c"], ["l", "a.b"], ["w"])),
        ("m.add_parameter('w', nn.Parameter(paddle.ones([3])))", (["c"], ["l"], ["w"])),
        ("m.add_parameter('z', None)", (["c"], ["l"], ["w", "z"])),
    ],
)
def test_assignments_as_in_paddle(statement: str, want: tuple[list[str], list[str], list[str]]) -> None:
    net = Small()
    exec(statement, {"m": net, "paddle": paddle, "nn": nn})
    assert owned(net) == want


@pytest.mark.parametrize(
    ("statement", "error", "text"),
    [
        ("m.c = 3.0", TypeError, r"\[Small\] c is assigned float; want Tensor or None"),
        ("m.l = 3", TypeError, "want Layer or None"),
        ("m.l = paddle.ones([1])", TypeError, "want Layer or None"),
        ("m.w = paddle.ones([1])", TypeError, "want Parameter or None"),
        ("m.w = nn.Linear(1, 1)", TypeError, "want Parameter or None"),
        ("m.register_buffer('z', 3)", TypeError, "'z' is int; want Tensor or None"),
        ("m.register_buffer('l', paddle.ones([1]))", KeyError, "has an attribute 'l' already"),
        ("m.add_parameter('a.b', m.w)", KeyError, "without a dot"),
        ("m.add_parameter('', m.w)", KeyError, "not empty"),
        ("m.add_parameter(3, m.w)", TypeError, "want a str"),
        ("m.add_parameter('q', paddle.ones([1]))", TypeError, "want Parameter or None"),
        ("m.add_sublayer('k', 3)", TypeError, "want Layer or None"),
        ("m.nothing", AttributeError, "no attribute 'nothing'"),
        ("m.create_parameter([2], attr=3)", TypeError, r"attr is int; want a ParamAttr"),
        ("m.create_parameter([2], dtype='int64')", TypeError, "want a floating-point"),
        ("m.get_sublayer('l.x')", AttributeError, "has no layer 'l.x'"),
        ("m.get_parameter('l.x')", AttributeError, "has no parameter 'l.x'"),
        ("m.register_forward_pre_hook(3)", TypeError, "want a function"),
        ("nn.Layer()(1)", NotImplementedError, "has no forward"),
        ("nn.Sequential(nn.ReLU())[3]", IndexError, "index 3 is out of range; there are 1"),
        ("nn.LayerList([nn.ReLU()]).insert(3, nn.ReLU())", IndexError, "out of range"),
        ("nn.Conv2D(3, 4, 3, groups=2)", ValueError, "want multiples of groups, 2"),
        ("nn.Conv2D(3, 4, 3, weight_attr=False)", AssertionError, "weight_attr is False"),
        ("nn.MultiHeadAttention(5, 2)", AssertionError, "want a multiple of num_heads, 2"),
        ("nn.LSTM(3, 5, direction='x')", ValueError, "direction is 'x'"),
        ("nn.LSTMCell(3, 0)", ValueError, "want more than 0"),
        ("nn.Embedding(3, 4, padding_idx=3)", ValueError, "want -3 to 2"),
        ("nn.InstanceNorm2D(3, weight_attr=False)", AssertionError, "want both or none"),
        ("nn.ClipGradByValue(-1.0)", AssertionError, "want more than 0"),
        ("nn.initializer.Uniform(1.0, 0.0)", ValueError, "want low below high"),
        ("nn.initializer.calculate_gain('x')", ValueError, "nonlinearity is 'x'"),
        ("nn.utils.remove_weight_norm(m.l)", ValueError, "has no weight norm of 'weight'"),
    ],
)
def test_errors(statement: str, error: type[Exception], text: str) -> None:
    net = Small()
    with pytest.raises(error, match=text):
        exec(statement, {"m": net, "paddle": paddle, "nn": nn})
    assert owned(net) == (["c"], ["l"], ["w"])


def test_init_comes_first() -> None:
    class Early(nn.Layer):
        def __init__(self) -> None:
            self.l = nn.Linear(1, 1)

    with pytest.raises(ValueError, match=r"want super\(\).__init__\(\) before it"):
        Early()


def test_a_wrong_shape_names_the_layer_by_its_path() -> None:
    net = nn.Sequential(nn.Flatten(), nn.Sequential(nn.Linear(4, 3), nn.Linear(5, 2)))
    with pytest.raises(ValueError) as raised:
        net(paddle.ones([2, 4]))
    text = str(raised.value)
    assert text.startswith("[linear] ") and text.endswith(
        "; in layer 1.1 (Linear), its weight is [5, 2], its bias is [2], the input is [2, 3]"
    )
    with pytest.raises(ValueError, match=r"in layer Linear, its weight is \[4, 3\]"):
        net[1][0](paddle.ones([2, 7]))
    assert net[1][0](paddle.ones([2, 4])).shape == [2, 3]  # the next call works


def test_an_error_of_the_program_stays_as_it_is() -> None:
    class Own(nn.Layer):
        def forward(self, x: Any) -> Any:
            raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$"):
        nn.Sequential(Own())(paddle.ones([1]))


# ---- Hooks


def test_hooks_change_inputs_and_results() -> None:
    net = nn.Linear(2, 2)
    net.weight.set_value(paddle.eye(2))
    seen: list[Any] = []
    first = net.register_forward_pre_hook(lambda layer, inputs: seen.append(len(inputs)))
    net.register_forward_pre_hook(lambda layer, inputs: inputs[0] + 1)

    def before(layer: Any, inputs: Any) -> None:
        seen.append("before")

    net.register_forward_pre_hook(before, prepend=True)
    after = net.register_forward_post_hook(lambda layer, inputs, result: result * 10)
    np.testing.assert_array_equal(net(paddle.to_tensor([[1.0, 2.0]])).numpy(), [[20, 30]])
    assert seen == ["before", 1]
    after.remove()
    first.remove()
    first.remove()
    np.testing.assert_array_equal(net(paddle.to_tensor([[1.0, 2.0]])).numpy(), [[2, 3]])
    assert seen == ["before", 1, "before"]


def test_hooks_with_keywords_and_hooks_after_an_exception() -> None:
    class Scaled(nn.Layer):
        def forward(self, x: Any, by: float = 1.0) -> Any:
            if by < 0:
                raise RuntimeError("below 0")
            return x * by

    net, seen = Scaled(), []
    net.register_forward_pre_hook(lambda layer, inputs, kwargs: (inputs, {"by": kwargs["by"] + 1}), with_kwargs=True)
    net.register_forward_post_hook(
        lambda layer, inputs, kwargs, y: seen.append(kwargs), with_kwargs=True, always_call=True
    )
    assert float(net(paddle.to_tensor(3.0), by=2.0)) == 9.0 and seen == [{"by": 3.0}]
    with pytest.raises(RuntimeError, match="below 0"):
        net(paddle.to_tensor(3.0), by=-5.0)
    assert seen == [{"by": 3.0}, {"by": -4.0}]


def test_hooks_of_the_state() -> None:
    net = nn.Linear(1, 1)
    hook = net.register_state_dict_hook(lambda state: {**state, "more": 1})
    assert list(net.state_dict()) == ["weight", "bias", "more"]
    assert list(net.state_dict(use_hook=False)) == ["weight", "bias"]
    hook.remove()
    assert list(net.state_dict()) == ["weight", "bias"]


# ---- State


def test_state_is_written_by_path_or_by_name() -> None:
    net, other = Net(), Net()
    assert net.set_state_dict({k: v.numpy() for k, v in other.state_dict().items()}) == ([], [])
    net.eval(), other.eval()
    np.testing.assert_array_equal(net(pictures()).numpy(), other(pictures()).numpy())
    values = {p.name: np.full(p.shape, 0.5, "float64") for p in net.head[1].parameters()}
    assert net.head[1].set_state_dict(values, use_structured_name=False) == ([], [])
    assert net.head[1].weight.dtype == "float32" and float(net.head[1].weight.max()) == 0.5


def test_what_is_missing_unexpected_or_of_another_shape() -> None:
    net = nn.Linear(2, 3)
    before = net.weight.numpy()
    with pytest.warns(UserWarning, match=r"'weight' has shape \[3, 2\], and the Parameter \[2, 3\]; it is left out"):
        missing, unexpected = net.set_state_dict({"weight": np.zeros((3, 2)), "x": np.zeros(1)})
    assert (missing, unexpected) == (["weight", "bias"], ["weight", "x"])
    np.testing.assert_array_equal(net.weight.numpy(), before)
    with pytest.raises(RuntimeError, match=r"missing keys are \['bias'\]"):
        net.load_state_dict({"weight": before})
    assert net.load_state_dict({"weight": before}, strict=False) == (["bias"], [])


def test_state_of_ones_own() -> None:
    class Counting(nn.Linear):
        def get_extra_state(self) -> Any:
            return {"calls": 3}

    assert nn.Sequential(Counting(1, 1)).state_dict()["0._extra_state"] == {"calls": 3}


def test_files(tmp_path: pathlib.Path) -> None:
    net = Net()
    optimizer = paddle.optimizer.Adam(paddle.optimizer.lr.StepDecay(0.1, 2), parameters=net.parameters())
    for _ in range(3):
        net(pictures()).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
        optimizer._learning_rate.step()
    paddle.save(net.state_dict(), str(tmp_path / "net.pdparams"))
    paddle.save(optimizer.state_dict(), str(tmp_path / "net.pdopt"))
    content = pickle.loads((tmp_path / "net.pdparams").read_bytes())
    names = content.pop("StructuredToParameterName@@")
    assert names["conv.weight"] == net.conv.weight.name and list(content) == list(net.state_dict())
    with unique_name.guard():
        Net()  # other numbers, as in a process that has other networks
        second = Net()
    assert second.set_state_dict(paddle.load(str(tmp_path / "net.pdparams"))) == ([], [])
    for p, q in zip(net.parameters(), second.parameters()):
        np.testing.assert_array_equal(p.numpy(), q.numpy())
        q.name = p.name
    with unique_name.guard():
        again = paddle.optimizer.Adam(paddle.optimizer.lr.StepDecay(0.1, 2), parameters=second.parameters())
        again.set_state_dict(paddle.load(str(tmp_path / "net.pdopt")))
        for one, how in ((net, optimizer), (second, again)):
            one(pictures()).mean().backward()
            how.step()
        assert again.get_lr() == optimizer.get_lr()
    for p, q in zip(net.parameters(), second.parameters()):
        np.testing.assert_array_equal(p.numpy(), q.numpy())


# ---- Copies, places, dtypes, modes


def test_copies_have_parameters_of_their_own() -> None:
    net = Net()
    net(pictures()).mean().backward()
    for twin in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        twin.eval(), net.eval()
        np.testing.assert_array_equal(twin(pictures()).numpy(), net(pictures()).numpy())
        assert isinstance(twin.conv.weight, nn.Parameter) and twin.conv.weight.grad is None
        twin.conv.weight.set_value(paddle.zeros(twin.conv.weight.shape))
        assert float(paddle.abs(net.conv.weight).sum()) > 0
    assert copy.deepcopy(net).conv.weight.name.startswith(f"{net.conv.weight.name}_deepcopy_")


@pytest.mark.parametrize("way", ["to", "float16", "astype"])
def test_dtypes_change_in_place(way: str) -> None:
    net = Net()
    weight = net.conv.weight
    net(pictures()).mean().backward()
    ways: dict[str, Any] = {
        "to": lambda: net.to(dtype="float16"),
        "float16": net.float16,
        "astype": lambda: net.astype("float16"),
    }
    ways[way]()
    assert net.conv.weight is weight and weight.dtype == "float16" and weight.grad.dtype == "float16"
    assert net.steps.dtype == "float16" and weight.trainable
    net.float(excluded_layers=nn.Conv2D)
    assert weight.dtype == "float16" and net.head[1].weight.dtype == "float32"
    assert nn.Sequential(net).float()(pictures()).dtype == "float32"


def test_places_change_in_place() -> None:
    net = Net()
    weight, want = net.conv.weight, net.eval()(pictures()).numpy()
    net.to("mps")
    assert weight.place.is_mps_place() and net.conv.weight is weight and net.steps.place.is_mps_place()
    net(pictures().to("mps")).mean().backward()
    assert weight.grad.place.is_mps_place()
    np.testing.assert_allclose(net(pictures().to("mps")).numpy(), want, rtol=1e-6)
    net.cpu()
    assert weight.place.is_cpu_place() and weight.grad.place.is_cpu_place()


def test_modes_and_gradients() -> None:
    net = Net()
    assert net.training and net.eval() is net and not net.norm.training and net.train().norm.training
    net(pictures()).mean().backward()
    net.clear_gradients()
    assert float(paddle.abs(net.conv.weight.grad).sum()) == 0
    net.zero_grad()
    assert net.conv.weight.grad is None
    net.requires_grad_(False)
    assert net(pictures()).stop_gradient
    order: list[str] = []
    net.apply(lambda layer: order.append(type(layer).__name__))
    assert order == ["Conv2D", "BatchNorm2D", "Flatten", "Linear", "Sequential", "Net"]


def test_a_traced_layer_is_the_layer_and_follows_its_mode() -> None:
    net = Net()
    twin = copy.deepcopy(net)
    assert paddle.jit.to_static(twin) is twin
    for mode in ("train", "eval", "train"):
        getattr(net, mode)(), getattr(twin, mode)()
        for _ in range(2):
            np.testing.assert_allclose(twin(pictures()).numpy(), net(pictures()).numpy(), rtol=1e-6)
    np.testing.assert_allclose(twin.norm._mean.numpy(), net.norm._mean.numpy(), rtol=1e-6)
    for one in (net, twin):
        (one(pictures()) ** 2).mean().backward()
    for p, q in zip(net.parameters(), twin.parameters()):
        if p.trainable:
            np.testing.assert_allclose(q.grad.numpy(), p.grad.numpy(), rtol=1e-5, atol=1e-6)


class Decorated(nn.Layer):
    """Its forward is traced where it is written."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Dropout(0.5)
        self.scale = 3.0

    @paddle.jit.to_static
    def forward(self, x: Any) -> Any:
        return self.inner(x) * (self.scale if self.training else 1.0)


def test_traced_functions_follow_the_modes_of_the_layers_that_they_call() -> None:
    x = paddle.ones([64])
    net, dropout = Decorated(), nn.Dropout(0.5)

    @paddle.jit.to_static
    def twice(x: Any) -> Any:
        return nn.Sequential(dropout, nn.Identity())(x) * 2.0

    other = Decorated()
    bound = paddle.jit.to_static(other.forward)
    for _ in range(2):
        net.train(), dropout.train()
        assert {0.0, 6.0} == set(net(x).tolist()) and {0.0, 4.0} == set(twice(x).tolist())
        net.inner.eval()  # one layer of two
        assert set(net(x).tolist()) == {3.0}
        net.eval(), dropout.eval()
        assert set(net(x).tolist()) == {1.0} and set(twice(x).tolist()) == {2.0}
        dropout.training = True
        assert {0.0, 4.0} == set(twice(x).tolist())
    assert {0.0, 6.0} == set(bound(x).tolist())
    before = net.forward.program_cache
    for mode in (True, False, True):
        net.train(mode)
        net(x), net(x)
    assert net.forward.program_cache == before  # programs of modes that come again are kept


def test_a_layer_is_saved_as_a_program(tmp_path: pathlib.Path) -> None:
    net = paddle.jit.to_static(Net().eval(), input_spec=[paddle.static.InputSpec([None, 1, 4, 4], "float32")])
    paddle.jit.save(net, str(tmp_path / "net"))
    loaded = paddle.jit.load(str(tmp_path / "net"))
    for count in (2, 5):
        np.testing.assert_allclose(loaded(pictures(count)).numpy(), net(pictures(count)).numpy(), rtol=1e-6)


def test_layers_are_freed() -> None:
    import weakref

    net = Net()
    gone = weakref.ref(net.conv.weight)
    net(pictures()).mean().backward()
    del net
    gc.collect()
    assert gone() is None


def test_threads_call_one_layer() -> None:
    net = Net().eval()
    want = net(pictures()).numpy()
    wrong: list[Any] = []

    def call() -> None:
        for _ in range(20):
            if not np.array_equal(net(pictures()).numpy(), want):
                wrong.append(1)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---- Parameters and their first values


def test_parameters_are_tensors_with_marks() -> None:
    p = nn.Parameter(paddle.ones([2]))
    assert isinstance(p, paddle.Tensor) and p.trainable and not p.stop_gradient and p.persistable and p.is_leaf
    assert p.optimize_attr == {"learning_rate": 1.0} and p.regularizer is None and p.need_clip and not p.is_distributed
    assert repr(p).startswith("Parameter containing:\nTensor(shape=[2]")
    p.trainable = False
    assert p.stop_gradient
    with pytest.raises(ValueError, match="want a bool"):
        p.trainable = 1
    attr = paddle.ParamAttr(name="mine", learning_rate=0.5, trainable=False, need_clip=False)
    made = nn.Linear(2, 2, weight_attr=attr).weight
    assert made.name == "mine" and made.optimize_attr == {"learning_rate": 0.5} and made.stop_gradient
    assert not made.need_clip
    assert paddle.create_parameter([2, 3], "float32", name="zz").name == "zz"
    assert nn.Linear(2, 2, bias_attr=False).bias is None


def test_names_are_numbered_as_in_paddle() -> None:
    with unique_name.guard():
        assert nn.Linear(1, 1).weight.name == "linear_0.w_0"
        assert nn.Linear(1, 1).bias.name == "linear_1.b_0"
        assert nn.PReLU()._weight.name == "p_re_lu_0.w_0"
        assert [p.name for p in nn.BatchNorm2D(1).parameters()] == [
            "batch_norm2d_0.w_0",
            "batch_norm2d_0.b_0",
            "batch_norm2d_0.w_1",
            "batch_norm2d_0.w_2",
        ]
    with unique_name.guard("a_"):
        assert unique_name.generate("fc") == "a_fc_0" and unique_name.generate("fc") == "a_fc_1"
    before, _ = unique_name.switch()
    assert nn.Linear(1, 1).full_name() == "linear_0"
    unique_name.switch(before)


def test_sequential_of_an_ordered_dict() -> None:
    net = nn.Sequential(collections.OrderedDict(first=nn.Linear(2, 3), act=nn.ReLU()))
    assert [name for name, _ in net.named_children()] == ["first", "act"]
    assert list(net.state_dict()) == ["first.weight", "first.bias"]


def test_sequential_of_a_list_is_no_layer_with_a_layer_for_its_name() -> None:
    with pytest.raises(TypeError, match="element 0 has a layer for its key"):
        nn.Sequential([nn.ReLU(), nn.Tanh()])


def test_a_name_is_given_to_one_parameter() -> None:
    """What optimizers keep is found by the names: two parameters of one name would share their moments."""
    with unique_name.guard():
        nn.Linear(1, 1, weight_attr=paddle.ParamAttr(name="w"))
        for again in (
            lambda: nn.Linear(1, 1, weight_attr="w"),
            lambda: nn.Linear(1, 1, weight_attr="shared", bias_attr="shared"),
            lambda: nn.LSTM(2, 2, 2, weight_ih_attr=paddle.ParamAttr(name="ih")),
            lambda: [paddle.create_parameter([1], "float32", name="p") for _ in range(2)],
        ):
            with pytest.raises(ValueError, match=r"is named '(w|shared|ih|p)' already"):
                again()
        with unique_name.guard():
            assert nn.Linear(1, 1, weight_attr="w").weight.name == "w"
        with pytest.raises(ValueError, match="already"):
            nn.Linear(1, 1, weight_attr="w")
        before = unique_name.switch()
        assert nn.Linear(1, 1, weight_attr="w").weight.name == "w"
        unique_name.switch(*before)
        with pytest.raises(ValueError, match="already"):
            nn.Linear(1, 1, weight_attr="w")


def test_all_parameters_count_in_names() -> None:
    """As recorded from Paddle, whose layers make parameters that are not seen: files of optimizers have these numbers."""

    def number() -> int:
        return int(nn.Parameter(paddle.ones([1])).name.rpartition("_")[2])

    with unique_name.guard():
        assert nn.Parameter(paddle.ones([1])).name == "_eager_param_base_0"
        nn.Linear(2, 2)
        assert number() == 3
        nn.LSTM(2, 2, 2, "bidirect")
        assert number() == 3 + 18
        nn.GRU(2, 2, bias_ih_attr=False)
        assert number() == 21 + 6
        net = nn.utils.weight_norm(nn.Linear(2, 2))
        assert [p.name for p in net.parameters()] == ["linear_1.b_0", "linear_1.w_1", "linear_1.w_2"]
        assert number() == 27 + 5
        nn.utils.remove_weight_norm(net)
        assert net.weight.name == "linear_1.w_3" and number() == 32 + 2
        net = nn.utils.spectral_norm(nn.Linear(2, 2))
        assert net.create_parameter([1]).name == "linear_2.w_3" and number() == 34 + 6
        net = copy.deepcopy(nn.Linear(2, 2))
        assert [p.name for p in net.parameters()] == ["linear_3.w_0_deepcopy_0", "linear_3.b_0_deepcopy_1"]
        assert number() == 40 + 5


def test_lazy_parameters() -> None:
    with paddle.LazyGuard():
        net = nn.Linear(3, 3)
    assert float(paddle.abs(net.weight).sum()) == 0
    for p in net.parameters():
        p.initialize()
    value = net.weight.numpy()
    assert np.abs(value).sum() > 0
    net.weight.initialize()
    np.testing.assert_array_equal(net.weight.numpy(), value)


@pytest.mark.parametrize(
    ("text", "shape", "std", "most"),
    [
        ("Normal(1.0, 2.0)", [200, 300], 2.0, None),
        ("Uniform(-3.0, 1.0)", [200, 300], 4 / 12**0.5, 3.0),
        ("TruncatedNormal()", [200, 300], 0.8796, 2.0),
        ("TruncatedNormal(10.0, 5.0, -2.0, 2.0)", [200, 300], 1.0787, 2.0),
        ("XavierUniform()", [200, 300], (2 / 500) ** 0.5, (6 / 500) ** 0.5),
        ("XavierNormal()", [64, 32, 3, 3], (2 / 864) ** 0.5, None),
        ("XavierUniform(gain=2.0)", [500], 2 * (1 / 500) ** 0.5, 2 * (3 / 500) ** 0.5),
        ("KaimingUniform()", [200, 300], (2 / 200) ** 0.5, (6 / 200) ** 0.5),
        ("KaimingUniform(negative_slope=0.5, nonlinearity='leaky_relu')", [200, 300], (1.6 / 200) ** 0.5, None),
        ("KaimingNormal(mode='fan_out')", [64, 32, 3, 3], (2 / 576) ** 0.5, None),
    ],
)
def test_random_first_values_are_distributed_as_in_paddle(
    text: str, shape: list[int], std: float, most: float | None
) -> None:
    paddle.seed(5)
    values = paddle.create_parameter(
        shape, "float32", default_initializer=eval(text, dict(vars(nn.initializer)))
    ).numpy()
    assert values.std() == pytest.approx(std, rel=0.05 if values.size > 1000 else 0.15)
    assert most is None or np.abs(values).max() <= most * (1 + 1e-6)


def test_special_first_values() -> None:
    def made(initializer: Any, shape: list[int]) -> Any:
        return paddle.create_parameter(shape, "float32", default_initializer=initializer).numpy()

    init = nn.initializer
    q = made(init.Orthogonal(), [20, 30]).astype(np.float64)
    np.testing.assert_allclose(q @ q.T, np.eye(20), atol=1e-6)
    q = made(init.Orthogonal(2.0), [30, 4, 5]).reshape(30, 20).astype(np.float64)
    np.testing.assert_allclose(q.T @ q, 4 * np.eye(20), atol=1e-5)
    np.testing.assert_array_equal(made(init.Dirac(), [3, 2, 3, 3])[:, :, 1, 1], [[1, 0], [0, 1], [0, 0]])
    np.testing.assert_array_equal(made(init.Dirac(2), [4, 2, 3])[:, :, 1], [[1, 0], [0, 1], [1, 0], [0, 1]])
    np.testing.assert_array_equal(made(init.Bilinear(), [2, 2, 4, 4])[0, 0, 0], [0.0625, 0.28125, 0.375, 0.15625])
    np.testing.assert_array_equal(made(init.Assign([[1, 2]]), [1, 2]), [[1, 2]])
    with pytest.raises(ValueError, match=r"want \[3\], that of the parameter"):
        made(init.Assign([1, 2]), [3])
    assert init.calculate_gain("tanh") == 5 / 3 and init.calculate_gain("leaky_relu", 0.5) == 1.6**0.5

    class Mine(init.Initializer):
        def forward(self, param: Any, block: Any = None) -> None:
            param.fill_(7.0)

    assert made(Mine(), [2]).tolist() == [7, 7]
    init.set_global_initializer(init.Constant(3.0), init.Constant(4.0))
    try:
        net = nn.Linear(1, 1)
    finally:
        init.set_global_initializer(None)
    assert net.weight.item() == 3 and net.bias.item() == 4


# ---- Containers, vectors, decoding


def test_containers() -> None:
    net = nn.Sequential(nn.ReLU(), nn.Tanh())
    net.append(nn.GELU()).insert(0, nn.Sigmoid())
    assert [type(layer).__name__ for layer in net] == ["Sigmoid", "ReLU", "Tanh", "GELU"]
    assert isinstance(net[-1], nn.GELU) and len(net[1:]) == 3 and len(net) == 4
    del net[0]
    layers = nn.LayerList([nn.ReLU()]) + [nn.Tanh()]  # noqa: RUF005 # which is tested
    layers += [nn.GELU()]
    layers.insert(-1, nn.Sigmoid())
    assert [type(layer).__name__ for layer in layers] == ["ReLU", "Tanh", "Sigmoid", "GELU"]
    assert isinstance(layers.pop(1), nn.Tanh) and list(layers._sub_layers) == ["0", "1", "2"]
    named = nn.LayerDict({"a": nn.ReLU()})
    named.update([("b", nn.Tanh())])
    assert list(named) == ["a", "b"] and "a" in named and isinstance(named.pop("a"), nn.ReLU) and len(named) == 1
    parameters = nn.ParameterList([nn.Parameter(paddle.ones([1]))])
    parameters.append(nn.Parameter(paddle.zeros([2])))
    assert len(parameters.parameters()) == 2 and parameters[1].shape == [2]
    assert list(nn.ParameterDict({"w": nn.Parameter(paddle.ones([1]))}).state_dict()) == ["w"]


def test_vectors_and_bounds_of_gradients() -> None:
    net = nn.Linear(2, 2)
    vector = nn.utils.parameters_to_vector(net.parameters())
    assert vector.shape == [6] and not vector.stop_gradient
    nn.utils.vector_to_parameters(paddle.arange(6, dtype="float32"), net.parameters())
    np.testing.assert_array_equal(net.weight.numpy(), [[0, 1], [2, 3]])
    with pytest.raises(ValueError, match="vec has 5 elements; want 6"):
        nn.utils.vector_to_parameters(paddle.zeros([5]), net.parameters())
    (net(paddle.ones([1, 2])) * 3).sum().backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    assert float(norm) == pytest.approx(54**0.5)
    np.testing.assert_allclose(net.weight.grad.numpy(), np.full((2, 2), 3 / 54**0.5), rtol=1e-5)
    nn.utils.clip_grad_value_(net.parameters(), 0.1)
    assert float(net.weight.grad.max()) == pytest.approx(0.1)


def test_weight_norm_comes_and_goes() -> None:
    net = nn.Linear(3, 2)
    before, x = net.weight.numpy(), paddle.ones([1, 3])
    want = net(x).numpy()
    nn.utils.weight_norm(net)
    np.testing.assert_allclose(net(x).numpy(), want, rtol=1e-5)
    net(x).sum().backward()
    assert net.weight_g.grad is not None and net.weight_v.grad is not None
    with pytest.raises(RuntimeError, match="already"):
        nn.utils.weight_norm(net)
    nn.utils.remove_weight_norm(net)
    np.testing.assert_allclose(net.weight.numpy(), before, rtol=1e-6)
    assert sorted(net.state_dict()) == ["bias", "weight"]


def test_beam_search_gives_what_paddle_gave() -> None:
    """Words, lengths and scores of PaddlePaddle 3.3.1 for parameters that follow from their names."""
    import sys

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
    import layers

    cell, embed, out = nn.GRUCell(4, 5), nn.Embedding(7, 4), nn.Linear(5, 7)
    for layer in (cell, embed, out):
        layers.fill(paddle, layer)
    decoder = nn.BeamSearchDecoder(cell, 0, 1, 3, embed, out)
    h = paddle.to_tensor(layers.drawn("h", [2, 5]))
    words, states, lengths = nn.dynamic_decode(decoder, inits=h, max_step_num=8, return_length=True)
    assert words.shape == [2, 9, 3] and lengths.numpy().tolist() == [[1, 2, 5], [9, 9, 9]]
    assert words.numpy()[0, :5].tolist() == [[1, 2, 2], [1, 1, 2], [1, 1, 2], [1, 1, 2], [1, 1, 1]]
    assert words.numpy()[1, -2:].tolist() == [[5, 0, 0], [0, 3, 5]]
    np.testing.assert_allclose(states.log_probs.numpy()[0], [-0.879, -2.299, -6.8339], atol=1e-4)
    words, _ = nn.dynamic_decode(decoder, inits=h, max_step_num=2, output_time_major=True)
    assert words.shape == [3, 2, 3]
