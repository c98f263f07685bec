"""Completion in shells: `hull completion bash` prints what a shell reads, and this says what fits.

The shell calls `hull completion words -- WORD...` with the words of the command line after `hull`,
the last of which is being written, and gets one candidate a line. After one that ends with an
equals sign the word goes on.
"""

import json
from collections.abc import Iterator, Sequence
from enum import EnumType
from typing import Any

SCRIPTS = {
    "bash": """\
_hull() {
    local IFS=$'\\n'
    COMPREPLY=($(hull completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -o bashdefault -o default -F _hull hull
""",
    "zsh": """\
#compdef hull
_hull() {
    local -a found whole
    found=("${(@f)$(hull completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    whole=(${found:#*=})
    (( ${#whole} )) && compadd -a whole
    found=(${(M)found:#*=})
    (( ${#found} )) && compadd -S '' -a found
    (( ${#whole} + ${#found} )) || _files
}
if [[ $funcstack[1] == _hull ]]; then _hull "$@"; else compdef _hull hull; fi
""",
    "fish": """\
function __hull_complete
    set -l words (commandline -opc) (commandline -ct)
    hull completion words -- $words[2..-1] 2>/dev/null
end
complete -c hull -a '(__hull_complete)'
""",
}


def candidates(command: Any, words: Sequence[str]) -> list[str]:
    """What may stand in the place of the last word; nothing where that is a file. `command` is the
    whole of hull's commands.
    """
    *before, last = words or [""]
    option: Any = None
    arguments = 0
    for word in before:
        if option is not None:
            option = None
        elif word.startswith("-"):
            found = _options(command).get(word)
            option = found if found is not None and not _is_flag(found) else None
        elif word in _commands(command):
            command, arguments = _commands(command)[word], 0
        else:
            arguments += 1
    return sorted(
        {name for name in _fitting(command, option, arguments, last) if name.startswith(last)}
    )


def _fitting(command: Any, option: Any, arguments: int, last: str) -> Iterator[str]:
    if option is not None:
        yield from _values(option.name, option)
    elif last.startswith("-"):
        yield from _options(command)
    else:
        yield from _commands(command)
        places = [one for one in command.params if one.param_type_name == "argument"]
        if places:
            place = places[min(arguments, len(places) - 1)]
            if arguments < len(places) or place.nargs == -1:
                yield from _values(f"{command.name} {place.name}", place)


def _values(name: str, parameter: Any) -> Iterator[str]:
    match name:
        case "overrides" | "over":
            yield from (f"{key}=" for key in _keys())
        case "keys pattern":
            yield from _keys()
        case "copy name":
            from hull.scenarios import names

            yield from names()
        case "reproduce ids":
            from hull.experiments import all_experiments

            yield from all_experiments()
        case "completion shell":
            yield from SCRIPTS
        case _:
            yield from choices(parameter)


def choices(parameter: Any) -> list[str]:
    """The values that an option or argument is one of; empty where it may be another."""
    type_ = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    values = getattr(type_, "__members__", {}) if isinstance(type_, EnumType) else {}
    return [str(member.value) for member in values.values()]


def _keys() -> list[str]:
    from hull import _core

    return [row["key"] for row in json.loads(_core.keys()) if "[]" not in row["key"]]


def _commands(command: Any) -> dict[str, Any]:
    found: dict[str, Any] = getattr(command, "commands", {})
    return {name: one for name, one in found.items() if not one.hidden}


def _options(command: Any) -> dict[str, Any]:
    found = [one for one in command.params if one.param_type_name == "option"]
    options = {name: one for one in found for name in (*one.opts, *one.secondary_opts)}
    return {**options, "--help": None}


def _is_flag(option: Any) -> bool:
    return bool(getattr(option, "is_flag", False))
