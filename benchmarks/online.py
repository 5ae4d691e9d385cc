"""Whole jobs on two large tables of ads: time, memory and quality, beside the bare cost of scoring.

Run ``python benchmarks/online.py``; it writes ``benchmarks/results/online.md``. ``--only B1`` does one case,
``--quick`` a tenth of the ads once. Every job runs alone in a fresh process with one thread, after compiling
on a few other rows.
"""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from harness import jobs, machine, tables
from sparsemix.data.synthetic import make_ads

N_COMPONENTS = 100
METHODS = {
    "sparsemix, one pass": jobs.run_learner,
    "MiniBatchKMeans": jobs.run_minibatch_kmeans,
    "EM to convergence": jobs.run_em,
}
HEADER = (
    "case",
    "method",
    "whole job (s)",
    "priming (s)",
    "streaming (s)",
    "assigning (s)",
    "streaming / bound",
    "peak above input (MB)",
    "(input + peak - model) / input",
    "ARI",
    "NMI",
)
NOTES = f"""The bound scores the same rows once against fixed profiles (compiled gather, add and softmax
over all {N_COMPONENTS} clusters in float32) and learns nothing; "streaming / bound" compares the
seconds a row, of the rows that were streamed. Times are the best of the runs; ARI and NMI are over the
ads that are no clutter, of the first run. "Peak above input" is the most memory the process held beyond
what it had when the rows were loaded. The published figures are for tables of this size on a machine of
their time, and no true clusters were known there."""


@dataclass(frozen=True)
class Case:
    """A generated table and what was published for its size."""

    name: str
    n_ads: int
    n_keywords: int
    published: str


CASES = (
    Case("B1", 207_000, 2_000, "1 hour"),
    Case("B2", 1_300_000, 73_000, "7 hours, in parallel"),
)


def generate(folder: Path, case: Case, seed: int) -> None:
    """Store the case's table in `folder`."""
    jobs.save_rows(folder, *make_ads(case.n_ads, case.n_keywords, N_COMPONENTS, random_state=seed))


def run_case(
    case: Case, methods: Sequence[str], repeats: int, seeds: int
) -> tuple[list[list[object]], list[str]]:
    """Return the table's lines of one case and a sentence on the bound and the spread over seeds."""
    lines, sentences = [], []
    scores: dict[str, list[tuple[float, float]]] = {name: [] for name in methods}
    for seed in range(seeds):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            jobs.in_new_process(generate, folder, case, seed)
            truth = np.load(folder / "assignments.npy")
            if seed == 0:
                bound = jobs.in_new_process(jobs.measure_bound, folder, N_COMPONENTS, repeats) / case.n_ads
                sentences.append(f"{case.name}: the bound is {bound * 1e6:.2f} microseconds a row.")
                lines.append([case.name, "bound: scoring only", f"{bound * case.n_ads:.2f}", *[None] * 8])
            for method in methods:
                runs = repeats if seed == 0 and method != "EM to convergence" else 1
                outcomes = [
                    jobs.in_new_process(jobs.measure, METHODS[method], folder, N_COMPONENTS, seed)
                    for _ in range(runs)
                ]
                scores[method].append(agreement(truth, outcomes[0].assignments))
                if seed == 0:
                    lines.append([case.name, *describe(method, outcomes, bound, scores[method][0])])
                    print(tables.markdown(HEADER, lines[-1:]), flush=True)
    if seeds > 1:
        sentences += [spread(case, method, scores[method]) for method in methods]
    lines.append([case.name, "published figure", case.published, *[None] * 8])
    return lines, sentences


def agreement(truth: np.ndarray, assignments: np.ndarray) -> tuple[float, float]:
    """Return ARI and NMI over the ads that are no clutter."""
    kept = truth >= 0
    return (
        adjusted_rand_score(truth[kept], assignments[kept]),
        normalized_mutual_info_score(truth[kept], assignments[kept]),
    )


def describe(
    method: str, outcomes: Sequence[jobs.Outcome], bound: float, score: tuple[float, float]
) -> list[object]:
    """Return a table line: the fastest run's times, the largest memory; `bound` is in seconds a row."""
    best = min(outcomes, key=lambda outcome: outcome.seconds)
    priming, streaming, labelling = (
        min((run.details[part] for run in outcomes if part in run.details), default=None)
        for part in ("priming", "streaming", "labelling")
    )
    added = max(outcome.added_bytes for outcome in outcomes)
    model = best.details.get("model_bytes", 0.0)
    return [
        method,
        f"{best.seconds:.1f}",
        None if priming is None else f"{priming:.1f}",
        None if streaming is None else f"{streaming:.1f}",
        None if labelling is None else f"{labelling:.1f}",
        None if streaming is None else f"{streaming / best.details['streamed_rows'] / bound:.2f}",
        f"{added / machine.MEGABYTE:.0f}",
        f"{(best.input_bytes + added - model) / best.input_bytes:.2f}",
        f"{score[0]:.3f}",
        f"{score[1]:.3f}",
    ]


def spread(case: Case, method: str, scores: Sequence[tuple[float, float]]) -> str:
    """Return a sentence with the median and the range over the seeds."""
    ari, nmi = ([score[column] for score in scores] for column in (0, 1))
    return (
        f"{case.name}, {method}, {len(scores)} tables and seeds: ARI median {statistics.median(ari):.3f} "
        f"({min(ari):.3f} to {max(ari):.3f}), NMI median {statistics.median(nmi):.3f} "
        f"({min(nmi):.3f} to {max(nmi):.3f})."
    )


def main() -> None:
    """Parse the options, run the cases, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=[case.name for case in CASES], help="one case instead of all")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--repeats", type=int, default=3, help="runs of each timed job, the best counts")
    parser.add_argument("--seeds", type=int, default=5, help="tables of B1 for the spread of ARI and NMI")
    parser.add_argument("--quick", action="store_true", help="a tenth of the ads, one run, one seed")
    parser.add_argument("--page", default="online", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    machine.use_one_thread()
    cases = [case for case in CASES if options.only in {None, case.name}]
    repeats, b1_seeds = options.repeats, options.seeds
    if options.quick:
        cases = [Case(case.name, case.n_ads // 10, case.n_keywords, case.published) for case in cases]
        repeats = b1_seeds = 1
    lines, sentences = [], []
    for case in cases:
        seeds = b1_seeds if case.name == "B1" else 1
        case_lines, case_sentences = run_case(case, options.methods, repeats, seeds)
        lines += case_lines
        sentences += case_sentences
    sizes = [f"{case.name}: {case.n_ads:,} ads x {case.n_keywords:,} keywords, 27 an ad." for case in cases]
    page = tables.write_page(
        options.page,
        "One pass over large tables of ads",
        machine.describe(),
        [
            " ".join(sizes),
            tables.markdown(HEADER, lines),
            "\n".join(f"- {line}" for line in sentences),
            NOTES,
        ],
    )
    print(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
