"""Files that hull reads and writes: bounded, checked, and whole or not there at all."""
