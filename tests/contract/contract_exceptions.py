"""Which model a contract test is not for, and why: one table for all of them."""

from typing import NamedTuple


class Lacks(NamedTuple):
    """A model has no method of that name, or the method has no such option; `__init__` for a parameter."""

    method: str
    option: str = ""


def _all_lack(kinds: tuple[str, ...], method: str, option: str = "") -> dict[str, Lacks]:
    return dict.fromkeys(kinds, Lacks(method, option))


ONLINE, WORDS, KEYWORDS = "online-bernoulli-mixture", "multinomial-mixture", "bernoulli-mixture"
HASHED, TABLE = "hashed-gibbs-mixture", "uncollapsed-gibbs-mixture"
TIMES, STREAM = "time-sensitive-mixture", "streaming-time-sensitive-mixture"
FACTORS, RATES, NMF = "gamma-poisson-factors", "click-rate-model", "bayesian-nmf"
ALL = (ONLINE, WORDS, KEYWORDS, HASHED, TABLE, TIMES, STREAM, FACTORS, RATES, NMF)

OF_EVENTS = {RATES: "it learns a table of events, which is no matrix of rows and features"}
OF_PAIRS = {NMF: "it answers about pairs of a row and a feature that it has learnt, not about new rows"}
NO_CLUSTERS = dict.fromkeys((FACTORS, RATES, NMF), "it has factors or rates, not clusters")
NO_NUMBER = dict.fromkeys((TIMES, STREAM), "it finds the number of its clusters")
OF_COUNTS = dict.fromkeys(
    (WORDS, HASHED, TABLE, TIMES, STREAM, FACTORS, NMF), "it learns counts, and any count is one"
)
NO_PARTIAL_FIT = _all_lack((WORDS, KEYWORDS, TABLE, TIMES, RATES, NMF), "partial_fit")
NOT_EM = (ONLINE, HASHED, TABLE, TIMES, STREAM, FACTORS, RATES, NMF)
SAMPLERS = (HASHED, TABLE, TIMES)

EXCEPTIONS: dict[str, dict[str, str | Lacks]] = {
    # forms
    "test_rows_of_every_form_are_the_same": OF_EVENTS,
    "test_truth_values_are_zeros_and_ones": OF_EVENTS,
    "test_arrays_that_cannot_be_written": OF_EVENTS,
    "test_the_input_is_not_changed_and_not_kept": OF_EVENTS,
    # tables
    "test_odd_tables": OF_EVENTS,
    "test_rows_without_anything": OF_EVENTS
    | {NMF: "its rates need a count above zero; its own tests hold that"},
    "test_one_component": OF_EVENTS | NO_NUMBER,
    "test_no_rows_have_no_score": _all_lack((RATES, NMF), "score"),
    "test_no_columns": OF_EVENTS,
    "test_long_rows_stay_with_their_like": NO_CLUSTERS,
    # columns
    "test_columns_of_every_frame_are_matched_by_name": OF_EVENTS,
    "test_new_rows_with_reordered_columns_are_learnt_by_name": NO_PARTIAL_FIT,
    "test_missing_columns_are_zero": OF_EVENTS | OF_PAIRS,
    "test_new_columns_are_not_looked_at": OF_EVENTS
    | OF_PAIRS
    | {ONLINE: "a feature that it has not met has the small probability that its clusters give to such"},
    "test_numbered_columns_go_by_their_place": OF_EVENTS | OF_PAIRS,
    "test_another_number_of_columns": OF_EVENTS | OF_PAIRS,
    "test_more_rows_with_another_number_of_columns": NO_PARTIAL_FIT,
    "test_a_name_that_stands_twice": OF_EVENTS,
    "test_a_table_of_which_no_column_is_known": OF_EVENTS | OF_PAIRS,
    "test_rows_with_nothing_that_the_model_knows_are_told": _all_lack((RATES, NMF), "unknown_rows"),
    # state
    "test_a_row_is_answered_alike_in_any_company": OF_PAIRS,
    "test_the_score_is_the_mean_of_the_rows": _all_lack((RATES, NMF), "score"),
    "test_threads_change_no_bit": _all_lack((STREAM, NMF), "__init__", "n_jobs"),
    "test_names_of_a_file_that_do_not_fit": OF_EVENTS,
    "test_nothing_grows_over_a_thousand_rounds": {
        FACTORS: "it has factors for each user that it has learnt, and grows with them"
    },
    # scikit-learn
    "test_pipelines": _all_lack((RATES, NMF), "score"),
    "test_a_search_goes_by_the_score": _all_lack((RATES, NMF), "score"),
    "test_named_outputs": _all_lack(tuple(kind for kind in ALL if kind != FACTORS), "transform"),
    "test_scikit_learns_own_checks": OF_EVENTS,
    # learning
    "test_a_weight_of_two_is_the_row_twice": _all_lack(NOT_EM, "fit", "sample_weight"),
    "test_known_clusters_may_have_other_numbers": dict.fromkeys(
        (*SAMPLERS, STREAM), "it takes no labels, only clusters to start from"
    )
    | NO_CLUSTERS,
    "test_clusters_to_start_from_may_have_other_numbers": {
        WORDS: "it starts from responsibilities, not from labels",
        KEYWORDS: "it starts from responsibilities, not from labels",
        TABLE: "it starts at random or from labels that its first sweep draws anew",
    }
    | _all_lack((ONLINE, STREAM, FACTORS, RATES, NMF), "__init__", "init"),
    "test_labels_are_those_of_the_final_state": NO_CLUSTERS,
    "test_values_outside_the_family_are_named": OF_EVENTS,
    "test_presence_is_zero_or_one": OF_COUNTS | OF_EVENTS,
    "test_damaged_sparse_rows_are_refused": OF_EVENTS,
    # numbers
    "test_weights_at_the_edge": _all_lack(NOT_EM, "fit", "sample_weight"),
    "test_a_thousand_million_rows_by_weight": _all_lack(NOT_EM, "fit", "sample_weight"),
    # faults of other libraries
    "test_chains_stay_finite_over_hundreds_of_sweeps": OF_EVENTS
    | _all_lack((ONLINE, WORDS, KEYWORDS, STREAM), "__init__", "n_sweeps"),
    "test_one_word_very_often": OF_EVENTS
    | dict.fromkeys((ONLINE, KEYWORDS), "a word is there or not, however often"),
    "test_probabilities_sum_to_one_to_the_last_digits": OF_EVENTS
    | {NMF: "its factors are no probabilities and need not sum to one"},
    "test_an_entry_that_is_stored_thirty_times": OF_EVENTS,
    "test_variables_with_different_numbers_of_levels": OF_EVENTS,
    "test_there_is_no_number_for_all_or_none": _all_lack((FACTORS, RATES, NMF), "top_features"),
    "test_rows_that_lack_columns_have_an_answer": OF_EVENTS | OF_PAIRS,
    "test_wide_sparse_rows_are_not_made_dense": OF_EVENTS,
}

