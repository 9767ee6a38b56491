"""What a readout reads of training rows: columns that follow from their initial states, beside their classes.

The Gram matrix of (Z | Y), Y the one-hot, holds all that least squares need. Columns are those of the readout:
innovations before their whitening (`shrunken`), or standardised increments (`ridge`).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..network.activation import Activation
from ..sums.space import DeviceArray, Space
from ..types import Codes


@dataclass(frozen=True)
class Design:
    """(Z | Y) of a block's rows, Y the one-hot, and how far activations move at each iteration; else as `States`.

    `varies` says which columns of Z are known to hold two different values, in these rows or in others.
    """

    ZY: DeviceArray
    changes: DeviceArray
    codes: Codes
    weight: DeviceArray
    unit: DeviceArray
    n_classes: int
    even: bool
    varies: NDArray[np.bool_] | None = None

    @property
    def Z(self) -> DeviceArray:  # noqa: N802
        """Z alone."""
        return self.ZY[:, : self.ZY.shape[1] - self.n_classes]

    @property
    def Y(self) -> DeviceArray:  # noqa: N802
        """Y alone."""
        return self.ZY[:, self.ZY.shape[1] - self.n_classes :]

    def target(self, space: Space, activation: Activation) -> DeviceArray:
        """Return f⁻¹ of the one-hot, an affine map of it."""
        zero, one = activation.ends
        return zero + (one - zero) * space.one_hot(self.codes, self.n_classes)

    def alone(self, space: Space, mass: DeviceArray) -> DeviceArray:
        """Say which rows are alone in their class, given the weight of each: nothing judges them from outside."""
        return space.take(mass, self.codes) <= self.unit

    def __getitem__(self, part: slice) -> Self:
        """Return some consecutive rows."""
        arrays = (self.codes[part], self.weight[part], self.unit[part])
        return type(self)(self.ZY[part, :], self.changes, *arrays, self.n_classes, self.even, self.varies)
