"""What experiments have in common.

- Definition: `experiment` (scenario, variants, sizes, points), `claims`, `measured` (values read
  from its runs), `published` (the documents' numbers), `stated` (the settings that they give).
- Output of `hull reproduce`: `reproduction` runs an experiment; `sections` adds its figure and the
  tables of `claims_table`, `stated_table` and `published_tables` to report.html; `start_page`
  lists several experiments, `terminal` prints tables.
- Variants, measures and plots of several experiments: `averaging_loop`, `benchmark`, `cycles`,
  `dynamic_flows`, `epfl_static`, `gains`, `incast`, `long_lived`, `one_link`, `one_source`,
  `phantom_queues`, `qcn_runs`, `queries`, `queue_cdf`, `rcp_runs`, `segments`, `swings`.
"""
