"""report.html of a result folder: tables and charts in one file that needs no network.

Read in this order: `page` puts the file together, `tables` writes its tables, `charts` its
Vega-Lite charts. `curves` thins the samples, `seed_means` averages the seeds, `schemes`, `labels`
and `axis` hold the looks that the page shares with `hull.figures`.
"""
