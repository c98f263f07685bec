"""NewReno and DCTCP reimplemented in Python from RFC 5681, RFC 3168 and thesis 2.2.1."""

import hull

ONE = 1 << 30


class NewReno(hull.CongestionControl):
    def __init__(self) -> None:
        self.reduced_until = -1

    def on_ack(self, window: hull.Window, ack: hull.Ack) -> bool:
        if ack.ece and ack.una > self.reduced_until and not ack.after_loss:
            self.reduced_until = ack.nxt
            window.reduce_to(window.cwnd // 2)
            return True
        if ack.may_grow and not ack.ece:
            window.grow(ack.acked)
        return False


class Dctcp(hull.CongestionControl):
    """Alpha in fixed point, as in hull, so that results are bit-identical."""

    dctcp_echo = True
    g = ONE // 16

    def __init__(self) -> None:
        self.estimate = ONE
        self.alpha = 1.0
        self.acked = self.marked = self.window_end = 0
        self.recover = -1

    def on_ack(self, window: hull.Window, ack: hull.Ack) -> bool:
        self.acked += ack.acked
        self.marked += ack.acked if ack.ece else 0
        if ack.una > self.window_end:
            self.window_end = ack.nxt
            fraction = (self.marked * ONE + self.acked // 2) // self.acked
            mixed = (ONE - self.g) * self.estimate + self.g * fraction
            self.estimate = (mixed + ONE // 2) // ONE
            self.alpha = self.estimate / ONE
            self.acked = self.marked = 0
        if ack.ece and not ack.after_loss and ack.una > self.recover:
            self.recover = ack.nxt
            window.reduce_to((window.cwnd * (2 * ONE - self.estimate) + ONE) // (2 * ONE))
            return True
        if ack.may_grow and not ack.ece:
            window.grow(ack.acked)
        return False
