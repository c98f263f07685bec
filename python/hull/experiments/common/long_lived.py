"""Long-lived flows into one host: variants by number of flows, and estimates over these numbers.

Host 0 is the receiver, host 1 sends the probes, the others send flows: S5, S1 and the rest of the
testbed of paper 5.2.
"""

from collections.abc import Iterable, Sequence
from statistics import fmean

from hull.experiments.common.experiment import Variant
from hull.experiments.common.measured import Estimate, Reader, Results


def senders(count: int) -> str:
    """The override for this many flows, each from its own host."""
    return f'workload.long_lived.flows=[{{src="2-{count + 1}",dst=0}}]'


def counts(
    flows: Iterable[int],
    overrides: tuple[str, ...] = (),
    schemes: tuple[str, ...] | None = None,
) -> tuple[Variant, ...]:
    """A variant for each number of flows, named by the number."""
    return tuple(
        Variant({"": str(count)}, overrides=(senders(count), *overrides), schemes=schemes)
        for count in flows
    )


def over(results: Results, conditions: Iterable[str], scheme: str, read: Reader) -> Estimate | None:
    """Mean over several conditions, without an interval."""
    found = [results.estimate(condition, scheme, read) for condition in conditions]
    values = [estimate.mean for estimate in found if estimate is not None]
    return Estimate(fmean(values), None) if values else None


def series(results: Results, conditions: Sequence[str], scheme: str, read: Reader) -> list[float]:
    """The mean of each of several conditions, in order."""
    return [results.mean(condition, scheme, read) for condition in conditions]
