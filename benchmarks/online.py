"""Whole jobs on two large tables of ads: time, memory and quality, beside the bare cost of scoring.

Run ``python benchmarks/online.py``; it writes ``benchmarks/results/online.md``. ``--only B1`` does one case,
``--quick`` a tenth of the ads once. Every job runs in a fresh process with one thread, after compiling on a few
other rows; the processes run one after the other.
"""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from harness import jobs, machine, tables
from sparsemix.data.synthetic import make_ads

N_COMPONENTS = 100
LEARNER, KMEANS, EM = "sparsemix, one pass", "MiniBatchKMeans", "EM to convergence"
METHODS = {LEARNER: jobs.run_learner, KMEANS: jobs.run_minibatch_kmeans, EM: jobs.run_em}
HEADER = (
    "case",
    "method",
    "whole job (s)",
    "its CPU (s)",
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
over all {N_COMPONENTS} clusters in float32) and learns nothing. "Streaming / bound" is the median over pairs: in one
process the bound is timed, then streaming, then the bound again, all on the rows that follow the priming, in
seconds of the processor, which do not count the time that other programs have it; each pair divides streaming by
the mean of the two bounds beside it. Checking the rows counts as streaming there. The other times are of whole
jobs in processes of their own, by the clock, the best of the runs (EM runs once); "its CPU" is what the processor
spent on the same run, one thread. "Peak above input" is the most memory such a process held beyond what it had
when the rows were loaded. ARI and NMI are over the ads that are no clutter, of the first run. The published
figures are for tables of this size on a machine of their time, and no true clusters were known there."""


@dataclass(frozen=True)
class Case:
    """A generated table and what was published for its size."""

    name: str
    n_ads: int
    n_keywords: int
    published: str


@dataclass(frozen=True)
class Runs:
    """How often things are measured.

    repeats : whole jobs of each method but EM; pairs : of streaming and bound; seeds : tables
    """

    repeats: int
    pairs: int
    seeds: int


CASES = (
    Case("B1", 207_000, 2_000, "1 hour"),
    Case("B2", 1_300_000, 73_000, "7 hours, in parallel"),
)


def generate(folder: Path, case: Case, seed: int) -> None:
    """Store the case's table in `folder`."""
    jobs.save_rows(folder, *make_ads(case.n_ads, case.n_keywords, N_COMPONENTS, random_state=seed))


def run_case(case: Case, methods: Sequence[str], runs: Runs) -> tuple[list[list[object]], list[str]]:
    """Return the table's lines of one case and sentences on the bound, the load and the spread over seeds."""
    lines, sentences, loads = [], [], [machine.load()]
    scores: dict[str, list[tuple[float, float]]] = {name: [] for name in methods}
    for seed in range(runs.seeds):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            jobs.in_new_process(generate, folder, case, seed)
            truth = np.load(folder / "assignments.npy")
            for method in methods:
                n_runs = runs.repeats if seed == 0 and method != EM else 1
                arguments = (jobs.measure, METHODS[method], folder, N_COMPONENTS, seed)
                outcomes = [jobs.in_new_process(*arguments) for _ in range(n_runs)]
                scores[method].append(agreement(truth, outcomes[0].assignments))
                loads.append(machine.load())
                if seed > 0:
                    continue
                pairs = measure_pairs(folder, case, outcomes[0], runs.pairs) if method == LEARNER else []
                lines += [describe_bound(case, pairs)] if pairs else []
                lines.append([case.name, *describe(method, outcomes, pairs, scores[method][0])])
                sentences += told(case, method, outcomes, pairs)
                print(tables.markdown(HEADER, lines[-1:]), flush=True)
    if runs.seeds > 1:
        sentences += [spread(case, method, scores[method]) for method in methods]
    sentences.append(
        f"{case.name}: the load average was {min(loads):.1f} to {max(loads):.1f} between the jobs; the benchmark "
        f"alone makes it 1.0."
    )
    lines.append([case.name, "published figure", case.published, *[None] * 9])
    return lines, sentences


def measure_pairs(folder: Path, case: Case, outcome: jobs.Outcome, n_pairs: int) -> list[jobs.Pair]:
    """Measure streaming and the bound in turn, in one process, after as many priming rows as `outcome` had."""
    n_priming = case.n_ads - int(outcome.details["streamed_rows"])
    return jobs.in_new_process(jobs.measure_pairs, folder, N_COMPONENTS, 0, n_priming, n_pairs)


