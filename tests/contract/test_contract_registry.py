"""The contract covers every model; its exceptions are what they say; names are spelled alike everywhere."""

import ast
import inspect
from pathlib import Path

import pytest
from contract_exceptions import EXCEPTIONS, Lacks
from contract_models import SUBJECTS

import sparsemix
from sparsemix.registry import model_class, model_kinds


def test_every_model_of_the_registry_is_under_contract():
    assert set(SUBJECTS) == set(model_kinds())


def test_every_public_estimator_is_in_the_registry():
    public = {
        name
        for name in sparsemix.__all__
        if inspect.isclass(found := getattr(sparsemix, name)) and hasattr(found, "get_params")
    }
    assert public == {model_class(kind).__name__ for kind in model_kinds()}


def test_exceptions_are_of_tests_and_models_that_there_are():
    tests = {
        node.name
        for path in Path(__file__).parent.glob("test_*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    assert set(EXCEPTIONS) <= tests
    for left_out in EXCEPTIONS.values():
        assert set(left_out) < set(SUBJECTS)


@pytest.mark.parametrize("test", EXCEPTIONS)
def test_what_a_model_is_said_to_lack_it_lacks(test):
    """So that a model which learns to do something new comes under the contract."""
    for kind, reason in EXCEPTIONS[test].items():
        if isinstance(reason, Lacks):
            method = getattr(model_class(kind), reason.method, None)
            assert method is None or (
                reason.option and reason.option not in inspect.signature(method).parameters
            ), f"{kind} has {reason.method} {reason.option}: take it out of the exceptions of {test}"
        else:
            assert len(reason) > 20


SHARED_PARAMETERS = {
    "n_components": "clusters, or factors",
    "random_state": "seed",
    "n_jobs": "threads",
    "verbose": "lines of progress",
    "warm_start": "go on from the last fit",
    "init": "where learning starts",
    "n_init": "starts, of which the best stays",
    "max_iter": "the most sweeps of an EM-like loop",
    "tol": "when such a loop stops",
    "n_sweeps": "sweeps of a sampler",
    "burn_in": "sweeps before the first draw",
    "thin": "sweeps from draw to draw",
    "n_chains": "chains of a sampler",
    "weight_concentration": "Dirichlet pseudo-count per component",
    "concentration": "of a Dirichlet process",
    "prior_mean": "mean of the prior of a feature",
    "prior_strength": "total pseudo-count of that prior",
    "smoothing": "pseudo-count",
    "binarize": "above which value a feature is present",
    "family": "distribution of the rows",
    "algorithm": "which loop climbs",
    "solver": "how factors are found",
    "shape": "of a Gamma prior",
    "rate": "of a Gamma prior",
    "feature_concentration": "Dirichlet pseudo-count of features in a factor",
    "time_kernel": "how a row fades",
    "decay_rate": "how fast",
    "half_life": "the same in other words",
    "negligible": "share of a new cluster's weight that is next to nothing",
    "accelerate": "EM in leaps",
    "class_weight_prior": "pseudo-count of a component",
    "seed_words": "words that are known to go with a component",
    "seed_weight": "how much they count",
    "unlabeled_weight": "how much unlabelled rows count",
}
OTHER_WORDS = {
    "n_components": {"n_clusters", "k", "K", "n_topics", "n_factors", "n_classes", "rank"},
    "random_state": {"seed", "rng", "random_seed"},
    "n_jobs": {"n_threads", "threads", "n_cores", "n_workers"},
    "verbose": {"verbosity", "progress", "quiet"},
    "max_iter": {"n_iter", "n_iterations", "max_epochs", "n_epochs", "epochs"},
    "tol": {"tolerance", "eps", "epsilon"},
    "n_sweeps": {"n_samples", "n_draws", "sweeps"},
    "burn_in": {"warmup", "n_burn_in", "discard"},
    "thin": {"thinning"},
    "n_init": {"n_starts", "n_restarts", "restarts"},
    "n_chains": {"chains"},
    "weight_concentration": {"alpha", "gamma", "weight_prior"},
    "concentration": {"dp_concentration", "alpha_"},
    "smoothing": {"beta", "pseudo_count", "laplace"},
    "binarize": {"threshold"},
    "decay_rate": {"lambda_", "decay"},
    "shape": {"a", "alphas"},
    "rate": {"b", "scale", "betas"},
}
SHARED_ATTRIBUTES = {
    "weights_": {"weight_", "mixing_weights_", "priors_"},
    "labels_": {"assignments_", "clusters_"},
    "component_ids_": {"cluster_ids_", "ids_"},
    "n_features_in_": {"n_features_"},
    "draws_": {"samples_", "chain_"},
    "user_factors_": {"W_"},
    "feature_factors_": {"H_", "components_"},
    "n_rows_seen_": {"n_samples_seen_", "n_seen_"},
}


def test_parameters_of_several_models_are_spelled_alike():
    """A name that two models have means the same in both, and stands in the table; nothing else means that."""
    owners: dict[str, list[str]] = {}
    for kind, subject in SUBJECTS.items():
        for name in subject.new().get_params():
            owners.setdefault(name, []).append(kind)
    assert {name for name, kinds in owners.items() if len(kinds) > 1} == set(SHARED_PARAMETERS)
    assert set(OTHER_WORDS) <= set(SHARED_PARAMETERS)
    assert set(owners) & set().union(*OTHER_WORDS.values()) == set()


def test_attributes_of_several_models_are_spelled_alike():
    others = set().union(*SHARED_ATTRIBUTES.values())
    for subject in SUBJECTS.values():
        known = {name for name in {*dir(type(subject.new())), *vars(subject.fitted())} if name.endswith("_")}
        assert known.isdisjoint(others), subject.kind
    for name in SHARED_ATTRIBUTES:
        assert any(hasattr(subject.fitted(), name) for subject in SUBJECTS.values()), name


def test_only_rows_come_before_the_options_of_questions():
    """X first, then y, and all options by name."""
    for kind in SUBJECTS:
        model = model_class(kind)
        for name in (
            "fit",
            "partial_fit",
            "fit_predict",
            "predict_proba",
            "score_samples",
            "score",
            "transform",
        ):
            if hasattr(model, name):
                first, *others = list(inspect.signature(getattr(model, name)).parameters.values())[1:]
                assert first.name in {"X", "events"}, (kind, name)
                positional = [each.name for each in others if each.kind is each.POSITIONAL_OR_KEYWORD]
                assert positional in ([], ["y"]), (kind, name)
