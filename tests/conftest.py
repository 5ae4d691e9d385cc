"""What all tests share: the folder of real data, and Hypothesis without deadlines (kernels compile on first call)."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("sparsemix", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("sparsemix")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of the real data sets, which are no part of the project."""
    beside = Path(__file__).parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("SPARSEMIX_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"real data are not at {folder}; set SPARSEMIX_DATA to their folder")
    return folder


@pytest.fixture
def refused(tmp_path):
    """Write a payload and expect that no model comes of it; returns the message."""
    from sparsemix import ModelFileError, load_model
    from sparsemix.persistence import write_payload

    def refuse(payload):
        write_payload(tmp_path / "odd.smx", payload)
        with pytest.raises(ModelFileError, match="cannot read the model file") as caught:
            load_model(tmp_path / "odd.smx")
        return str(caught.value)

    return refuse
