"""Spaces, to compare a device with numpy."""

import pytest

from tests.core.problems import SPACES, STRICT


@pytest.fixture(params=SPACES, ids=lambda space: space.library)
def space(request):
    return request.param


@pytest.fixture
def device():
    return STRICT
