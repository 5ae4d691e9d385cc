"""Results for people: assignments with their certainty, a plain summary of a model, and its page."""

from sparsemix.reporting.assignments import Assignments, assign
from sparsemix.reporting.comparison import Comparison, compare_models
from sparsemix.reporting.render import render_report, write_report
from sparsemix.reporting.summary import SUMMARY_VERSION, summarize_model
from sparsemix.reporting.threads import summarize_threads
from sparsemix.reporting.timeline import render_timeline, write_timeline

__all__ = [
    "SUMMARY_VERSION",
    "Assignments",
    "Comparison",
    "assign",
    "compare_models",
    "render_report",
    "render_timeline",
    "summarize_model",
    "summarize_threads",
    "write_report",
    "write_timeline",
]
