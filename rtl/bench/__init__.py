"""What the tests of the hardware share: building a bench with Verilator, running it under cocotb,
and the files of operations and answers that it plays and records.
"""
