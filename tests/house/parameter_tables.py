"""Tables of parameters in the guides: their defaults are those of the code.

``python tests/house/parameter_tables.py`` writes the defaults into the pages anew.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sparsemix import (
    BernoulliMixture,
    ClickRateModel,
    GammaPoissonFactors,
    HashedGibbsMixture,
    MultinomialMixture,
    OnlineBernoulliMixture,
)

GUIDES = Path(__file__).parents[2] / "docs" / "guide"
TABLES = {
    GUIDES / "online_mixture.md": [OnlineBernoulliMixture],
    GUIDES / "em_mixtures.md": [MultinomialMixture, BernoulliMixture],
    GUIDES / "hashed_gibbs.md": [HashedGibbsMixture],
    GUIDES / "click_rates.md": [GammaPoissonFactors, ClickRateModel],
}
ROW = re.compile(r"^\| `(?P<name>\w+)` \| (?P<cell>[^|]+?) \|", re.MULTILINE)


def defaults_of(models: Sequence[type]) -> dict[str, str]:
    """Parameters of the models, and what the table shows for each."""
    found: dict[str, dict[str, str]] = {}
    for model in models:
        for name, value in model().get_params().items():
            text = json.dumps(value) if isinstance(value, str) else str(value)
            found.setdefault(name, {})[model.__name__] = text
    return {name: _cell(texts) for name, texts in found.items()}


def _cell(texts: Mapping[str, Any]) -> str:
    """The one default; where models differ, that of each."""
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return ", ".join(f"{text} ({model})" for model, text in texts.items())


def names_in(page: str) -> list[str]:
    """The parameters that the page's table has."""
    return [row["name"] for row in ROW.finditer(page)]


def with_fresh_defaults(page: str, defaults: Mapping[str, str]) -> str:
    """The page with the defaults as they are now; what a cell says after a default and a colon stays with it."""

    def fresh(row: re.Match[str]) -> str:
        default = defaults.get(row["name"], row["cell"])
        is_fresh = row["cell"] == default or row["cell"].startswith(f"{default}: ")
        return row[0] if is_fresh else f"| `{row['name']}` | {default} |"

    return ROW.sub(fresh, page)


if __name__ == "__main__":
    for path, models in TABLES.items():
        path.write_text(with_fresh_defaults(path.read_text("utf-8"), defaults_of(models)), "utf-8")
