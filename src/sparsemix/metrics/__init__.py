"""Scores of clusters and suggestions: plain functions of labels, responsibilities and lists."""

from sparsemix.metrics.agreement import adjusted_rand, normalized_mutual_information, variation_of_information
from sparsemix.metrics.groups import advertiser_entropy
from sparsemix.metrics.pairs import PairRates, PairRoc, pair_rates, pair_roc
from sparsemix.metrics.ranking import recall_at

__all__ = [
    "PairRates",
    "PairRoc",
    "adjusted_rand",
    "advertiser_entropy",
    "normalized_mutual_information",
    "pair_rates",
    "pair_roc",
    "recall_at",
    "variation_of_information",
]
