"""What the tests of the hardware share: building a bench with Verilator and running it under cocotb,
and the files of operations and answers that a bench plays and records.
"""