def describe_bound(case: Case, pairs: Sequence[jobs.Pair]) -> list[object]:
    """Return the table line of the bound, the median over the pairs, for as many rows as the case has."""
    seconds = statistics.median(pair.bound for pair in pairs) * case.n_ads / pairs[0].n_rows
    return [case.name, "bound: scoring only", None, f"{seconds:.2f}", *[None] * 8]


def told(case: Case, method: str, outcomes: Sequence[jobs.Outcome], pairs: Sequence[jobs.Pair]) -> list[str]:
    """Return what there is to say about a method's runs beside its table line."""
    sentences = []
    if pairs:
        ratios = [pair.ratio for pair in pairs]
        best = min(pair.streaming for pair in pairs) / min(pair.bound for pair in pairs)
        row = statistics.median(pair.bound for pair in pairs) / pairs[0].n_rows
        sentences.append(
            f"{case.name}: streaming / bound over {len(pairs)} pairs: median {statistics.median(ratios):.2f} "
            f"({min(ratios):.2f} to {max(ratios):.2f}); fastest streaming over fastest bound {best:.2f}. "
            f"The bound is {row * 1e6:.2f} microseconds of CPU a row."
        )
    if len(outcomes) > 1:
        seconds = [outcome.seconds for outcome in outcomes]
        sentences.append(
            f"{case.name}, {method}: whole job {min(seconds):.1f} to {max(seconds):.1f} s over {len(seconds)} runs."
        )
    if "n_sweeps" in outcomes[0].details:
        sentences.append(f"{case.name}, {method}: {outcomes[0].details['n_sweeps']:.0f} sweeps.")
    return sentences


def agreement(truth: np.ndarray, assignments: np.ndarray) -> tuple[float, float]:
    """Return ARI and NMI over the ads that are no clutter."""
    kept = truth >= 0
    return (
        adjusted_rand_score(truth[kept], assignments[kept]),
        normalized_mutual_info_score(truth[kept], assignments[kept]),
    )


def describe(
    method: str, outcomes: Sequence[jobs.Outcome], pairs: Sequence[jobs.Pair], score: tuple[float, float]
) -> list[object]:
    """Return a table line: the fastest run's times, the largest memory, the median ratio of the pairs."""
    best = min(outcomes, key=lambda outcome: outcome.seconds)
    parts = (best.details.get(part) for part in ("priming", "streaming", "labelling"))
    added = max(outcome.added_bytes for outcome in outcomes)
    model = best.details.get("model_bytes", 0.0)
    return [
        method,
        f"{best.seconds:.1f}",
        f"{best.cpu_seconds:.1f}",
        *(None if seconds is None else f"{seconds:.1f}" for seconds in parts),
        f"{statistics.median(pair.ratio for pair in pairs):.2f}" if pairs else None,
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
    parser.add_argument("--repeats", type=int, default=3, help="runs of each whole job, the best counts")
    parser.add_argument(
        "--pairs", type=int, default=5, help="turns of streaming and bound, the median counts"
    )
    parser.add_argument("--seeds", type=int, default=5, help="tables of B1 for the spread of ARI and NMI")
    parser.add_argument("--quick", action="store_true", help="a tenth of the ads, one run, one seed")
    parser.add_argument("--page", default="online", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    machine.use_one_thread()
    cases = [case for case in CASES if options.only in {None, case.name}]
    runs = Runs(options.repeats, options.pairs, options.seeds)
    if options.quick:
        cases = [replace(case, n_ads=case.n_ads // 10) for case in cases]
        runs = Runs(1, 1, 1)
    lines, sentences = [], []
    for case in cases:
        case_lines, case_sentences = run_case(
            case, options.methods, runs if case.name == "B1" else replace(runs, seeds=1)
        )
        lines += case_lines
        sentences += case_sentences
    sizes = [f"{case.name}: {case.n_ads:,} ads x {case.n_keywords:,} keywords, 27 an ad." for case in cases]
    page = tables.write_page(
        options.page,
        f"One pass over large tables of ads: {' and '.join(case.name for case in cases)}",
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
