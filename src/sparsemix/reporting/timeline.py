"""A page of threads over time, drawn by Plotly; it stands alone and needs no network."""

import os
from collections.abc import Sequence
from html import escape
from typing import Any

from sparsemix.foundation.errors import DataError, shorten
from sparsemix.foundation.extras import plotly
from sparsemix.persistence import replacing
from sparsemix.reporting.render import check_folder, page_template, plain_name

LINE_HEIGHT, MARGINS = 26, 110  # pixels of a thread, and of what stands above and below
NEEDED = {
    "title", "source", "library_version", "n_messages", "n_threads", "n_threads_left_out", "n_messages_left_out",
    "threads",
}  # fmt: skip
PALETTE = ("#3b6fb6", "#c8643c", "#4a9a6b", "#8a5aa8", "#b58a2a", "#3f9aa8")


def render_timeline(summary: dict[str, Any]) -> str:
    """Return the page of threads: a line each, a mark for each message, and a table.

    Parameters
    ----------
    summary : dict
        From `summarize_threads`. Every text in it is escaped.

    Returns
    -------
    str
        A whole HTML document of some five megabytes, most of them Plotly.

    Raises
    ------
    DataError
        If the summary is not one of threads.
    MissingExtraError
        If Plotly is not installed.

    Examples
    --------
    >>> summary = {"title": "<Mails>", "source": "mails.mbox", "n_messages": 0, "n_threads": 0, "threads": []}
    >>> page = render_timeline(summary | {"n_threads_left_out": 0, "n_messages_left_out": 0, "library_version": "0"})
    >>> "<title>&lt;Mails&gt;</title>" in page
    True
    """
    if not isinstance(summary, dict) or not summary.keys() >= NEEDED:
        raise DataError(
            f"'summary' of render_timeline must be what summarize_threads returns, but it is {shorten(summary)}."
        )
    drawn = _figure(summary["threads"]).to_html(
        full_html=False, include_plotlyjs=True, div_id="timeline", config={"displayModeBar": False}
    )
    return page_template("timeline.html").render(**summary, drawn=drawn)


def write_timeline(path: str | os.PathLike[str], summary: dict[str, Any]) -> None:
    """Write the page of threads in the place of any file that is there, which stays whole until the new one is.

    Parameters
    ----------
    path : str or PathLike
    summary : dict
        From `summarize_threads`.

    Raises
    ------
    DataError
        If the summary is not one of threads.
    ParameterError
        If the folder of the file does not exist.
    MissingExtraError
        If Plotly is not installed.
    OSError
        When the file cannot be written.

    Examples
    --------
    >>> import sparsemix as sm
    >>> from sparsemix.reporting import summarize_threads
    >>> mailbox = sm.read_mailbox("mails.mbox")  # doctest: +SKIP
    >>> model = sm.TimeSensitiveMixture(half_life="3d").fit(mailbox.dataset)  # doctest: +SKIP
    >>> write_timeline("threads.html", summarize_threads(model, mailbox))  # doctest: +SKIP
    """
    check_folder(path, "write_timeline")
    page = render_timeline(summary)
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _figure(threads: Sequence[dict[str, Any]]) -> Any:
    draw = plotly("graph_objects")
    names = [_shown(" · ".join(each["words"]) or "(no words)") for each in threads]
    axis = {
        "tickmode": "array",
        "tickvals": list(range(len(threads))),
        "ticktext": names,
        "range": [len(threads) - 0.5, -0.5],
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }
    layout = {
        "height": LINE_HEIGHT * len(threads) + MARGINS,
        "showlegend": False,
        "hovermode": "closest",
        "template": "plotly_white",
        "margin": {"t": 40, "b": 50, "r": 20},
        "xaxis": {"type": "date", "side": "top"},
        "yaxis": axis,
    }
    return draw.Figure([_spans(draw, threads), _marks(draw, threads)], layout=layout)


def _spans(draw: Any, threads: Sequence[dict[str, Any]]) -> Any:
    """A line for each thread from its first to its last message."""
    x: list[str | None] = []
    y: list[int | None] = []
    for line, thread in enumerate(threads):
        x += [thread["first"], thread["last"], None]
        y += [line, line, None]
    return draw.Scatter(x=x, y=y, mode="lines", line={"color": "#c4c9d1", "width": 3}, hoverinfo="skip")


def _marks(draw: Any, threads: Sequence[dict[str, Any]]) -> Any:
    messages = [(line, each) for line, thread in enumerate(threads) for each in thread["messages"]]
    return draw.Scatter(
        x=[each["time"] for _, each in messages],
        y=[line for line, _ in messages],
        mode="markers",
        marker={"size": 9, "color": [PALETTE[line % len(PALETTE)] for line, _ in messages], "opacity": 0.75},
        customdata=[
            [_shown(each["subject"] or "(no subject)"), _shown(each["author"])] for _, each in messages
        ],
        hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<br>%{x|%Y-%m-%d %H:%M} UTC<extra></extra>",
    )


def _shown(text: str) -> str:
    """Text for Plotly, which takes it for HTML of its own kind."""
    return escape(plain_name(text))
