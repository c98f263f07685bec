"""The command that reproduces the source documents: `hull reproduce`."""

import json
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

from hull.cli.command import Argument, Option
from hull.cli.common import Force, Format, Jobs, Seeds, command, count
from hull.errors import UsageError


@command()
def reproduce(
    ids: Annotated[list[str] | None, Argument(metavar="ID...", help="Experiments to run.")] = None,
    list_: Annotated[bool, Option("--list", help="List the experiments.")] = False,
    all_: Annotated[
        bool, Option("--all", help="Run every experiment and make a site of all reports.")
    ] = False,
    claims: Annotated[
        bool, Option("--claims", help="Print the documents' claims and whether they hold.")
    ] = False,
    overrides: Annotated[
        list[str] | None,
        Option(
            "--set",
            metavar="KEY=VALUE",
            help="Override a key of every simulation; may be repeated.",
        ),
    ] = None,
    quick: Annotated[bool, Option("--quick", help="Short runs (default).")] = False,
    full: Annotated[bool, Option("--full", help="Long runs with several seeds.")] = False,
    seeds: Seeds = None,
    jobs: Jobs = None,
    format: Annotated[Format, Option(help="Output format.")] = Format.TABLE,
    out: Annotated[Path, Option(metavar="DIR", help="Folder for <ID>-quick or <ID>-full.")] = Path(
        "results"
    ),
    cache: Annotated[
        Path | None,
        Option(
            metavar="DIR", help="Folder for results of single simulations (default: OUT/cache)."
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Reproduce published experiments and print measured beside published numbers."""
    from hull.experiments import all_experiments
    from hull.experiments.common.claims import headline
    from hull.files.names import check_path
    from hull.reproduction.reproduce import Reproduction, claims_of
    from hull.runs.cache import Cache

    check_path("--out", out, "results")
    known = all_experiments()
    if list_:
        width = max(map(len, known))
        for experiment in known.values():
            print(f"{experiment.id:{width}}  {experiment.title}")
        return
    if quick and full:
        raise UsageError("--quick, --full: both given; expected one of them")
    if ids and all_:
        raise UsageError("ID, --all: both given; expected one of them")
    if overrides and not ids:
        raise UsageError("--set: given without an ID; expected hull reproduce ID --set KEY=VALUE")
    if not ids and not all_ and not claims:
        raise UsageError(f"ID: none given; expected --all and {', '.join(known)}")
    for id_ in ids or ():
        if id_ not in known:
            near = get_close_matches(id_, known, n=3, cutoff=0.5) or list(known)
            raise UsageError(f"ID: no experiment {id_!r}; nearest: {', '.join(near)}")
    work = Reproduction(
        [known[id_] for id_ in dict.fromkeys(ids or known)],
        "full" if full else "quick",
        out,
        Cache(cache or out / "cache"),
        seeds=count("--seeds", seeds),
        overrides=overrides or (),
        force=force,
    )
    found = []
    for experiment, result in work.perform(count("--jobs", jobs)):
        found.append((experiment, result))
        if format is Format.TABLE:
            from hull.reproduction.printed import print_claims, print_tables

            if not claims:
                print_tables(experiment, result.summary)
            print_claims(claims_of(result))
            print(f"{result.folder / 'report.html'}\n", flush=True)
    if format is Format.TABLE and len(found) > 1:
        print(headline(claim for _, result in found for claim in claims_of(result)))
    if all_:
        page = work.write_site(found)
        if format is Format.TABLE:
            print(page)
    if format is Format.JSON:
        lists = [
            claims_of(result) if claims else result.summary["comparison"] for _, result in found
        ]
        print(json.dumps([row for rows in lists for row in rows], indent=1))
