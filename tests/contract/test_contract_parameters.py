"""Parameters that no fit takes: a file does not bring them in, and they do not get into one."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sparsemix import ModelFileError, ParameterError, load_model, save_model
from sparsemix.persistence import write_payload

ODD = (-1, 0, "spam", None, {}, [], 1e400)
ONE_OF_EACH = {
    "online-bernoulli-mixture": {"n_components": 0},
    "multinomial-mixture": {"smoothing": "spam"},
    "bernoulli-mixture": {"binarize": -1.0},
    "hashed-gibbs-mixture": {"n_bits": -1},
    "uncollapsed-gibbs-mixture": {"init": "leader"},
    "time-sensitive-mixture": {"decay_rate": -1.0},
    "streaming-time-sensitive-mixture": {"window": 1.5},
    "gamma-poisson-factors": {"solver": "spam"},
    "click-rate-model": {"user": None},
    "bayesian-nmf": {"burn_in": -1},
}


def refusal(payload, path):
    """The message of the error that loading a payload's file raises; "" if it loads."""
    write_payload(path, payload)
    try:
        load_model(path)
    except ModelFileError as error:
        return str(error)
    return ""


def with_parameters(payload, change):
    return replace(payload, parameters=payload.parameters | change)


def test_a_file_with_a_parameter_that_breaks_its_rule(subject, tmp_path):
    payload, change = subject.fitted().to_payload(), ONE_OF_EACH[subject.kind]
    message = refusal(with_parameters(payload, change), tmp_path / "m.smx")
    ((name, value),) = change.items()
    where = f"cannot read the model file {str(tmp_path / 'm.smx')!r}: "
    assert message.startswith(f"{where}a parameter in it breaks its rule: '{name}' of ")
    assert f", but it is {value!r}. " in message


def test_a_parameter_that_breaks_its_rule_is_not_saved(subject, tmp_path):
    model, path = subject.fitted(), tmp_path / "m.smx"
    save_model(model, path)
    before = path.read_bytes()
    model.set_params(**ONE_OF_EACH[subject.kind])
    with pytest.raises(
        ParameterError, match=r"Set it to a good value first: such a file could not be loaded\.$"
    ):
        save_model(model, path)
    assert path.read_bytes() == before


def test_saving_and_loading_draw_no_random_numbers(subject, tmp_path):
    own = np.random.RandomState(0)
    generators = (np.random.mtrand._rand, own)
    before = [each.get_state() for each in generators]
    model = subject.fitted().set_params(random_state=own)
    save_model(model, tmp_path / "m.smx")
    assert load_model(tmp_path / "m.smx").random_state is None
    for (_, numbers, place, *_), each in zip(before, generators, strict=True):
        assert place == each.get_state()[2]
        assert_array_equal(numbers, each.get_state()[1])


@pytest.mark.slow
def test_files_bring_in_what_a_fit_takes_and_nothing_else(subject, tmp_path):
    payload = subject.fitted().to_payload()
    for name in sorted(set(payload.parameters) - {"verbose"}):
        for value in ODD:
            if name == "time_kernel" and value is None:
                continue  # the kernel is elsewhere in the file then
            found = refusal(with_parameters(payload, {name: value}), tmp_path / "m.smx")
            assert not found or f"'{name}'" in found, found
            if name == "init":
                assert found
                continue
            try:
                subject.learn(model=subject.new(**{name: value}))
            except ParameterError:
                assert found, (name, value)
            except (ValueError, MemoryError):
                continue  # for what the data are
            else:
                assert not found, (name, value)
