import pandas as pd
import pytest
from profile_cases import NAMES, new_model, topic_rows

from sparsemix.models.online_profiles import priming


@pytest.fixture(autouse=True, scope="module")
def few_starts(request):
    """One start of the priming is enough where quality is not what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        if request.module.__name__ != "test_recovery":
            patch.setattr(priming, "MOST_STARTS", 1)
        yield


@pytest.fixture(scope="module")
def rows():
    return topic_rows(120, 2, 8)[0].astype(int)


@pytest.fixture(scope="module")
def fitted(rows):
    return new_model().fit(rows)


@pytest.fixture(scope="module")
def named(rows):
    return new_model().fit(pd.DataFrame(rows, columns=NAMES))
