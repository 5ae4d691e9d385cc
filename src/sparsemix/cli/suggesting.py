"""Find the keywords of an ad, check that the model knows them, and ask for more."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from inspect import signature
from typing import Any

import numpy as np

from sparsemix.cli.console import brief, note
from sparsemix.cli.inputs import Source, optional_source
from sparsemix.foundation.errors import DataError, ParameterError
from sparsemix.foundation.wording import counted, kind_of

_COMPARED = 200  # letters of a keyword that are compared with those that the model knows


def known_keywords(known: Sequence[str], asked: Sequence[str]) -> list[str]:
    """Return the keywords that were asked for, each once, or raise for one that the model has never seen.

    Parameters
    ----------
    known, asked : sequence of str

    Returns
    -------
    list of str

    Raises
    ------
    ParameterError
        With close keywords that the model knows.

    Examples
    --------
    >>> known_keywords(["window cleaning", "maid service"], ["window cleanin"])
    Traceback (most recent call last):
    ...
    sparsemix.foundation.errors.ParameterError: The model does not know 'window cleanin': did you mean \
'window cleaning'?
    """
    names = set(known)
    for keyword in asked:
        if keyword not in names:
            close = [repr(brief(name)) for name in get_close_matches(keyword[:_COMPARED], known, n=3)]
            hint = (
                f": did you mean {' or '.join(close)}?"
                if close
                else ", nor any keyword like it. See what it knows with 'sparsemix clusters'."
            )
            raise ParameterError(f"The model does not know {brief(keyword)!r}{hint}")
    return list(dict.fromkeys(asked))


def ad_keywords(
    known: Sequence[str], ad: str | None, path: str | None, reading: Mapping[str, Any], *, quiet: bool
) -> list[str]:
    """Return the keywords of row `ad` of a table that the model knows.

    Parameters
    ----------
    known : sequence of str
    ad : str or None
        Id of the row; None gives no keywords.
    path : str or None
    reading : dict
        Arguments for `read_table`.
    quiet : bool

    Returns
    -------
    list of str

    Raises
    ------
    ParameterError
        When only one of `ad` and `path` is given, or the table has no such row.
    DataError
        When the row has no keyword, or the model knows none of them.
    """
    if (ad is None) != (path is None):
        raise ParameterError("--ad and --input belong together: the id of a row, and the table that has it.")
    source = optional_source(path, reading, quiet=quiet)
    if ad is None or source is None:
        return []
    names, found = set(known), _keywords_of(ad, source)
    unknown = [keyword for keyword in found if keyword not in names]
    if len(unknown) == len(found):
        reason = "The model knows no keyword of row" if found else "There is no keyword in row"
        raise DataError(f"{reason} {brief(ad)!r}. Choose another row, or update the model first.")
    if unknown:
        shown = ", ".join([*map(brief, unknown[:5]), *(["..."] if len(unknown) > 5 else [])])
        share = f"{len(unknown)} of {counted(len(found), 'keyword')}"
        note(f"The model does not know {share} of row {brief(ad)!r}: {shown}", quiet=quiet)
    return [keyword for keyword in found if keyword in names]


def answer(
    model: Any, accepted: Sequence[str], rejected: Sequence[str], **options: float
) -> list[dict[str, Any]]:
    """Return suggestions as plain values, the most probable first; `options` are those of the model's `suggest`.

    Raises
    ------
    ParameterError
        When no keyword was given, or the model does not know an option.
    """
    if not accepted:
        raise ParameterError("Give at least one --keyword, or name a row with --ad and --input.")
    for name in options:
        if name not in signature(model.suggest).parameters:
            raise ParameterError(f"--{name} is not for {kind_of(model)}. Leave it out.")
    return [
        {
            "keyword": each.feature if isinstance(each.feature, str) else int(each.feature),
            "probability": float(each.probability),
            "low": float(each.low),
            "high": float(each.high),
            "clusters": [
                {"component": int(component), "share": float(share)} for component, share in each.components
            ],
        }
        for each in model.suggest(*_as_features(model, accepted, rejected), **options)
    ]


def _as_features(model: Any, *keywords: Sequence[str]) -> list[list[Any]]:
    as_feature = str if hasattr(model, "feature_names_in_") else int
    return [[as_feature(keyword) for keyword in each] for each in keywords]


def _keywords_of(ad: str, source: Source) -> list[str]:
    for batch in source.stream():
        hits = np.flatnonzero(np.asarray([str(each) == ad for each in batch.row_ids]))
        if len(hits):
            row = batch[int(hits[0]) : int(hits[0]) + 1]
            columns_on = row.matrix.indices.tolist()
            names = row.feature_names
            return [str(column) if names is None else str(names[column]) for column in columns_on]
    raise ParameterError(f"{source.path} has no row {brief(ad)!r}. Check the id, and the column in --row.")
