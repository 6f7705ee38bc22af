"""The registry of families: functions that are methods of Tensor, too.

A family is a module with functions. It ends with a class, whose body is the table of those that are methods (`diag = diag`), and
which is a base of `Families` here: this line is all that makes them methods, for programs, for checkers of types and for `help`. A
family that is forgotten, and a name that two families have, fail in tests/python/test_rooms.py.

No family imports the class Tensor, and Tensor inherits from `Families` alone: a new family is a line here, and no line in `_tensor`.
"""

from __future__ import annotations

from ._arrays._array import ArrayMethods
from ._arrays._made import MadeMethods
from ._arrays._queries import QueryMethods
from ._arrays._shapes import ShapeMethods
from ._arrays._storage import StorageMethods
from ._calls._gradients import GradientMethods
from ._indices._counting import CountingMethods
from ._indices._diagonals import DiagonalMethods
from ._indices._scatter import ScatterMethods
from ._indices._sorting import SortingMethods
from ._maths._arithmetic import ArithmeticMethods
from ._maths._elementwise import ElementwiseMethods
from ._maths._ops import Methods
from ._maths._parts import PartMethods
from ._maths._special import SpecialMethods
from ._matrices._linalg import LinalgMethods
from ._matrices._products import ProductMethods
from ._matrices._statistics import StatisticsMethods
from ._missing import AbsentMethods
from ._randomness._distributions import DistributionMethods
from ._randomness._sampling import SamplingMethods


class Families(
    ArrayMethods,
    MadeMethods,
    QueryMethods,
    ShapeMethods,
    StorageMethods,
    GradientMethods,
    CountingMethods,
    DiagonalMethods,
    ScatterMethods,
    SortingMethods,
    ArithmeticMethods,
    ElementwiseMethods,
    Methods,
    PartMethods,
    SpecialMethods,
    LinalgMethods,
    ProductMethods,
    StatisticsMethods,
    DistributionMethods,
    SamplingMethods,
    AbsentMethods,  # the last: it has every name of Paddle
):
    """The methods of all families."""

    __slots__ = ()
