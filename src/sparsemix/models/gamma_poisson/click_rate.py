"""The public class of click-through rates."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sparsemix.answers.suggestions import listed_values
from sparsemix.foundation.checks import at_least, callable_or_none, level, one_of
from sparsemix.foundation.errors import DataError, ParameterError, parameter_error
from sparsemix.models.gamma_poisson import calibration, checks, rate_fitting, rate_payload, rate_run_payload
from sparsemix.models.gamma_poisson.calibration import RateReport
from sparsemix.models.gamma_poisson.estimator import GammaPoissonFactors
from sparsemix.models.gamma_poisson.events import (
    Columns,
    Records,
    Vocabulary,
    as_records,
    cells_of,
    check_columns,
    ids_of,
)
from sparsemix.models.gamma_poisson.fitted import Resumable, shown
from sparsemix.models.gamma_poisson.learning import Progress
from sparsemix.models.gamma_poisson.rate_fitting import Run, Seen
from sparsemix.models.gamma_poisson.rates import Rates, drawn, predicted
from sparsemix.models.gamma_poisson.runs import Settings
from sparsemix.models.gamma_poisson.state import FloatVector, IntVector
from sparsemix.numeric.seeds import seed_of
from sparsemix.persistence import Payload, unpacking
from sparsemix.persistence.unfinished import without_run

MOST_BINS = 10**9


class RankedAd(NamedTuple):
    """An ad with its predicted click rate and, with "gibbs", the ends of its credible interval (else NaN)."""

    ad: Any
    rate: float
    low: float
    high: float


class ClickRateModel(Resumable, BaseEstimator):  # type: ignore[misc]  # scikit-learn's base classes have no types
    """Click-through rate of a user on an ad: expected clicks over expected impressions, smoothed by the ad's own rate.

    The rate is ``(clicks + m p) / (impressions + m)``: clicks and impressions are those that `GammaPoissonFactors`
    expects of the user on the ad, p is the ad's own smoothed rate ``(clicks + a) / (impressions + b)`` over all users,
    and m is `smoothing`. The more the factors know of a user, the more the answer is about that user.

    Parameters
    ----------
    n_components, solver, shape, rate, feature_concentration, max_iter, n_sweeps, burn_in, thin, n_chains
        Of the factors; see `GammaPoissonFactors`. Intervals need "gibbs".
    smoothing : "held-out" or float > 0, default="held-out"
        Impressions that the ad's own rate counts for. "held-out" sets a fifth of the pairs aside, learns factors
        without them (by "map", if `solver` is "gibbs") and takes the largest number whose log loss on their clicks is
        at most a standard error above the lowest, so that chance in few clicks does not speak for factors.
    user, ad, event, count : str, default="user", "ad", "event", "count"
        Columns of the event table. `event` holds "impression", "click" or "conversion". `count` may be None, and may be
        missing under its default name: then each record is one event.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
    warm_start : bool, default=False
        Go on with a `fit` that was interrupted, to the same bits as without; events and parameters must be the same,
        but for `max_iter` and `n_jobs`.

    Attributes
    ----------
    users_, ads_ : ndarray
        Ids that were learnt, sorted.
    ad_rates_ : (n_ads,) ndarray
        The ads' own smoothed rates.
    prior_clicks_, prior_impressions_ : float
        a and b, by maximum likelihood of a beta-binomial over all ads.
    smoothing_ : float
        m as it was given or chosen.
    is_complete_, n_sweeps_done_, has_intervals_
        Whether the fit came to its end, how many sweeps it has made if not, and whether there are intervals.
    n_clicks_without_impressions_ : float
        Clicks that no impression of the same user and ad went before; each was counted as an impression too.

    Notes
    -----
    Defined answers: a user without history, or not known, gets the ad's own rate. An ad without impressions, or not
    known, has the own rate a / b. Impressions without clicks lower a rate, and clicks without impressions are
    impressions too.
    Ids are text or whole numbers, and 7 is not "7".

    Examples
    --------
    >>> import sparsemix as sm
    >>> events = {
    ...     "user": ["ann", "ann", "bob", "bob", "cid"],
    ...     "ad": ["tea", "tea", "tea", "car", "car"],
    ...     "event": ["impression", "click", "impression", "impression", "impression"],
    ...     "count": [10, 4, 10, 20, 5],
    ... }
    >>> model = sm.ClickRateModel(n_components=2, smoothing=10.0, random_state=0).fit(events)
    >>> ann, bob, dan = model.predict(["ann", "bob", "dan"], ["tea", "tea", "tea"])
    >>> bool(ann > dan > bob)
    True
    >>> bool(dan == model.ad_rates_[list(model.ads_).index("tea")])
    True
    """

    model_kind: ClassVar[str] = "click-rate-model"
    _rates: Rates
    _run: Run | None = None

    def __init__(
        self,
        n_components: int = 10,
        *,
        solver: str = "map",
        shape: float | Sequence[float] = 1.1,
        rate: float | Sequence[float] = 0.01,
        feature_concentration: float = 0.1,
        smoothing: str | float = "held-out",
        user: str = "user",
        ad: str = "ad",
        event: str = "event",
        count: str | None = "count",
        max_iter: int = 500,
        n_sweeps: int = 200,
        burn_in: int = 100,
        thin: int = 2,
        n_chains: int = 1,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.shape = shape
        self.rate = rate
        self.feature_concentration = feature_concentration
        self.smoothing = smoothing
        self.user = user
        self.ad = ad
        self.event = event
        self.count = count
        self.max_iter = max_iter
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.thin = thin
        self.n_chains = n_chains
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start

    def fit(
        self,
        events: Any,
        y: object = None,  # noqa: ARG002
        *,
        on_sweep: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Learn from an event table.

        Parameters
        ----------
        events : data frame (pandas, polars, Arrow) or mapping of column names to vectors
            A record for each user, ad and kind of event; several of the same add up.
        y : ignored
        on_sweep : callable, optional
            Told a `Progress` after each sweep, of the choice of the smoothing first; what it raises ends the fit. An
            interrupted fit keeps what it has so far, see `is_complete_`.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            If a parameter breaks its rule.
        DataError
            If a column is missing or holds what it must not, or there are no events, or if a warm start is given others
            than the fit that was interrupted.
        """
        owner = type(self).__name__
        rate_fitting.check_alone(self)
        callable_or_none("on_sweep", owner, on_sweep)
        records = self._records(events)
        if not records.counts.sum():
            raise DataError(f"'events' of {owner} must hold at least one event, but all counts are zero.")
        users, ads = Vocabulary(np.unique(records.user)), Vocabulary(np.unique(records.ad))
        seen = Seen(users, ads, cells_of(records, users, ads))
        run = rate_fitting.run_of(self, self._run, getattr(self, "_rates", None), seen)
        try:
            self._adopt(rate_fitting.learn(seen, run, self._new_factors, on_sweep))
        except BaseException:
            if run.has_begun():
                self._adopt(rate_fitting.so_far(seen, run), run)
            raise
        return self

    @property
    def has_intervals_(self) -> bool:
        """Whether `predict_interval` answers: with "gibbs", unless the fit was interrupted before its chains."""
        return self._opened().draws is not None

    def predict(self, users: Any, ads: Any) -> FloatVector:
        """Click rates of pairs of a user and an ad, by id, known or not; (n_pairs,).

        O(n_pairs x n_components), for each draw with "gibbs". DataError if the two differ in length.
        """
        rates = self._asked()
        return predicted(rates, *self._pairs(users, ads))

    def predict_interval(
        self, users: Any, ads: Any, *, level: float = 0.95
    ) -> tuple[FloatVector, FloatVector]:
        """Ends of the credible intervals of click rates, twice (n_pairs,); with "gibbs" alone.

        Parameters
        ----------
        users, ads : (n_pairs,) ids
        level : float in (0, 1), default=0.95
            Mass of the intervals. They are quantiles over the draws, in which the ad's own rate is uncertain too.

        Raises
        ------
        ParameterError
            If the model was learnt by another solver.
        """
        rates = self._asked()
        _check_level(level)
        if rates.draws is None and self.solver == "gibbs":
            raise ParameterError(
                "there are no intervals, because the fit was interrupted before its chains. Go on with it: fit with "
                "warm_start=True."
            )
        if rates.draws is None:
            rule = "'gibbs' for intervals"
            raise parameter_error(
                "solver", type(self).__name__, rule, self.solver, "Fit with solver='gibbs'."
            )
        found = drawn(rates, rates.draws, *self._pairs(users, ads))
        low, high = np.quantile(found, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
        return low, high

    def rank(
        self,
        user: Any,
        n: int = 10,
        *,
        by: str = "mean",
        level: float = 0.9,
        among: Iterable[Any] | None = None,
    ) -> list[RankedAd]:
        """The ads with the highest click rates for a user.

        Parameters
        ----------
        user : id
        n : int, default=10
        by : {"mean", "lower"}, default="mean"
            "lower" sorts by the lower end of the interval, so that ads of which little is known come late ("gibbs").
        level : float in (0, 1), default=0.9
            Mass of the intervals.
        among : iterable of ids, optional
            Only these ads, known or not; all known ones by default.

        Returns
        -------
        list of RankedAd
            Best first, equals in the order of `among` or `ads_`.
        """
        rates = self._asked()
        at_least("n", "rank", n, 1)
        one_of("by", "rank", by, ("mean", "lower"))
        _check_level(level)
        ads = rates.ads.ids
        if among is not None:
            ads = ids_of(listed_values(among, "among", "rank", "a sequence of ads"), "among", "rank")
        own = ids_of(user, "user", "rank")
        if own.size != 1:
            raise parameter_error("user", "rank", "one id", user)
        users = np.repeat(own, ads.size)
        mean = self.predict(users, ads)
        low = high = np.full(ads.size, np.nan)
        if rates.draws is not None or by == "lower":
            low, high = self.predict_interval(users, ads, level=level)
        best = np.argsort(-(mean if by == "mean" else low), kind="stable")[:n]
        return [RankedAd(ads[j].item(), float(mean[j]), float(low[j]), float(high[j])) for j in best]

    def evaluate(self, events: Any, *, n_bins: int = 10) -> RateReport:
        """How good the rates are on events that were not learnt.

        Parameters
        ----------
        events : as in `fit`
        n_bins : int, default=10
            Bins of the calibration table.

        Returns
        -------
        RateReport
            Log loss, AUC and calibration, beside log loss and AUC of the ad's own rate as the floor.

        Raises
        ------
        DataError
            If there are no impressions.
        """
        rates = self._asked()
        at_least("n_bins", "evaluate", n_bins, 1, most=MOST_BINS)
        cells = cells_of(self._records(events), rates.users, rates.ads)
        cells = cells.take(cells.impressions > 0.0)
        if not cells.user.size:
            raise DataError("'events' of evaluate must hold impressions or clicks. Add some.")
        what = (cells.clicks, cells.impressions)
        found, floor = predicted(rates, cells.user, cells.ad), rates.ad_rates[cells.ad]
        return RateReport(
            float(cells.impressions.sum()),
            float(cells.clicks.sum()),
            calibration.log_loss(*what, found),
            calibration.auc(*what, found),
            calibration.log_loss(*what, floor),
            calibration.auc(*what, floor),
            calibration.calibration(*what, found, int(n_bins)),
        )

    def to_payload(self) -> Payload:
        """The exact state for a model file, with ids and draws, and an interrupted fit."""
        stored = rate_payload.pack(self.model_kind, self.get_params(), self._asked())
        return stored if self._run is None else rate_run_payload.added(stored, self._run)

    @classmethod
    def from_payload(cls, stored: Payload) -> Self:
        """The model that `to_payload` packed; ModelFileError if anything does not fit."""
        model = cls(**unpacking.parameters_of(stored, cls))
        rates = rate_payload.unpack(without_run(stored))
        model._adopt(rates, rate_run_payload.unpack(stored, model.get_params(), rates))
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_rates")

    def _asked(self) -> Rates:
        check_is_fitted(self)
        return self._rates

    def _opened(self) -> Rates:
        """The rates; AttributeError, as Python has it for missing attributes, before there are any."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} has not learnt any events yet: call fit")
        return self._rates

    def _adopt(self, rates: Rates, run: Run | None = None) -> None:
        self._rates, self._run = rates, run
        told = rates.users.ids, rates.ads.ids, rates.ad_rates[:-1]
        self.users_, self.ads_, self.ad_rates_ = map(shown, told)
        self.prior_clicks_, self.prior_impressions_ = rates.prior
        self.smoothing_, self.n_clicks_without_impressions_ = rates.smoothing, rates.n_mended

    def _records(self, events: Any) -> Records:
        return as_records(events, self._columns(), type(self).__name__)

    def _columns(self) -> Columns:
        return Columns(self.user, self.ad, self.event, self.count)

    def _pairs(self, users: Any, ads: Any) -> tuple[IntVector, IntVector]:
        user, ad = ids_of(users, "users", "predict"), ids_of(ads, "ads", "predict")
        if user.size != ad.size:
            raise DataError(
                f"'ads' of predict must be as many as 'users', {user.size}, but there are {ad.size}."
            )
        return self._rates.users.numbers(user), self._rates.ads.numbers(ad)

    def _new_settings(self) -> Settings:
        """Check all parameters, as far as that goes without events."""
        rate_fitting.check_alone(self)
        check_columns(self._columns(), type(self).__name__)
        seed = seed_of(self.random_state, type(self).__name__)
        return checks.settings_of(self._new_factors(self.solver).set_params(random_state=seed))

    def _new_factors(self, solver: str) -> GammaPoissonFactors:
        names = (
            "shape",
            "rate",
            "feature_concentration",
            "max_iter",
            "n_sweeps",
            "burn_in",
            "thin",
            "n_chains",
        )
        given = {name: getattr(self, name) for name in (*names, "n_jobs")}
        return GammaPoissonFactors(self.n_components, solver=solver, **given)


def _check_level(value: float) -> None:
    level(value, "ClickRateModel")
