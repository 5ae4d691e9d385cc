"""Contract tests run for every model of the registry, but for those that the table of exceptions names."""

import pytest
from contract_exceptions import EXCEPTIONS
from contract_models import SUBJECTS

from sparsemix.models.em import engine
from sparsemix.models.online_profiles import priming


def pytest_generate_tests(metafunc):
    if "subject" in metafunc.fixturenames:
        left_out = EXCEPTIONS.get(metafunc.definition.originalname, {})
        kept = [subject for kind, subject in SUBJECTS.items() if kind not in left_out]
        metafunc.parametrize("subject", kept, ids=lambda subject: subject.kind)


@pytest.fixture(autouse=True, scope="module")
def _little_work():
    """Threads share even small blocks of EM, and priming has one start: quality is not what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "ADDITIONS_FOR_THREADS", 0)
        patch.setattr(priming, "MOST_STARTS", 1)
        yield
