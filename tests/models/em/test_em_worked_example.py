"""The worked example of the chapter (TEXT, sections 3.2 and 3.3), by the engine and to the printed digits.

Four documents, six words. Tables of probabilities list class 1 before class 2 and the words in alphabetical order.
"""

import numpy as np
import pytest
from em_cases import FLAT, rows_of
from numpy.testing import assert_allclose, assert_array_equal

from sparsemix.models.em import engine
from sparsemix.models.em.families import FAMILIES
from sparsemix.models.em.state import Statistics

WORDS = ["america", "award", "canada", "enron", "notification", "payment"]
DOCUMENTS = [  # section 3.2, the list before the first table
    "award notification",
    "enron canada",
    "enron america",
    "award payment",
]
DENSE = np.array([[float(word in document.split()) for word in WORDS] for document in DOCUMENTS])
MULTINOMIAL = FAMILIES["multinomial"]

# Section 3.2, "Initialize the model randomly": p(w | k) in tenths, p(k) = 0.5. Whole numbers, so that the tie of the
# last document is one to the last bit.
TENTHS = np.array([[1.0, 1.0, 1.0, 2.0, 4.0, 1.0], [2.0, 1.0, 2.0, 2.0, 2.0, 1.0]])
START = MULTINOMIAL.maximize(Statistics(np.full(2, 0.5), np.ascontiguousarray(TENTHS.T)), FLAT)

# Sections 3.2 and 3.3, first tables: P(1, d) and P(2, d) at the start.
FIRST_JOINT = [[0.02, 0.01], [0.01, 0.02], [0.01, 0.02], [0.005, 0.005]]
# Section 3.2, first table: k*, with "1 (arbitrary)" for the last document.
FIRST_CHOICE = [1, 2, 2, 1]

# Section 3.2, "Retrain the model" after the tie went to class 1.
TIE_TO_1 = [[0.0, 0.5, 0.0, 0.0, 0.25, 0.25], [0.25, 0.0, 0.25, 0.5, 0.0, 0.0]]
TIE_TO_1_WEIGHTS = [0.5, 0.5]
# Section 3.2, second table: P(1, d), P(2, d), k*.
TIE_TO_1_JOINT = [[0.0625, 0.0], [0.0, 0.0625], [0.0, 0.0625], [0.0625, 0.0]]
TIE_TO_1_CHOICE = [1, 2, 2, 1]

# Section 3.2, "what if we had broken that tie in the other direction? Retrain the model".
TIE_TO_2 = [[0.0, 0.5, 0.0, 0.0, 0.5, 0.0], [0.167, 0.167, 0.167, 0.333, 0.0, 0.167]]
TIE_TO_2_WEIGHTS = [0.25, 0.75]
# Section 3.2, last table. Its first entry is printed as 0.0625: 0.25 x 0.5 x 0.5.
TIE_TO_2_JOINT = [[0.0625, 0.0], [0.0, 0.0417], [0.0, 0.0417], [0.0, 0.0208]]
TIE_TO_2_CHOICE = [1, 2, 2, 2]

# Section 3.3, first table: P(1 | d), P(2 | d).
SOFT = [[0.667, 0.333], [0.333, 0.667], [0.333, 0.667], [0.5, 0.5]]
# Section 3.3, "Retrain the model" after the soft E step.
SOFT_WEIGHTS = [0.458, 0.542]
SOFT_1 = {
    "america": 0.0909, "award": 0.318, "canada": 0.0909, "enron": 0.182, "notification": 0.182, "payment": 0.136
}  # fmt: skip
SOFT_2 = {  # "notification" is printed as 0.0768; its fraction, 1/13, is 0.0769: the chapter went on with 0.333
    "america": 0.154, "award": 0.192, "canada": 0.154, "enron": 0.308, "notification": 0.0769, "payment": 0.115
}  # fmt: skip

THREE, FOUR = 5e-4, 5e-5  # half a unit of the last printed digit


def joint(parameters):
    """P(k, d) of each document, from what the engine says: evidence of the document when its class is known."""
    known = [rows_of(DENSE, labels=np.full(4, k)) for k in range(2)]
    return np.exp([engine.responsibilities_of(rows, parameters)[1] for rows in known]).T


def retrained(responsibilities):
    statistics = Statistics.zeros(2, 6)
    engine.add_expected(statistics, rows_of(DENSE), np.asarray(responsibilities, float))
    return MULTINOMIAL.maximize(statistics, FLAT)


def choice(parameters):
    """The class of each document, numbered from 1 as in the chapter."""
    return engine.assignments([rows_of(DENSE)], parameters) + 1


def test_the_start():
    assert_allclose(np.exp(START.log_weights), 0.5)
    assert_allclose(MULTINOMIAL.profiles(START), TENTHS / 10)
    assert_allclose(joint(START), FIRST_JOINT)


def test_hard_em_breaks_the_tie_for_the_first_class():
    responsibilities, _ = engine.responsibilities_of(rows_of(DENSE), START, is_hard=True)
    assert_array_equal(responsibilities.argmax(axis=1) + 1, FIRST_CHOICE)
    assert_array_equal(np.sort(responsibilities), [[0.0, 1.0]] * 4)
    assert_array_equal(choice(START), FIRST_CHOICE)


