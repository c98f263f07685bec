"""What experiments have in common.

- What one is made of: `experiment` (scenario, variants, sizes, points), `claims`, `measured` (what
  is read from its runs), `published` (the documents' numbers), `stated` (the settings that they
  give).
- What `hull reproduce` makes of it: `reproduction` runs it; `sections` adds its figure and the
  tables of `claims_table`, `stated_table` and `published_tables` to report.html; `start_page` is
  over several, `terminal` for the command.
- Runs and measures of several experiments: `benchmark`, `cycles`, `dynamic_flows`, `incast`,
  `long_lived`, `one_link`, `qcn_runs`, `queries`, `queue_cdf`, `segments`, `swings`.
"""
