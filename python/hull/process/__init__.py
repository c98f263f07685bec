"""What concerns the process: Ctrl-C, forks, memory, optional packages, shared libraries."""
