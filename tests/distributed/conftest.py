"""Two workers in this process, and small tables."""

import numpy as np
import pytest
from cluster_cases import topics


@pytest.fixture(scope="session")
def client():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.Client(processes=False, **options) as client:
        yield client


@pytest.fixture(scope="session")
def rows():
    return topics(600)


@pytest.fixture(scope="session")
def labels(rows):
    found = np.full(len(rows), -1)
    found[[3, 250, 500]] = [0, 1, 2]
    return found
