"""Shell completion: `hull completion bash` prints the shell's script, and this module computes the
candidates.

The shell calls `hull completion words -- WORD...` with the words of the command line after `hull`,
of which the last is incomplete, and gets one candidate per line. A candidate that ends with an
equals sign is continued.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

SCRIPTS = {
    "bash": """\
_hull() {
    local IFS=$'\\n'
    COMPREPLY=($(hull completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    # bash takes the equals sign for a word: what follows it is completed alone.
    [[ ${COMP_WORDS[COMP_CWORD]} == = || ${COMP_WORDS[COMP_CWORD-1]} == = ]] &&
        COMPREPLY=("${COMPREPLY[@]#*=}")
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


def candidates(commands: Sequence[Any], words: Sequence[str]) -> list[str]:
    """Candidates for the last word; none if it is a file. `commands` are all of hull's
    (`hull.cli.command.Command`).
    """
    *before, last = _joined(words) or [""]
    command: Any = None
    below = _by_last_word(commands)
    option: Any = None
    arguments = 0
    for word in before:
        if option is not None:
            option = None
        elif word.startswith("-"):
            found = command.options.get(word) if command else None
            option = None if found is None or found.is_flag else found
        elif word in below:
            command, arguments = below[word], 0
            below = _by_last_word(command.below)
        else:
            arguments += 1
    fitting = _fitting(command, below, option, arguments, last)
    return sorted({name for name in fitting if name.startswith(last)})


def _by_last_word(commands: Sequence[Any]) -> dict[str, Any]:
    return {command.name.split()[-1]: command for command in commands}


def _fitting(
    command: Any, below: Mapping[str, Any], option: Any, arguments: int, last: str
) -> Iterator[str]:
    if option is not None:
        yield from _values(option.name, option, last)
    elif last.startswith("-"):
        yield from ("--help", *(command.options if command else ["--version"]))
    else:
        yield from below
        places = command.arguments if command else []
        if places:
            place = places[min(arguments, len(places) - 1)]
            if arguments < len(places) or place.many:
                yield from _values(f"{command.name.split()[-1]} {place.name}", place, last)


def _joined(words: Sequence[str]) -> list[str]:
    """The words, of which bash makes three of `key=value`."""
    joined: list[str] = []
    for word in words:
        if joined and (word == "=" or joined[-1].endswith("=")):
            joined[-1] += word
        else:
            joined.append(word)
    return joined


def _values(name: str, parameter: Any, last: str) -> Iterator[str]:
    match name:
        case "overrides" | "over":
            key, equals, value = last.partition("=")
            if equals:
                # Of a list that is swept, the last value is incomplete.
                before = value.rpartition(",")[0] + "," if "," in value and name == "over" else ""
                yield from (f"{key}={before}{choice}" for choice in _choices(key))
            else:
                yield from (f"{one}=" for one in _keys())
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
            yield from parameter.choices


def _keys() -> list[str]:
    return [row["key"] for row in _rows() if "[]" not in row["key"]]


def _choices(key: str) -> list[str]:
    """Values of a key that has few: an enumeration or a boolean."""
    types = [row["type"] for row in _rows() if row["key"] == key]
    if types == ["boolean"]:
        return ["false", "true"]
    return [value for of in types if " | " in of for value in of.split(" | ")]


def _rows() -> list[dict[str, Any]]:
    from hull import _core

    rows: list[dict[str, Any]] = json.loads(_core.keys())
    return rows
