"""The steps of the demo: each says what it does and which command does it on the user's own file."""

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sparsemix.cli.blocks import BLOCK_ROWS, cut
from sparsemix.cli.console import show
from sparsemix.cli.demo.ads import make_demo_ads
from sparsemix.cli.demo.topics import TOPICS
from sparsemix.cli.learning import learn
from sparsemix.cli.outputs import check_model_output, check_output, check_page_output, make_folder
from sparsemix.cli.profiles import describe_profile, profile_table
from sparsemix.cli.progress import waiting
from sparsemix.cli.results import describe_clusters
from sparsemix.cli.suggesting import answer
from sparsemix.cli.tables import clusters_table, suggestions_table

if TYPE_CHECKING:
    from sparsemix.data import Dataset

N_COMPONENTS = len(TOPICS)
KEYWORD, MEANT, NOT_MEANT = "python", "programming courses", "reptiles and aquariums"


class Files(NamedTuple):
    """What the demo writes."""

    ads: Path
    model: Path
    report: Path


def prepare(folder: Path) -> Files:
    """Return the files to write in `folder`, which is made when it is missing.

    Raises
    ------
    ParameterError
        When a file that the demo cannot have written is in the way.
    """
    make_folder(folder)
    files = Files(folder / "demo_ads.csv", folder / "demo_ads.smx", folder / "report.html")
    check_output(files.ads)
    check_model_output(files.model)
    check_page_output(files.report)
    return files


def write_ads(files: Files, n_ads: int, seed: int, quiet: bool) -> "Dataset":
    """Make up the ads, write them, read them back and show what is in them."""
    from sparsemix.data import read_table

    _headline(1, f"Making up {n_ads:,} ads of {len(TOPICS)} trades", "")
    make_demo_ads(n_ads, seed).write_csv(files.ads)
    show(f"They are in {files.ads}: one line for each ad and keyword, as an export of your ads might be.")
    _headline(2, "Looking at the table", shlex.join(["sparsemix", "profile", str(files.ads)]))
    with waiting("Reading", quiet=quiet):
        dataset = read_table(files.ads, row="ad_id", feature="keyword", group="advertiser")
    show(profile_table(describe_profile(dataset)))
    return dataset


def fit(files: Files, dataset: "Dataset", seed: int, quiet: bool) -> Any:
    """Learn the clusters in one pass, save the model and show them."""
    from sparsemix.model_io import save_model
    from sparsemix.models.online_profiles import OnlineBernoulliMixture

    command = [
        "sparsemix",
        "fit",
        str(files.ads),
        "-o",
        str(files.model),
        "-k",
        str(N_COMPONENTS),
        "--clutter",
    ]
    _headline(
        3,
        "Learning clusters in one pass; the model is told their number, not what they are",
        shlex.join(command),
    )
    start = time.perf_counter()
    model = OnlineBernoulliMixture(N_COMPONENTS, clutter=True, binarize=0.0, random_state=seed)
    learn(model, cut([dataset], [BLOCK_ROWS]), total=len(dataset), quiet=quiet)
    save_model(model.prime(), files.model)
    show(f"Learnt in {time.perf_counter() - start:.1f} seconds; the model is in {files.model}.", "")
    show(clusters_table(describe_clusters(model, 5)))
    return model


def suggest(files: Files, model: Any) -> None:
    """Suggest keywords for an ad with a word of two meanings, take an answer, and suggest again."""
    command = ["sparsemix", "suggest", str(files.model), "-n", "8", "--keyword", KEYWORD]
    _headline(4, f"Suggesting keywords for an ad that has only {KEYWORD!r}", shlex.join(command))
    found = answer(model, [KEYWORD], [], n=8)
    show(suggestions_table(found))
    good = _first_of(found, MEANT)
    bad = _first_of([each for each in reversed(found) if each["keyword"] != good], NOT_MEANT)
    command += ["--keyword", good, "--reject", bad]
    _headline(5, f"The advertiser takes {good!r} and turns down {bad!r}", shlex.join(command))
    show(suggestions_table(answer(model, [KEYWORD, good], [bad], n=8)))


def report(files: Files, model: Any, dataset: "Dataset") -> None:
    """Write the page."""
    from sparsemix.reporting import summarize_model, write_report

    command = ["sparsemix", "report", str(files.model), str(files.ads), "-o", str(files.report)]
    command += ["--title", "Demo ads", "--row-noun", "ads"]
    _headline(6, "Writing the report", shlex.join(command))
    write_report(files.report, summarize_model(model, dataset, title="Demo ads", row_noun="ads"))
    show(
        f"Open {files.report} in a browser: clusters, keywords with intervals, how sure the assignments are."
    )


def what_next(files: Files) -> None:
    """Say how to go on."""
    show(
        "",
        "Now with your own table, one line for each ad and keyword (CSV, Parquet, JSONL ...):",
        "  sparsemix profile your_ads.csv",
        "  sparsemix fit your_ads.csv -o your_ads.smx",
        "  sparsemix clusters your_ads.smx",
        "  sparsemix suggest your_ads.smx --keyword 'one of your keywords'",
        f"Or ask this one:  sparsemix suggest {shlex.quote(str(files.model))} --keyword 'window cleaning'",
    )


def _headline(number: int, text: str, command: str) -> None:
    from rich.text import Text

    show(
        "",
        Text(f"{number}. {text}", style="bold"),
        *([Text(f"   {command}", style="dim")] if command else []),
    )


def _first_of(suggestions: list[dict[str, Any]], topic: str) -> str:
    """Return the first keyword of a topic, or the first of all."""
    names = [str(each["keyword"]) for each in suggestions]
    return next((name for name in names if name in TOPICS[topic]), names[0])
