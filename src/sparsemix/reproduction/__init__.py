"""Experiments of the published papers, run anew: tables as CSV, figures as pages to open in a browser.

Each paper is a module of its own with a function that yields tables, curves and panels (`results`); `drawing` draws
them, `pages` writes them.
"""

from sparsemix.reproduction.pages import check_plotly, write_result
from sparsemix.reproduction.papers import PAPERS, Wish, results_of
from sparsemix.reproduction.results import Curves, Panels, Result, Table

__all__ = [
    "PAPERS",
    "Curves",
    "Panels",
    "Result",
    "Table",
    "Wish",
    "check_plotly",
    "results_of",
    "write_result",
]
