"""Files of other simulators: one module for each format, which reads a file into plain values and
says what is wrong with one that it cannot read. None of them runs anything.
"""
