"""The theory of DCTCP and HULL: what the papers derive, as functions (docs/theory)."""
