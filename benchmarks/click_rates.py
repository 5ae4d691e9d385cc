"""Click rates on real events: log loss, AUC and calibration beside the ad's own rate and one rate for all.

Run ``python benchmarks/click_rates.py``; it writes ``benchmarks/results/click_rates.md``. The data lie outside the
project, see ``harness/realdata.py``. ``--quick`` takes one seed.
"""

import argparse
import statistics
from collections.abc import Iterable

from harness import machine, tables
from harness.click_cases import MODELS, SETS, EventSet, Found, judge
from sparsemix import split_events

HEADER = ("method", "log loss", "AUC", "less log loss than the ad alone", "the ad counts for")
NOTES = """Log loss is in nats an impression, smaller is better; AUC is the probability that a clicked impression has a
higher rate than one that was not, a half by chance. "One rate for all" is the rate of all learnt impressions together.
"The ad alone" is its smoothed rate (clicks + a) / (impressions + b), with a and b by empirical Bayes, whoever the user
is: the floor. "Less log loss" is the mean of the differences to it over seeds, with their range; below zero is worse.
"The ad counts for" so many impressions beside those that factors expect of the user on it (`smoothing_`, median): it is
chosen by cells set aside, and huge where they do not show that factors help. {n} seeds of split and model."""


def spread(values: Iterable[float], digits: int) -> str:
    """Return the mean, and the range where there are several values."""
    found = list(values)
    middle = f"{statistics.fmean(found):.{digits}f}"
    same = len(found) == 1 or max(found) == min(found)
    return middle if same else f"{middle} ({min(found):.{digits}f} to {max(found):.{digits}f})"


def mean(values: Iterable[float], digits: int) -> str:
    """Return the mean."""
    return f"{statistics.fmean(values):.{digits}f}"


def part(data: EventSet, by: str, models: dict[str, dict], seeds: int) -> list[str]:
    """Return the section on one set and one way to split it."""
    by_time = by == "time"
    splits = [
        split_events(data.events, 0.2, by=by, random_state=seed) for seed in range(1 if by_time else seeds)
    ]
    found = {
        name: [judge(splits[0 if by_time else seed], options, seed) for seed in range(seeds)]
        for name, options in models.items()
    }
    first = next(iter(found.values()))
    lines = [
        ["one rate for all", mean((each.global_log_loss for each in first), 4), "0.500", None, None],
        [
            "the ad alone",
            mean((each.report.floor_log_loss for each in first), 4),
            mean((each.report.floor_auc for each in first), 3),
            "0.0000",
            None,
        ],
        *(line(name, own) for name, own in found.items()),
    ]
    report = first[0].report
    sizes = f"{report.n_impressions:,.0f} impressions and {report.n_clicks:,.0f} clicks set aside by {by}"
    print(data.name, sizes, tables.markdown(HEADER, lines), sep="\n", flush=True)
    best = min(found, key=lambda name: statistics.fmean(each.report.log_loss for each in found[name]))
    return [
        f"## {data.name}, by {by}",
        f"{sizes} in the first split.",
        tables.markdown(HEADER, lines),
        f'Calibration of "{best}", first seed:',
        calibration(found[best][0]),
    ]


def line(name: str, found: list[Found]) -> list[str]:
    """Return the table line of a model."""
    reports = [each.report for each in found]
    return [
        name,
        mean((each.log_loss for each in reports), 4),
        mean((each.auc for each in reports), 3),
        spread((each.floor_log_loss - each.log_loss for each in reports), 4),
        f"{statistics.median(each.smoothing for each in found):,.1f}",
    ]


def calibration(found: Found) -> str:
    """Return predicted rates beside those that were observed."""
    rows = [
        (f"{each.n_impressions:,.0f}", f"{each.predicted:.4f}", f"{each.observed:.4f}")
        for each in found.report.bins
    ]
    return tables.markdown(("impressions", "predicted rate", "observed rate"), rows)


def main() -> None:
    """Parse the options, judge the models on every set and split, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one seed")
    parser.add_argument("--page", default="click_rates", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    machine.use_one_thread()
    seeds = 1 if options.quick else options.seeds
    models = {name: MODELS[name] for name in options.models}
    sections = [NOTES.format(n=seeds)]
    for name in options.only:
        data = SETS[name]()
        for by in data.ways:
            sections += part(data, by, models, seeds)
    page = tables.write_page(options.page, "Click rates", machine.describe(), sections)
    print(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
