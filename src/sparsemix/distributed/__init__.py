"""Learning and prediction on several processes or machines, by Dask: it schedules the engines' own functions."""

from sparsemix.distributed.answers import answers, predict, predict_proba
from sparsemix.distributed.learning import fit
from sparsemix.distributed.run import Join, Run

__all__ = ["Join", "Run", "answers", "fit", "predict", "predict_proba"]
