"""The one warning about rows of which a model knows nothing."""

import warnings

from sparsemix.foundation.errors import UnknownFeaturesWarning


def warn_of_unknown_rows(n_unknown: int, n_rows: int) -> None:
    """Warn, on behalf of whoever called the method that asks."""
    warnings.warn(
        f"{n_unknown:,} of {n_rows:,} rows hold features, but none that the model knows: answers "
        f"for them are hardly more than a guess. unknown_rows(X) says which they are.",
        UnknownFeaturesWarning,
        stacklevel=4,
    )
