"""The exact state of a model of click rates as plain arrays, and back, with every size and range checked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.foundation.checks import LARGEST
from sparsemix.foundation.errors import ModelFileError, shorten
from sparsemix.models.gamma_poisson.beta_binomial import BetaPrior
from sparsemix.models.gamma_poisson.checks import MOST_COMPONENTS
from sparsemix.models.gamma_poisson.events import KINDS, Vocabulary
from sparsemix.models.gamma_poisson.payload import Sizes, as_list, draws_in, factors_in
from sparsemix.models.gamma_poisson.rates import RateDraws, Rates
from sparsemix.persistence import Payload
from sparsemix.persistence.names import BYTES, OFFSETS, decode_names, encode_names
from sparsemix.persistence.unpacking import (
    INT,
    MOST_ROWS,
    ArrayReader,
    check_names,
    finite_number,
    plain_parameters,
    whole_number,
)

METADATA = {"prior_clicks", "prior_impressions", "smoothing", "n_mended", "n_components", "n_draws"}
METADATA |= {"n_users", "n_ads", "users_are", "ads_are"}
TEXT, NUMBER = "text", "number"


def pack(kind: str, parameters: dict[str, Any], rates: Rates) -> Payload:
    """Everything that predictions need."""
    users, features = rates.factors
    metadata = {
        "prior_clicks": rates.prior.clicks,
        "prior_impressions": rates.prior.impressions,
        "smoothing": rates.smoothing,
        "n_mended": rates.n_mended,
        "n_components": users.shape[1],
        "n_draws": 0 if rates.draws is None else len(rates.draws.ad_rates),
        "n_users": len(rates.users),
        "n_ads": len(rates.ads),
        "users_are": _kind_of(rates.users),
        "ads_are": _kind_of(rates.ads),
    }
    arrays = {"users": users, "features": features, "ad_rates": rates.ad_rates}
    arrays |= _pack_ids("user_ids", rates.users) | _pack_ids("ad_ids", rates.ads)
    if rates.draws is not None:
        arrays |= {
            "user_draws": rates.draws.factors.users,
            "feature_draws": rates.draws.factors.features,
            "ad_rate_draws": rates.draws.ad_rates,
        }
    stored = {name: as_list(value) for name, value in plain_parameters(parameters).items()}
    return Payload(kind, stored, metadata, arrays)


def _kind_of(vocabulary: Vocabulary) -> str:
    return TEXT if vocabulary.ids.dtype.kind == "U" else NUMBER


def _pack_ids(name: str, vocabulary: Vocabulary) -> dict[str, NDArray[Any]]:
    if _kind_of(vocabulary) == NUMBER:
        return {name: vocabulary.ids}
    encoded = encode_names(vocabulary.ids.astype(object))
    return {f"{name}_bytes": encoded[BYTES], f"{name}_offsets": encoded[OFFSETS]}


def _unpack_ids(reader: ArrayReader, name: str, kind: object, n_ids: int) -> Vocabulary:
    """Ids as they were, sorted and different."""
    if kind == NUMBER:
        ids: NDArray[Any] = reader.take(name, INT, n_ids)
    elif kind == TEXT:
        text = reader.take(f"{name}_bytes", np.dtype("u1"), None)
        decoded = decode_names({BYTES: text, OFFSETS: reader.pointers(f"{name}_offsets", n_ids + 1)})
        ids = np.array([] if decoded is None else decoded.tolist(), dtype=str)
    else:
        raise ModelFileError(f"its ids are {shorten(kind)}")
    if ids.size != n_ids or np.any(ids[1:] <= ids[:-1]):
        raise ModelFileError("its ids are not sorted, or not different")
    return Vocabulary(ids)


def unpack(stored: Payload) -> Rates:
    """Build the rates, or raise ModelFileError for whatever does not fit."""
    metadata = stored.metadata
    check_names(metadata, METADATA, "metadata")
    prior = BetaPrior(*(finite_number(metadata, name) for name in ("prior_clicks", "prior_impressions")))
    smoothing, n_mended = (finite_number(metadata, name) for name in ("smoothing", "n_mended"))
    n_users, n_ads, n_draws = (
        whole_number(metadata, f"n_{name}", MOST_ROWS) for name in ("users", "ads", "draws")
    )
    n_components = whole_number(metadata, "n_components", MOST_COMPONENTS)
    if (
        not 0.0 < prior.clicks < prior.impressions <= LARGEST
        or not 0.0 < smoothing <= LARGEST
        or n_mended < 0.0
    ):
        raise ModelFileError("it has smoothing counts that cannot be")
    reader = ArrayReader(stored.arrays)
    sizes = Sizes(n_users, len(KINDS) * n_ads, n_components, n_draws)
    factors = factors_in(reader, sizes)
    own, draws = reader.positive("ad_rates", n_ads + 1), None
    users = _unpack_ids(reader, "user_ids", metadata["users_are"], n_users)
    ads = _unpack_ids(reader, "ad_ids", metadata["ads_are"], n_ads)
    if n_draws:
        draws = RateDraws(
            draws_in(reader, sizes), reader.positive("ad_rate_draws", n_draws, n_ads + 1, zero=True)
        )
    reader.close()
    if not n_users or not n_ads or not n_components or own.max() > 1.0 or np.any(factors.users > LARGEST):
        raise ModelFileError("it holds no users or ads, or rates that cannot be")
    return Rates(users, ads, prior, own, smoothing, factors, n_mended, draws)
