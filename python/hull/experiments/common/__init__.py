"""What experiments have in common.

- What one is made of: `experiment` (scenario, variants, sizes, points), `claims`, `measured` (what
  is read from its runs), `published` (the documents' numbers), `stated` (the settings that they
  give).
- What `hull reproduce` makes of it: `reproduction` runs it; `sections` adds its figure and the
  tables of `claims_table`, `stated_table` and `published_tables` to report.html; `start_page` is
  over several, `terminal` for the command.
- Runs, measures and looks of several experiments: `averaging_loop`, `benchmark`, `cycles`,
  `dynamic_flows`, `epfl_static`, `gains`, `incast`, `long_lived`, `one_link`, `one_source`,
  `phantom_queues`, `qcn_runs`, `queries`, `queue_cdf`, `rcp_runs`, `segments`, `swings`.
"""
