"""Completion scripts for shells. A script has every command and option, so the shell does not call the program.

A script is generated from the commands when it is printed or installed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from detent.cli import COMMANDS
from detent.cli.main import command_of, commands_below

SHELLS: Final = ("bash", "zsh", "fish")
_WHERE: Final = {
    "bash": Path(".local/share/bash-completion/completions/detent"),
    "zsh": Path(".zfunc/_detent"),
    "fish": Path(".config/fish/completions/detent.fish"),
}
_FILES: Final = ("FILE", "DIR")
_NEXT: Final = {
    "bash": "open a new terminal (it needs the package bash-completion), or: source {file}",
    "zsh": "add to ~/.zshrc, before compinit:  fpath+=~/.zfunc",
    "fish": "open a new terminal",
}


class Candidates(NamedTuple):
    """The words that may follow some words of a command line, each with its help."""

    words: tuple[str, ...]
    following: tuple[tuple[str, str], ...]
    takes_files: bool = False


def complete(option: str, shell: str | None) -> int:
    """Run `--show-completion` or `--install-completion`. Return the exit code."""
    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        print(f"detent: the shell is unknown; name it: {option} {'|'.join(SHELLS)}", file=sys.stderr)
        return 2
    script = _SCRIPTS[shell](list(_places()))
    if option == "--show-completion":
        print(script, end="")
        return 0
    file = Path.home() / _WHERE[shell]
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(script)
    except OSError as error:
        print(f"detent: cannot write {file}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"wrote {file}\n{_NEXT[shell].format(file=file)}")
    return 0


def _places() -> Iterator[Candidates]:
    top = [*COMMANDS.items(), ("--help", "Show this help"), ("--version", "Show the version")]
    yield Candidates((), tuple(top))
    for name in COMMANDS:
        command = command_of(name)
        below = commands_below(command)
        if below:
            yield Candidates((name,), tuple((word, _line(one.help)) for word, one in below.items()))
        else:
            yield _options((name,), command)
        for word, one in below.items():
            yield _options((name, word), one)


def _options(words: tuple[str, ...], command: Any) -> Candidates:
    found = []
    takes_files = False
    for one in command.params:
        if one.param_type_name == "argument":
            takes_files |= (one.metavar or one.name).strip("[].").upper().startswith(_FILES)
        else:
            found += [(name, _line(one.help)) for name in (*one.opts, *one.secondary_opts) if name.startswith("--")]
    return Candidates(words, (*found, ("--help", "Show this help")), takes_files)


def _line(text: str | None) -> str:
    """Return the first sentence without characters that are special in a shell."""
    first = (text or "").strip().split("\n")[0].split(". ")[0].rstrip(".")
    return "".join(letter for letter in first if letter not in "'\"`$\\[]")


def _bash(places: Sequence[Candidates]) -> str:
    cases = "\n".join(
        f"    '{' '.join(place.words)}') words='{' '.join(word for word, _ in place.following)}'"
        f"{' files=1' if place.takes_files else ''} ;;"
        for place in places
    )
    groups = "|".join(place.words[0] for place in places if len(place.words) == 1 and _is_group(place))
    return f"""\
# Completion of detent for bash.
_detent() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" path='' words='' files=''
  if [ "$COMP_CWORD" -gt 1 ]; then path="${{COMP_WORDS[1]}}"; fi
  case "$path" in {groups}) if [ "$COMP_CWORD" -gt 2 ]; then path="$path ${{COMP_WORDS[2]}}"; fi ;; esac
  case "$path" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [ -n "$files" ] && [ "${{cur#-}}" = "$cur" ]; then COMPREPLY=($(compgen -f -- "$cur")); fi
}}
complete -o filenames -F _detent detent
"""


def _zsh(places: Sequence[Candidates]) -> str:
    cases = "\n".join(
        f"    ('{' '.join(place.words)}') words_=({' '.join(_zsh_word(*one) for one in place.following)})"
        f"{' files=1' if place.takes_files else ''} ;;"
        for place in places
    )
    groups = "|".join(place.words[0] for place in places if len(place.words) == 1 and _is_group(place))
    return f"""\
#compdef detent
# Completion of detent for zsh.
_detent() {{
  local path_='' files=''
  local -a words_
  if (( CURRENT > 2 )); then path_="$words[2]"; fi
  case "$path_" in ({groups}) if (( CURRENT > 3 )); then path_="$path_ $words[3]"; fi ;; esac
  case "$path_" in
{cases}
  esac
  _describe detent words_
  if [[ -n "$files" ]]; then _files; fi
}}
_detent "$@"
"""


def _zsh_word(word: str, meaning: str) -> str:
    return "'" + word + (":" + meaning.replace(":", "\\:") if meaning else "") + "'"


def _fish(places: Sequence[Candidates]) -> str:
    lines = ["# Completion of detent for fish.", "complete -c detent -f"]
    for place in places:
        lines += [_fish_line(place, word, meaning) for word, meaning in place.following]
        if place.takes_files:
            lines.append(f"complete -c detent -n '{_fish_condition(place)}' -F")
    return "\n".join(lines) + "\n"


def _fish_line(place: Candidates, word: str, meaning: str) -> str:
    given = f"-l {word.removeprefix('--')}" if word.startswith("--") else f"-a {word}"
    return f"complete -c detent -n '{_fish_condition(place)}' {given} -d '{meaning}'"


def _fish_condition(place: Candidates) -> str:
    if not place.words:
        return "__fish_use_subcommand"
    seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in place.words)
    if not _is_group(place):
        return seen
    return f"{seen}; and not __fish_seen_subcommand_from {' '.join(word for word, _ in place.following)}"


def _is_group(place: Candidates) -> bool:
    """Return whether subcommands follow, not options."""
    return bool(place.words) and not any(word.startswith("-") for word, _ in place.following)


_SCRIPTS: Final = {"bash": _bash, "zsh": _zsh, "fish": _fish}
