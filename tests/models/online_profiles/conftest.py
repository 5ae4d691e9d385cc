import pytest

from sparsemix.models.online_profiles import priming


@pytest.fixture(autouse=True, scope="module")
def few_starts(request):
    """One start of the priming is enough where quality is not what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        if request.module.__name__ != "test_recovery":
            patch.setattr(priming, "MOST_STARTS", 1)
        yield