# scikit-learn's own checks: changes to the model, and the checks that it is not expected to pass.
RECORDS = {"check_dtype_object": "the check wants other words for a value that is no number"}
CLASSIFIERS = dict.fromkeys(
    ("check_estimator_sparse_array", "check_estimator_sparse_matrix"),
    "the check takes whatever has predict_proba for a classifier",
)
KNOWN_LABELS = dict.fromkeys(
    (
        "check_dont_overwrite_parameters", "check_fit2d_1feature", "check_fit2d_predict1d",
        "check_methods_sample_order_invariance", "check_methods_subset_invariance",
    ),
    "y holds known components, below n_components; the check passes classes",
)  # fmt: skip
ONE_ROW = {"check_fit2d_1sample": "y holds known components, below n_components; the check passes classes"}
NEGATIVE = {"check_clustering": "the check's rows are standardised, so that some are negative"}
OF_PRESENCE = {"family": "bernoulli", "binarize": 0.0}
MORE_SWEEPS = {"n_components": 3, "n_sweeps": 10, "burn_in": 4, "thin": 1}
OWN_CHECKS: dict[str, tuple[dict[str, object], dict[str, str]]] = {
    ONLINE: ({"binarize": 0.0, "priming_rows": "auto"}, RECORDS | CLASSIFIERS | KNOWN_LABELS | ONE_ROW),
    WORDS: ({}, RECORDS | CLASSIFIERS | KNOWN_LABELS | NEGATIVE),
    KEYWORDS: ({"binarize": 0.0}, RECORDS | CLASSIFIERS | KNOWN_LABELS | ONE_ROW),
    HASHED: (OF_PRESENCE | MORE_SWEEPS, RECORDS | CLASSIFIERS),
    TABLE: (OF_PRESENCE | MORE_SWEEPS, RECORDS | CLASSIFIERS),
    TIMES: (OF_PRESENCE, RECORDS | CLASSIFIERS),
    STREAM: (OF_PRESENCE, RECORDS | CLASSIFIERS),
    FACTORS: ({}, RECORDS),
    NMF: ({}, RECORDS),
}
