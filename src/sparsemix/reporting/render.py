"""Turn a summary into one HTML page that stands alone: no scripts, nothing from elsewhere."""

import os
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from sparsemix.foundation.errors import parameter_error
from sparsemix.persistence import replacing

_LONGEST = 200  # characters of a name


def render_report(summary: dict[str, Any]) -> str:
    """Return the page of a summary.

    Parameters
    ----------
    summary : dict
        From `summarize_model`. Every text in it is escaped.

    Returns
    -------
    str
        A whole HTML document.

    Examples
    --------
    >>> facts = {"n_rows": 0, "n_features": 0, "level": 0.95, "n_clusters": 0}
    >>> facts |= {"model_kind": "online-bernoulli-mixture", "log_evidence": 0.0, "log_evidence_per_row": 0.0}
    >>> facts |= {"log_likelihood": None, "log_likelihood_per_row": None}
    >>> facts |= {"takes_counts": False, "takes_real_numbers": False}
    >>> parts = {"title": "<Ads>", "row_noun": "ads", "clusters": [], "certainty": None}
    >>> page = render_report({"summary_version": 1, "library_version": "0"} | facts | parts)
    >>> "<title>&lt;Ads&gt;</title>" in page
    True
    """
    return page_template("model_report.html").render(**summary, full_bar=_full_bar(summary))


def page_template(name: str) -> Template:
    """Return a template of a page; whatever it shows is escaped."""
    environment = Environment(
        loader=PackageLoader("sparsemix.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "whole": _whole,
        "signed": _signed,
        "percent": _percent,
        "plain": plain_name,
        "quantity": _quantity,
    }
    return environment.get_template(name)


def write_report(path: str | os.PathLike[str], summary: dict[str, Any]) -> None:
    """Write the page of a summary; a file that is there stays whole until the new one is.

    Parameters
    ----------
    path : str or PathLike
    summary : dict
        From `summarize_model`.

    Raises
    ------
    ParameterError
        If the folder of the file does not exist.
    OSError
        When the file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> import sparsemix as sm
    >>> from sparsemix.reporting import summarize_model
    >>> rows = np.repeat(np.eye(2), 50, axis=0)
    >>> model = sm.OnlineBernoulliMixture(n_components=2, random_state=0).fit(rows)
    >>> with TemporaryDirectory() as folder:
    ...     write_report(Path(folder, "report.html"), summarize_model(model, title="Two clusters"))
    ...     "Two clusters" in Path(folder, "report.html").read_text("utf-8")
    True
    """
    check_folder(path, "write_report")
    page = render_report(summary)
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def check_folder(path: str | os.PathLike[str], owner: str) -> None:
    """Raise ParameterError unless the folder exists in which a page is to be written."""
    if not Path(path).absolute().parent.is_dir():
        raise parameter_error("path", owner, "in a folder that exists", str(path), "Create it first.")


def _full_bar(summary: dict[str, Any]) -> float:
    """What a bar as long as can be stands for.

    A probability of 1, or where keywords share it the largest on the page; of real numbers the largest distance.
    """
    if summary["takes_real_numbers"]:
        away = (abs(entry["lift"]) for each in summary["clusters"] for entry in each["features"])
        return max(away, default=0.0) or 1.0
    if not summary["takes_counts"]:
        return 1.0
    return (
        max((entry["high"] for each in summary["clusters"] for entry in each["features"]), default=0.0) or 1.0
    )


def _whole(value: float) -> str:
    return f"{value:,.0f}".replace(",", "\u202f")


def _signed(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".replace("-", "\u2212")


def _percent(share: float) -> str:
    percent = 100 * share
    if 0 < percent < 0.1 or 99.9 < percent < 100:
        return "<\u202f0.1\u202f%" if percent < 1 else ">\u202f99.9\u202f%"
    return f"{percent:.1f}\u202f%" if percent < 10 or 99 <= percent < 100 else f"{percent:.0f}\u202f%"


def _quantity(value: float) -> str:
    shown = f"{value:,.0f}".replace(",", "\u202f") if 1_000 <= abs(value) < 1e9 else f"{value:.4g}"
    return shown.replace("-", "\u2212")


def plain_name(text: str | int) -> str:
    """Cut what nobody would read, and show characters that cannot be seen, so that no name hides its neighbours."""
    whole = str(text)
    shown = whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST - 1]}…"
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in shown)
