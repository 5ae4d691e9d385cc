"""What every mixture answers in the same form: suggestions, and summaries of its components."""

from sparsemix.answers.dialogue import KeywordSuggester
from sparsemix.answers.suggestions import Suggestion
from sparsemix.answers.summaries import ComponentSummary, FeatureSummary

__all__ = ["ComponentSummary", "FeatureSummary", "KeywordSuggester", "Suggestion"]
