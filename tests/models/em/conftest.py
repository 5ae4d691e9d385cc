"""What the tests of EM's estimators share: both families, their rows, and a fitted model."""

import copy

import pandas as pd
import pytest
from mixture_cases import LETTERS, MIXTURES, new_model, table_of

from sparsemix.models.em import engine


@pytest.fixture(scope="session", autouse=True)
def _threads_for_little_work():
    """Threads share even small blocks, so that tests of threads need no large ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "ADDITIONS_FOR_THREADS", 0)
        yield


@pytest.fixture(params=sorted(MIXTURES))
def name(request):
    """The family."""
    return request.param


@pytest.fixture
def rows(name):
    """Rows of three topics, (60, 9)."""
    return table_of(name)[0]


@pytest.fixture
def topics(name):
    """The topic of each row."""
    return table_of(name)[1]


@pytest.fixture(scope="session")
def fitted_models():
    """A model of each family, of numbered and of named features."""
    found = {}
    for name in MIXTURES:
        dense = table_of(name)[0]
        found[name, "numbered"] = new_model(name).fit(dense)
        found[name, "named"] = new_model(name).fit(pd.DataFrame(dense, columns=LETTERS))
    return found


@pytest.fixture
def fitted(fitted_models, name):
    """A fitted model that the test may spoil."""
    return copy.deepcopy(fitted_models[name, "numbered"])


@pytest.fixture
def named(fitted_models, name):
    """The same with named features."""
    return copy.deepcopy(fitted_models[name, "named"])
