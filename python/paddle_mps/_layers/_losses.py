"""Losses as layers, which are called with what the function of the same name takes first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable

from .._functional import _all as F
from ._function import FunctionLayer

if TYPE_CHECKING:
    from .._tensor import Tensor


class _Loss(FunctionLayer):
    """A loss; `repr` says none of its arguments, as in Paddle."""

    _shown, _says_name = (), False


class BCELoss(_Loss):
    """See `paddle.nn.functional.binary_cross_entropy`."""

    function = staticmethod(F.binary_cross_entropy)

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None) -> None:
        self._keep(name, weight=weight, reduction=reduction)


class BCEWithLogitsLoss(_Loss):
    """See `paddle.nn.functional.binary_cross_entropy_with_logits`."""

    function = staticmethod(F.binary_cross_entropy_with_logits)

    def __init__(
        self,
        weight: Tensor | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
        name: str | None = None,
    ) -> None:
        self._keep(name, weight=weight, reduction=reduction, pos_weight=pos_weight)


class CTCLoss(_Loss):
    """See `paddle.nn.functional.ctc_loss`."""

    function = staticmethod(F.ctc_loss)

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        self._keep(blank=blank, reduction=reduction, zero_infinity=zero_infinity)


class CosineEmbeddingLoss(_Loss):
    """See `paddle.nn.functional.cosine_embedding_loss`."""

    function = staticmethod(F.cosine_embedding_loss)

    def __init__(self, margin: float = 0, reduction: str = "mean", name: str | None = None) -> None:
        self._keep(name, margin=margin, reduction=reduction)


class CrossEntropyLoss(_Loss):
    """See `paddle.nn.functional.cross_entropy`."""

    function = staticmethod(F.cross_entropy)

    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        soft_label: bool = False,
        axis: int = -1,
        use_softmax: bool = True,
        label_smoothing: float = 0.0,
        name: str | None = None,
    ) -> None:
        self._keep(
            name,
            weight=weight,
            ignore_index=ignore_index,
            reduction=reduction,
            soft_label=soft_label,
            axis=axis,
            use_softmax=use_softmax,
            label_smoothing=label_smoothing,
        )


class GaussianNLLLoss(_Loss):
    """See `paddle.nn.functional.gaussian_nll_loss`."""

    function = staticmethod(F.gaussian_nll_loss)

    def __init__(
        self, full: bool = False, epsilon: float = 1e-6, reduction: str = "mean", name: str | None = None
    ) -> None:
        self._keep(name, full=full, epsilon=epsilon, reduction=reduction)


class HingeEmbeddingLoss(_Loss):
    """See `paddle.nn.functional.hinge_embedding_loss`."""

    function = staticmethod(F.hinge_embedding_loss)

    def __init__(self, margin: float = 1.0, reduction: str = "mean", name: str | None = None) -> None:
        self._keep(name, margin=margin, reduction=reduction)


class KLDivLoss(_Loss):
    """See `paddle.nn.functional.kl_div`."""

    function = staticmethod(F.kl_div)

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        self._keep(reduction=reduction, log_target=log_target)


class L1Loss(_Loss):
    """See `paddle.nn.functional.l1_loss`."""

    function = staticmethod(F.l1_loss)

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        self._keep(name, reduction=reduction)


class MSELoss(_Loss):
    """See `paddle.nn.functional.mse_loss`."""

    function = staticmethod(F.mse_loss)

    def __init__(self, reduction: str = "mean") -> None:
        self._keep(reduction=reduction)


class MarginRankingLoss(_Loss):
    """See `paddle.nn.functional.margin_ranking_loss`."""

    function = staticmethod(F.margin_ranking_loss)

    def __init__(self, margin: float = 0.0, reduction: str = "mean", name: str | None = None) -> None:
        self._keep(name, margin=margin, reduction=reduction)


class MultiLabelMarginLoss(_Loss):
    """See `paddle.nn.functional.multi_label_margin_loss`."""

    function = staticmethod(F.multi_label_margin_loss)

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        self._keep(name, reduction=reduction)


class MultiLabelSoftMarginLoss(_Loss):
    """See `paddle.nn.functional.multi_label_soft_margin_loss`."""

    function = staticmethod(F.multi_label_soft_margin_loss)

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None) -> None:
        self._keep(name, weight=weight, reduction=reduction)


class MultiMarginLoss(_Loss):
    """See `paddle.nn.functional.multi_margin_loss`."""

    function = staticmethod(F.multi_margin_loss)

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        self._keep(name, p=p, margin=margin, weight=weight, reduction=reduction)


class NLLLoss(_Loss):
    """See `paddle.nn.functional.nll_loss`."""

    function = staticmethod(F.nll_loss)

    def __init__(
        self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean", name: str | None = None
    ) -> None:
        self._keep(name, weight=weight, ignore_index=ignore_index, reduction=reduction)


class PoissonNLLLoss(_Loss):
    """See `paddle.nn.functional.poisson_nll_loss`."""

    function = staticmethod(F.poisson_nll_loss)

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        epsilon: float = 1e-8,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        self._keep(name, log_input=log_input, full=full, epsilon=epsilon, reduction=reduction)


class RNNTLoss(_Loss):
    """See `paddle.nn.functional.rnnt_loss`."""

    function = staticmethod(F.rnnt_loss)

    def __init__(
        self, blank: int = 0, fastemit_lambda: float = 0.001, reduction: str = "mean", name: str | None = None
    ) -> None:
        self._keep(name, blank=blank, fastemit_lambda=fastemit_lambda, reduction=reduction)


class SmoothL1Loss(_Loss):
    """See `paddle.nn.functional.smooth_l1_loss`."""

    function = staticmethod(F.smooth_l1_loss)

    def __init__(
        self, reduction: str = "mean", delta: float = 1.0, is_huber: bool = True, name: str | None = None
    ) -> None:
        self._keep(name, reduction=reduction, delta=delta, is_huber=is_huber)


class SoftMarginLoss(_Loss):
    """See `paddle.nn.functional.soft_margin_loss`."""

    function = staticmethod(F.soft_margin_loss)

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        self._keep(name, reduction=reduction)


class TripletMarginLoss(_Loss):
    """See `paddle.nn.functional.triplet_margin_loss`."""

    function = staticmethod(F.triplet_margin_loss)

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        epsilon: float = 1e-6,
        swap: bool = False,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        self._keep(name, margin=margin, p=p, epsilon=epsilon, swap=swap, reduction=reduction)


class TripletMarginWithDistanceLoss(_Loss):
    """See `paddle.nn.functional.triplet_margin_with_distance_loss`."""

    function = staticmethod(F.triplet_margin_with_distance_loss)

    def __init__(
        self,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        self._keep(name, distance_function=distance_function, margin=margin, swap=swap, reduction=reduction)


__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "PoissonNLLLoss",
    "RNNTLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]
