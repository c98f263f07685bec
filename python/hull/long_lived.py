"""Long-lived flows on the testbed of paper 5.2: how many there are, and estimates over their counts.

Host 0 is the receiver S5, host 1 sends the probes of the latency meter, the others send flows.
"""

from collections.abc import Iterable, Sequence
from statistics import fmean

from hull.experiment import Variant
from hull.measured import Estimate, Reader, Results


def counts(flows: Iterable[int], **variant: tuple[str, ...]) -> tuple[Variant, ...]:
    """A variant for each number of flows, each from a host of its own, named by the number."""
    keys = variant.pop("overrides", ())
    return tuple(
        Variant(
            {"": str(count)},
            overrides=(f'workload.long_lived.flows=[{{src="2-{count + 1}",dst=0}}]', *keys),
            **variant,
        )
        for count in flows
    )


def over(results: Results, conditions: Iterable[str], scheme: str, read: Reader) -> Estimate | None:
    """Mean over several conditions, without an interval."""
    found = [results.estimate(condition, scheme, read) for condition in conditions]
    values = [estimate.mean for estimate in found if estimate is not None]
    return Estimate(fmean(values), None) if values else None


def series(results: Results, conditions: Sequence[str], scheme: str, read: Reader) -> list[float]:
    """The means of several conditions, in their order."""
    return [results.mean(condition, scheme, read) for condition in conditions]
