"""Experiments of the published papers, run anew: tables as CSV, figures as pages to open in a browser.

Each paper is a module of its own with a function that yields `results.Table` and `results.Curves`; `pages` draws them.
"""

from sparsemix.reproduction.pages import check_plotly, write_result
from sparsemix.reproduction.papers import PAPERS, Wish, results_of
from sparsemix.reproduction.results import Curves, Result, Table

__all__ = [
    "PAPERS",
    "Curves",
    "Result",
    "Table",
    "Wish",
    "check_plotly",
    "results_of",
    "write_result",
]
