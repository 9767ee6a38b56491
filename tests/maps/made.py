"""Maps that hypothesis makes, for the tests of this room."""

import string

import numpy as np
from hypothesis import strategies as st

from cogmap import CognitiveMap
from cogmap.maps.cognitive_map import ACTIVATIONS, RULES

names = st.text(string.ascii_letters + string.digits + " ,;\"'<>&äß漢🙂=_-\t\n→|", min_size=1, max_size=8).filter(
    lambda name: name.strip() == name and name != "bias"
)
numbers = st.one_of(st.just(0.0), st.floats(-1e6, 1e6), st.sampled_from([1e-300, -0.1, 1 / 3, 1e17]))


@st.composite
def maps(draw, reasoning=True):
    own = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    M = len(own)
    weights = np.array(draw(st.lists(numbers, min_size=M * M, max_size=M * M))).reshape(M, M)
    bias = draw(st.one_of(st.none(), st.lists(numbers, min_size=M, max_size=M)))
    known = {}
    if reasoning:
        known = {
            "rule": draw(st.sampled_from([None, *RULES])),
            "activation": draw(st.sampled_from([None, *ACTIVATIONS])),
            "phi": draw(st.none() | st.floats(0, 1)),
            "slope": draw(st.none() | st.floats(1e-3, 1e3)),
        }
    return CognitiveMap(own, weights, bias, **known)
