"""What is fuzzed: each target takes any bytes, and only the errors that are meant for users may come out."""

import tempfile
import warnings
from pathlib import Path

import numpy as np

from sparsemix import load_model
from sparsemix.data import iter_batches, read_table
from sparsemix.foundation.errors import SparsemixError
from sparsemix.persistence import reader

FORMATS = ["csv", "tsv", "jsonl", "svmlight", "dat", "mtx", "npz", "parquet", "csv.gz", "jsonl.gz", "dat.gz"]
QUESTIONS = ["predict", "predict_proba", "score_samples"]


class _EveryDigest:
    """Equal to the checksum of any file, so that what it does not protect from is reached."""

    def __ne__(self, other):
        return False

    __hash__ = None


def _in_file(content, suffix, use):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        path = Path(folder) / f"input.{suffix}"
        path.write_bytes(content)
        message = "none"
        try:
            use(path)
        except SparsemixError as error:
            message = str(error)
        assert message
        assert "\n" not in message


def model_file(content):
    """A model file as it comes from anybody."""
    _in_file(content, "smx", load_model)


def sealed_model_file(content):
    """A model file with the right checksum, whatever is in it: made by hand to do harm; a model that loads answers."""

    def use(path):
        digest, reader.file_digest = reader.file_digest, lambda *_: _EveryDigest()
        try:
            model = load_model(path, mmap=False)
        finally:
            reader.file_digest = digest
        model.to_payload()
        n_features = getattr(model, "n_features_in_", 0)
        times = {"times": [1e12]} if hasattr(model, "concentration_") else {}
        for question in QUESTIONS:
            if hasattr(model, question) and 0 < n_features < 1_000:
                getattr(model, question)(np.zeros((1, n_features)), **times)

    _in_file(content, "smx", use)


def table_file(content):
    """A table of any format, told by the first byte; the second says how it is read."""
    if len(content) < 2:
        return
    suffix, how = FORMATS[content[0] % len(FORMATS)], content[1]
    options = {"row": "ad", "feature": "word"} if how & 1 else {}
    if how & 2:
        options["count"] = "n"
    if how & 4 and suffix in {"csv", "tsv", "csv.gz"}:
        options["delimiter"] = ";"

    def use(path):
        read_table(path, **options)

    def stream(path):
        for batch in iter_batches(path, rows=3, **options):
            assert len(batch)

    _in_file(content[2:], suffix, stream if how & 8 else use)


TARGETS = {target.__name__: target for target in (model_file, sealed_model_file, table_file)}
