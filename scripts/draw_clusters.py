"""Draw the picture of the README, `clusters.svg`, from a model of the demo's ads.

Run it from anywhere: ``python scripts/draw_clusters.py``. It takes a few seconds and no plotting library.
"""

import tempfile
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import sparsemix as sm
from sparsemix.cli.demo.ads import make_demo_ads

TARGET = Path(__file__).parents[1] / "docs" / "assets" / "clusters.svg"

WIDTH, HEIGHT = 1120, 618
MARGIN, GAP = 28, 20
ROW, BAR = 25, 13
MOST = 0.7
"""Probability at the right end of the bars."""
INK, QUIET, LINE, PAPER = "#1d2733", "#66727f", "#dde3e9", "#ffffff"
SHOWN = {
    "java certification": "#3566b8",
    "ball python": "#2e8b67",
    "coffee beans": "#96603a",
    "maid service": "#8a4f9e",
}
"""A keyword of each cluster to show, and the cluster's colour."""

STEPS: tuple[tuple[str, dict[str, list[str]]], ...] = (
    ("The ad has one keyword", {"accepted": ["python"], "reject": []}),
    ("One suggestion is turned down", {"accepted": ["python"], "reject": ["learn to code"]}),
    ("One is taken", {"accepted": ["python", "ball python"], "reject": ["learn to code"]}),
)


class Bar(NamedTuple):
    """A keyword with its probability and interval."""

    text: str
    value: float
    low: float
    high: float
    colour: str


def main() -> None:
    """Fit, draw, write."""
    model = fit()
    colours = cluster_colours(model)
    parts = [frame(), heading(MARGIN, 42, "Clusters of 20,000 ads, learnt in one pass and without labels")]
    parts += cards(model, colours)
    parts.append(heading(MARGIN, 332, "Keywords suggested for one ad"))
    parts += dialogue(model, colours)
    note = "bars: probability that an ad of the cluster, or this ad, has the keyword; lines: 95 % credible intervals"
    parts.append(text(MARGIN, HEIGHT - 20, note, size=12, fill=QUIET))
    TARGET.write_text("\n".join([*parts, "</svg>\n"]), "utf-8")


