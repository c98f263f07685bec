"""Files of other simulators: one module per format, which parses a file into plain values and
reports its errors. None of them runs a simulation.
"""