def test_hard_em_with_the_tie_to_class_1():
    parameters = MULTINOMIAL.maximize(engine.summarize([rows_of(DENSE)], START, is_hard=True), FLAT)
    assert_allclose(np.exp(parameters.log_weights), TIE_TO_1_WEIGHTS)
    assert_allclose(MULTINOMIAL.profiles(parameters), TIE_TO_1, rtol=1e-12)
    assert_allclose(joint(parameters), TIE_TO_1_JOINT, rtol=1e-12)
    assert_array_equal(choice(parameters), TIE_TO_1_CHOICE)


def test_hard_em_with_the_tie_to_class_2():
    parameters = retrained(np.eye(2)[[0, 1, 1, 1]])
    assert_allclose(np.exp(parameters.log_weights), TIE_TO_2_WEIGHTS)
    assert_allclose(MULTINOMIAL.profiles(parameters), TIE_TO_2, atol=THREE)
    assert_allclose(joint(parameters), TIE_TO_2_JOINT, atol=FOUR)
    assert_array_equal(choice(parameters), TIE_TO_2_CHOICE)


def test_a_label_turns_the_tie():
    rows = rows_of(DENSE, labels=[-1, -1, -1, 1])
    parameters = MULTINOMIAL.maximize(engine.summarize([rows], START, is_hard=True), FLAT)
    assert_allclose(MULTINOMIAL.profiles(parameters), TIE_TO_2, atol=THREE)


@pytest.mark.parametrize("last", [0, 1])
def test_nothing_changes_after_the_second_guess(last):
    """Section 3.2: "it's not hard to see that nothing changes after this"; so it is with the other tie-break."""
    start = Statistics.zeros(2, 6)
    engine.add_expected(start, rows_of(DENSE), np.eye(2)[[0, 1, 1, last]])
    fit = engine.run(
        lambda: [rows_of(DENSE)], start, MULTINOMIAL, FLAT, engine.Loop(is_hard=True, max_iter=5, tol=0.0)
    )
    assert fit.is_converged
    assert len(fit.trace) == 2
    assert fit.trace[0] == fit.trace[1] == pytest.approx(np.log(joint(fit.parameters).max(axis=1)).sum())
    assert_array_equal(fit.statistics.sizes, start.sizes)
    assert_array_equal(fit.statistics.counts, start.counts)


def test_first_soft_e_step():
    responsibilities, log_evidence = engine.responsibilities_of(rows_of(DENSE), START)
    assert_allclose(responsibilities, SOFT, atol=THREE)
    assert_allclose(responsibilities, [[2 / 3, 1 / 3], [1 / 3, 2 / 3], [1 / 3, 2 / 3], [1 / 2, 1 / 2]])
    assert_allclose(np.exp(log_evidence), np.sum(FIRST_JOINT, axis=1))


def test_first_soft_m_step():
    statistics = engine.summarize([rows_of(DENSE)], START)
    parameters = MULTINOMIAL.maximize(statistics, FLAT)
    assert_allclose(np.exp(parameters.log_weights), SOFT_WEIGHTS, atol=THREE)
    for found, printed in zip(MULTINOMIAL.profiles(parameters), (SOFT_1, SOFT_2), strict=True):
        for probability, word in zip(found, WORDS, strict=True):
            assert probability == pytest.approx(printed[word], abs=FOUR if printed[word] < 0.1 else THREE)
    # As fractions: 11/3 words of class 1 and 13/3 of class 2.
    assert_allclose(statistics.counts.sum(axis=0), [11 / 3, 13 / 3])
    assert_allclose(MULTINOMIAL.profiles(parameters)[0], [1 / 11, 7 / 22, 1 / 11, 2 / 11, 2 / 11, 3 / 22])
    assert_allclose(MULTINOMIAL.profiles(parameters)[1], [2 / 13, 5 / 26, 2 / 13, 4 / 13, 1 / 13, 3 / 26])


def test_where_soft_em_is_going():
    """Section 3.3: "award", "notification" and "payment" will dominate class 1, the others class 2."""
    start = Statistics(np.full(2, 2.0), np.ascontiguousarray(TENTHS.T))
    loop = engine.Loop(max_iter=500, tol=1e-12)
    fit = engine.run(lambda: [rows_of(DENSE)], start, MULTINOMIAL, FLAT, loop)
    assert fit.is_converged
    first, second = MULTINOMIAL.profiles(fit.parameters)
    assert_allclose(first, TIE_TO_1[0], atol=1e-6)
    assert_allclose(second, TIE_TO_1[1], atol=1e-6)


def test_question_8_uniform_parameters_stay_uniform():
    start = Statistics(np.full(2, 2.0), np.ones((6, 2)))
    fit = engine.run(lambda: [rows_of(DENSE)], start, MULTINOMIAL, FLAT, engine.Loop(max_iter=20, tol=0.0))
    profiles = MULTINOMIAL.profiles(fit.parameters)
    assert_array_equal(profiles[0], profiles[1])
    assert_allclose(profiles[0], DENSE.sum(axis=0) / DENSE.sum())


def test_question_9_a_class_for_each_document():
    """With as many classes as documents, each may have its own: two words of one half, weight one quarter."""
    start = Statistics(np.ones(4), np.ascontiguousarray(DENSE.T))
    fit = engine.run(lambda: [rows_of(DENSE)], start, MULTINOMIAL, FLAT, engine.Loop(is_hard=True))
    assert_allclose(MULTINOMIAL.profiles(fit.parameters), DENSE / 2)
    assert fit.log_likelihood == pytest.approx(4 * np.log(1 / 4 * 1 / 2 * 1 / 2))
