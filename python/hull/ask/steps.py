"""The parts of a runbook: sections of sentences and of blocks to copy."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    """Text to copy."""

    language: str
    """For the highlighting of the file: sh, ini, json, text."""
    text: str
    name: str = ""
    """The file that it belongs into; empty for commands."""


@dataclass(frozen=True)
class Section:
    """A step with its explanation."""

    title: str
    items: tuple[str | Block, ...]
    """Sentences and blocks, in order."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks alone."""
        return tuple(item for item in self.items if isinstance(item, Block))
