"""``jevhook completion``: what a shell needs to complete our commands and options."""

from __future__ import annotations

import click

_SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_JEVHOOK_COMPLETE"  # what click's own machinery looks at, for both names of the program


@click.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print the completion script for bash, zsh or fish; it completes `jev-use` too.

    \b
    echo 'eval "$(jevhook completion bash)"' >> ~/.bashrc
    echo 'eval "$(jevhook completion zsh)"' >> ~/.zshrc
    jevhook completion fish > ~/.config/fish/completions/jevhook.fish
    """
    from click.shell_completion import get_completion_class

    from . import group

    made = get_completion_class(shell)
    if made is None:
        raise click.ClickException(f"this version of click knows no completion for {shell}")
    for program in ("jevhook", "jev-use"):
        click.echo(made(group(), {}, program, VARIABLE).source())
