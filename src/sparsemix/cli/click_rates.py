"""Ask a model for click rates, and put them into plain values, for tables, files and JSON alike."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.cli.console import brief, note, show, show_json
from sparsemix.cli.events import pairs_of
from sparsemix.cli.gathering import what_was_given
from sparsemix.cli.inputs import Source
from sparsemix.cli.outputs import check_rates_output
from sparsemix.cli.own_files import RATE_COLUMNS
from sparsemix.cli.progress import rows_progress
from sparsemix.cli.tables import rates_table
from sparsemix.cli.writing import write_batches
from sparsemix.foundation.errors import ParameterError
from sparsemix.foundation.wording import counted, kind_of
from sparsemix.model_io import load_model

_PAIRS_PER_BATCH = 20_000  # each has a number for every draw
_TEXT = "U"
LOWER = "lower"

Columns = dict[str, Any]


def load_rates(path: Path) -> Any:
    """Return the model of click rates in a file.

    Raises
    ------
    ParameterError
        When it is another model.
    ModelFileError
        When the file cannot be read.
    """
    model = load_model(path)
    if model.model_kind != "click-rate-model":
        raise ParameterError(
            f"{str(path)!r} holds {kind_of(model)}, which knows no click rates. Fit one to a table of events: "
            f"'sparsemix fit --model click-rate'."
        )
    return model


def refuse(given: Mapping[str, Any], why: str) -> None:
    """Raise ParameterError for an option that was given, is not None, and would have no effect."""
    for name in what_was_given(given):
        raise ParameterError(f"{'-' if len(name) == 1 else '--'}{name} {why}. Leave it out.")


def show_rates(
    model: Any,
    user: str,
    ads: Sequence[str],
    *,
    n: int,
    by: str | None,
    level: float,
    json: bool,
    quiet: bool = False,
) -> None:
    """Print click rates of a user on ads as they were given, or the best `n` of all ads; say what is not known.

    Parameters
    ----------
    model : ClickRateModel
    user : str
    ads : sequence of str
        Empty for all.
    n : int
    by : {"rate", "lower"} or None
        What the best are chosen by, and given ads are sorted by: the rate, or the lower end of its interval, for which
        ads of which little is known come late. None is the rate for all ads, and the given order for some.
    level : float
    json : bool
    quiet : bool
        Do not say that the model does not know the user, or an ad.

    Raises
    ------
    ParameterError
        When there is no interval to sort by.
    """
    if by == LOWER and not model.has_intervals_:
        raise ParameterError(
            "--by lower needs intervals, which only a model fitted with --solver gibbs has, once its chains have begun."
        )
    asked: NDArray[Any] = np.array(ads) if ads else model.ads_
    found = rates_of_pairs(model, np.repeat(np.array([user]), asked.size), asked, level)
    values = zip(*(column.tolist() for column in found.values()), strict=True)
    rows = [dict(zip(found, row, strict=True)) for row in values]
    if by or not ads:
        rows = sorted(rows, key=lambda row: -row["low" if by == LOWER else "rate"])
    rows = rows if ads else rows[:n]
    is_known = bool(_are_known(np.array([user]), model.users_)[0])
    unknown = list(dict.fromkeys(asked[~_are_known(asked, model.ads_)].tolist()))
    _say_unknown(user, unknown, is_known=is_known, quiet=quiet)
    if json:
        known = {"known_user": is_known, "unknown_ads": unknown}
        show_json({"user": user, **known, "level": level, "rates": rows})
    else:
        show(rates_table(rows, level))


def _say_unknown(user: str, ads: Sequence[str], *, is_known: bool, quiet: bool) -> None:
    if not is_known:
        note(
            f"The model does not know user {brief(user)!r}: the rates are those of the ads, whoever the user is.",
            quiet=quiet,
        )
    for ad in ads:
        note(f"The model does not know ad {brief(ad)!r}: its rate is that of any unknown ad.", quiet=quiet)


def rates_of_pairs(model: Any, users: NDArray[Any], ads: NDArray[Any], level: float) -> Columns:
    """Return columns, named as in `RATE_COLUMNS`: the interval is NaN without draws."""
    pairs = _as_ids(users, model.users_), _as_ids(ads, model.ads_)
    low = high = np.full(users.size, np.nan)
    if model.has_intervals_:
        low, high = model.predict_interval(*pairs, level=level)
    own = dict(zip(model.ads_.tolist(), model.ad_rates_.tolist(), strict=True))
    unknown = model.prior_clicks_ / model.prior_impressions_
    ad_rates = np.array([own.get(ad, unknown) for ad in pairs[1].tolist()])
    return dict(zip(RATE_COLUMNS, (users, ads, model.predict(*pairs), low, high, ad_rates), strict=True))


def write_rates(
    model: Any, source: Source, output: Path, columns: Mapping[str, str], *, level: float, json: bool
) -> None:
    """Write click rates of the pairs in a table to a file, and say how many of them are not known.

    Raises
    ------
    ParameterError
        When the file may not be written, or a column does not exist.
    DataError
        When the table cannot be read.
    """
    check_rates_output(output, source)
    pairs = pairs_of(source, columns)
    users, ads = pairs["user"], pairs["ad"]
    write_batches(output, _batches(model, users, ads, level, quiet=source.quiet))
    sizes = {
        "n_pairs": users.size,
        "n_unknown_users": _n_unknown(users, model.users_),
        "n_unknown_ads": _n_unknown(ads, model.ads_),
    }
    if json:
        show_json({"output": str(output), **sizes})
        return
    note(f"Wrote {counted(users.size, 'pair')} to {output}.", quiet=source.quiet)
    if sizes["n_unknown_users"] or sizes["n_unknown_ads"]:
        note(
            f"Pairs with a user that the model does not know: {sizes['n_unknown_users']:,}; with such an ad: "
            f"{sizes['n_unknown_ads']:,}.",
            quiet=source.quiet,
        )
    for name in ("user", "ad"):
        if sizes[f"n_unknown_{name}s"] == users.size:
            note(
                f"The model knows no {name} of the table. Check --{name}-column, and that ids are written as in the "
                f"table that the model has learnt.",
                quiet=source.quiet,
            )


def _batches(
    model: Any, users: NDArray[Any], ads: NDArray[Any], level: float, *, quiet: bool
) -> Iterator[Any]:
    import pyarrow as pa

    with rows_progress("Asking", users.size, quiet=quiet, unit="pairs") as advance:
        for first in range(0, users.size, _PAIRS_PER_BATCH):
            part = slice(first, first + _PAIRS_PER_BATCH)
            found = rates_of_pairs(model, users[part], ads[part], level)
            columns = [pa.array(values, from_pandas=True) for values in found.values()]
            yield pa.RecordBatch.from_arrays(columns, RATE_COLUMNS)
            advance(users[part].size)


def _as_ids(asked: NDArray[Any], known: NDArray[Any]) -> NDArray[Any]:
    """Ids as the model has them: text, or numbers, where text that is no number becomes one that no id is."""
    if known.dtype.kind == _TEXT:
        return asked.astype(str)
    if asked.dtype.kind in "iu":
        return asked
    taken = set(known.tolist())
    nobody = next(number for number in range(known.size + 1) if number not in taken)
    texts = {str(number): number for number in taken}
    return np.array([texts.get(str(each), nobody) for each in asked.tolist()], np.int64)


def _are_known(asked: NDArray[Any], known: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isin(_as_ids(asked, known), known)


def _n_unknown(asked: NDArray[Any], known: NDArray[Any]) -> int:
    return int((~_are_known(asked, known)).sum())
