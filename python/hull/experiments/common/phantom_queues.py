"""Schemes with a phantom queue that several experiments on the paper and the report compare."""

from hull.report.schemes import PURPLE, SKY, Scheme

LOOKS = (
    Scheme("dctcp_pq900_pacer", "HULL (PQ 900)", SKY, (8, 2), "P"),
    Scheme("dctcp_pq800_pacer", "HULL (PQ 800)", PURPLE, (6, 2, 1, 2), "v"),
    Scheme("dctcp_pq950", "PQ 950, no pacer", SKY, (2, 1), "X"),
)