def fit() -> Any:
    """Return a model of the demo's ads."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "demo_ads.csv")
        make_demo_ads().write_csv(table)
        ads = sm.read_table(table, row="ad_id", feature="keyword")
    return sm.OnlineBernoulliMixture(n_components=30, random_state=0).fit(ads)


def cluster_colours(model: Any) -> dict[int, str]:
    """Return the colour of each cluster that is shown."""
    found = {}
    for keyword, colour in SHOWN.items():
        best = max(model.top_features(30), key=lambda c: evidence(c, keyword))
        found[best.component] = colour
    return found


def evidence(cluster: Any, keyword: str) -> float:
    """Return how many ads of a cluster have a keyword."""
    return sum(f.evidence for f in cluster.features if f.feature == keyword)


def cards(model: Any, colours: dict[int, str]) -> Iterable[str]:
    """One card for each cluster, side by side."""
    width = (WIDTH - 2 * MARGIN - (len(colours) - 1) * GAP) / len(colours)
    clusters = {cluster.component: cluster for cluster in model.top_features(6)}
    for position, (component, colour) in enumerate(colours.items()):
        cluster = clusters[component]
        x, y = MARGIN + position * (width + GAP), 62
        bars = [Bar(f.feature, f.mean, f.low, f.high, colour) for f in cluster.features]
        yield box(x, y, width, 222)
        yield f'<rect x="{x}" y="{y}" width="{width}" height="5" rx="2.5" fill="{colour}"/>'
        title = f"cluster {component}"
        yield text(x + 16, y + 36, title, size=15, weight=600)
        yield text(
            x + width - 16, y + 36, f"{cluster.weight:.1%} of all ads", size=13, fill=QUIET, anchor="end"
        )
        yield from chart(x + 16, y + 58, width - 32, bars)


def dialogue(model: Any, colours: dict[int, str]) -> Iterable[str]:
    """Three rounds of suggestions, with what was accepted and rejected."""
    gap = 44
    width = (WIDTH - 2 * MARGIN - (len(STEPS) - 1) * gap) / len(STEPS)
    for position, (title, given) in enumerate(STEPS):
        x, y = MARGIN + position * (width + gap), 352
        yield box(x, y, width, 216)
        yield text(x + 16, y + 30, title, size=15, weight=600)
        yield from chips(x + 16, y + 44, given["accepted"], given["reject"])
        found = model.suggest(given["accepted"], reject=given["reject"], n=5)
        bars = [
            Bar(s.feature, s.probability, s.low, s.high, colours.get(s.components[0][0], QUIET))
            for s in found
        ]
        yield from chart(x + 16, y + 86, width - 32, bars)
        if position:
            yield arrow(x - gap + 10, y + 106)


def chart(x: float, y: float, width: float, bars: list[Bar]) -> Iterable[str]:
    """Horizontal bars with names on their left and percentages on their right."""
    names, numbers = 142, 40
    scale = (width - names - numbers) / MOST
    for position, bar in enumerate(bars):
        top = y + position * ROW
        middle, left = top + BAR / 2, x + names
        yield text(left - 8, middle + 4.5, shorten(bar.text, 19), size=12.5, anchor="end")
        yield (
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{bar.value * scale:.1f}" height="{BAR}" rx="2" '
            f'fill="{bar.colour}" fill-opacity="0.82"/>'
        )
        yield (
            f'<path d="M{left + bar.low * scale:.1f} {middle:.1f}H{left + bar.high * scale:.1f}" '
            f'stroke="{INK}" stroke-width="1.4" stroke-opacity="0.75"/>'
        )
        yield text(x + width, middle + 4.5, f"{bar.value:.0%}", size=13, fill=QUIET, anchor="end")


def chips(x: float, y: float, accepted: list[str], rejected: list[str]) -> Iterable[str]:
    """Keywords as small labels; rejected ones are struck through."""
    for keyword in [*accepted, *rejected]:
        refused = keyword in rejected
        width = 7.0 * len(keyword) + 20
        colour, style = ("#b3403a", ' text-decoration="line-through"') if refused else (INK, "")
        yield (
            f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="25" rx="12.5" fill="{colour}" '
            f'fill-opacity="0.07" stroke="{colour}" stroke-opacity="0.45"/>'
        )
        yield text(x + width / 2, y + 17, keyword, size=13, fill=colour, anchor="middle", extra=style)
        x += width + 8


def frame() -> str:
    """The picture's opening tag and background."""
    fonts = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'font-family="{fonts}" role="img">\n'
        "<title>Four clusters of ads with their keywords, and a dialogue that suggests keywords</title>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="14" fill="#f5f7f9"/>'
    )


def box(x: float, y: float, width: float, height: float) -> str:
    """A white card."""
    return f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" rx="6" fill="{PAPER}" stroke="{LINE}"/>'


def heading(x: float, y: float, content: str) -> str:
    """A line above a row of cards."""
    return text(x, y, content, size=18, weight=600)


def arrow(x: float, y: float) -> str:
    """An arrow from one card to the next."""
    return (
        f'<path d="M{x:.1f} {y}h22m-7 -6l7 6l-7 6" fill="none" stroke="{QUIET}" stroke-width="2" '
        'stroke-linecap="round" stroke-linejoin="round"/>'
    )


def text(
    x: float,
    y: float,
    content: str,
    *,
    size: float,
    fill: str = INK,
    weight: int = 400,
    anchor: str = "start",
    extra: str = "",
) -> str:
    """A line of text."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" fill="{fill}" '
        f'text-anchor="{anchor}"{extra}>{escape(content)}</text>'
    )


def shorten(content: str, length: int) -> str:
    """Cut a long keyword."""
    return content if len(content) <= length else content[: length - 1] + "…"


if __name__ == "__main__":
    main()
