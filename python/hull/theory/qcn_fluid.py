"""Fluid models of QCN and QCN-AIMD in time: delay differential equations (thesis 5.3 to 5.7, 5.19).

Units: packets, seconds, packets per second.

The reflection probability jumps between 0 and p_s where F_b crosses 0, so a high-order integrator
gains nothing. Heun's method is used with a step that divides the delay, so delayed values are
computed points. Where p_r is 0 the terms take their limits (footnote 2 of chapter 5): one increase
per 100 packets. Before time 0 the sources send at their initial rate without feedback.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hull.theory.assumptions import check_positive, require
from hull.theory.qcn import CYCLE_PACKETS, Qcn

Array = NDArray[np.float64]

STEPS_A_DELAY = 100
"""Fewest steps in one delay."""
LONGEST_STEP_S = 2e-6
"""A step well below QCN's fastest time constants, which are of the order of 100 us."""


@dataclass(frozen=True)
class Trajectory:
    """A solution of the model; all arrays have shape (n,)."""

    time: Array
    """Seconds."""
    current: Array
    """R_C, packets per second."""
    target: Array
    """R_T; for QCN-AIMD equal to R_C."""
    queue: Array
    """Packets."""

    def after(self, start_s: float) -> "Trajectory":
        """The part of the solution from a time on."""
        kept = self.time >= start_s
        return Trajectory(self.time[kept], self.current[kept], self.target[kept], self.queue[kept])


@dataclass(frozen=True)
class Fluid:
    """A model with its delay."""

    model: Qcn
    delay_s: float
    """tau, from a source to the queue and back."""
    averaging: bool = True
    """QCN; False for QCN-AIMD, which has no R_T (5.19)."""
    most_feedback: float = 64.0
    """F_b beyond which sources cut no further: G_d F_bmax = 1/2 (thesis 5.2.2)."""

    def __post_init__(self) -> None:
        check_positive("delay", self.delay_s, "thesis 5.3: tau")

    def feedback(self, current: float, queue: float) -> float:
        """F_b (5.6), packets."""
        model = self.model
        excess = model.flows * current - model.capacity_pps
        return (
            queue
            - model.equilibrium
            + model.weight / (model.capacity_pps * model.sampling) * (excess)
        )

    def derivative(
        self, current: float, target: float, before: float, feedback: float
    ) -> tuple[float, float]:
        """d/dt of R_C and R_T (5.3, 5.4, 5.19) from the delayed rate and F_b."""
        model = self.model
        if feedback > 0:
            cut = model.decrease * min(feedback, self.most_feedback)
            fall = cut * current * before * model.sampling
            increases, probes = model.eta, model.zeta
            back = (target - current) * before * model.sampling
        else:
            fall = back = 0.0
            increases = probes = 1 / CYCLE_PACKETS
        if not self.averaging:
            change = model.increase_pps * before * increases - fall
            return change, change
        return (
            (target - current) / 2 * before * increases - fall,
            model.increase_pps * before * probes - back,
        )

    def run(
        self, duration_s: float, current: float, target: float | None = None, queue: float = 0.0
    ) -> Trajectory:
        """Solve the model from an initial rate and queue."""
        require(queue >= 0, "queue", f"{queue:g} packets", "0 or more", "thesis 5.5")
        steps_a_delay = max(STEPS_A_DELAY, int(np.ceil(self.delay_s / LONGEST_STEP_S)))
        step = self.delay_s / steps_a_delay
        count = int(np.ceil(duration_s / step))
        flows, capacity = self.model.flows, self.model.capacity_pps
        rates, targets, queues = [current], [current if target is None else target], [queue]
        told = [self.feedback(current, queue)]
        for i in range(count):
            rate, aim, level = rates[i], targets[i], queues[i]
            back = i - steps_a_delay
            # The delayed values at both ends of the step; the values at time 0 count from the next
            # step on.
            before, heard = (rates[back], told[back]) if back >= 0 else (current, -1.0)
            next_before, next_heard = (
                (rates[back + 1], told[back + 1]) if back >= 0 else (current, -1.0)
            )
            slope, aim_slope = self.derivative(rate, aim, before, heard)
            filling = flows * rate - capacity
            if level <= 0:
                filling = max(filling, 0.0)
            ahead, aim_ahead = rate + step * slope, aim + step * aim_slope
            end_slope, end_aim_slope = self.derivative(ahead, aim_ahead, next_before, next_heard)
            end_filling = flows * ahead - capacity
            rate += step * (slope + end_slope) / 2
            rates.append(rate)
            targets.append(aim + step * (aim_slope + end_aim_slope) / 2)
            queues.append(max(level + step * (filling + end_filling) / 2, 0.0))
            told.append(self.feedback(rate, queues[-1]))
        time: Array = step * np.arange(count + 1, dtype=np.float64)
        return Trajectory(time, np.array(rates), np.array(targets), np.array(queues))
