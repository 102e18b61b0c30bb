"""The commands a person runs: one file a command, listed here by name, loaded when called."""

from __future__ import annotations

import errno
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import click

# name -> (module, attribute, one line of help).  The help stands here so that --help imports nothing else.
COMMANDS = {
    "allow": ("jevhook.cli.allow", "allow", "Lasting exceptions: one rule for one path or command, with an end."),
    "allow-once": ("jevhook.cli.allow_once", "allow_once", "Let one denied call run once, by the code in the reason."),
    "appeal": ("jevhook.cli.appeal", "appeal", "A stop was wrong: note it as a labelled case."),
    "budget": ("jevhook.cli.budget", "budget", "What judges may cost and have cost; set caps, thaw, release."),
    "calibrate": ("jevhook.cli.calibrate", "calibrate", "Fit thresholds to the decisions that you have labelled."),
    "cases": ("jevhook.cli.cases", "cases", "The stops that you have called wrong: list, export as a test file."),
    "completion": ("jevhook.cli.completion", "completion", "The completion script for bash, zsh or fish."),
    "doctor": ("jevhook.cli.doctor", "doctor", "Is the gate set up: policy, judge, ledger."),
    "explain": ("jevhook.cli.explain", "explain", "What a command would do, and which rule speaks."),
    "fuzz": ("jevhook.cli.fuzz", "fuzz", "Rewrite a stopped command in many ways and demand the same decision."),
    "gate": ("jevhook.cli.gate", "gate", "May this tool call run: allow, deny, or escalate."),
    "hook": ("jevhook.cli.hook_help", "hook", "Judge one hook event from stdin (what a host runs)."),
    "install": ("jevhook.cli.install", "install", "Register the hook in the settings of a host."),
    "judge": ("jevhook.cli.judge", "judge", "Ask typed questions about a state, or one about many lines."),
    "judges": ("jevhook.cli.judges", "judges", "What would answer, from where, and why."),
    "ledger": ("jevhook.cli.ledger", "ledger", "Look at what was decided, and at what was taken out of results."),
    "off": ("jevhook.cli.off", "off", "Switch the gate off, for a time or until told otherwise."),
    "on": ("jevhook.cli.off", "on", "Switch the gate on again."),
    "policy": ("jevhook.cli.policy", "policy_group", "The policy in force: show, check, compare, edit it."),
    "promote": ("jevhook.cli.promote", "promote", "Make a point, a rule or a question act, on evidence."),
    "rank": ("jevhook.cli.rank", "rank", "Which of a few candidates does best what is asked, and how well."),
    "resident": ("jevhook.cli.resident", "resident", "A warm process that makes hooks quicker: on, off."),
    "report": ("jevhook.cli.report", "report", "One page about what the gate did, for a browser."),
    "replay": ("jevhook.cli.replay", "replay_command", "Judge many recorded events without acting."),
    "rerank": ("jevhook.cli.rerank", "rerank", "Find passages by BM25 and let the judge read the best few."),
    "review": ("jevhook.cli.review", "review", "Should a person look at what a delegate handed back."),
    "rules": ("jevhook.cli.rules", "rules", "List the rules in force."),
    "score": ("jevhook.cli.score", "score", "How often the gate is right on labelled calls: a dated scorecard."),
    "serve": ("jevhook.cli.serve", "serve", "Serve judge and gate to an agent over MCP, on stdin and stdout."),
    "uninstall": ("jevhook.cli.install", "uninstall", "Take the hook out of a host's settings again."),
    "verify": ("jevhook.cli.verify", "verify", "Does the evidence show what is claimed; only PASS passes."),
}


# Exit codes; the small ones are answers of some commands.
UNWRITTEN = 74  # as sysexits.h has it
UNREAD = 141  # as a shell tells of SIGPIPE
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

_HELP = """The judgment gate for coding agents: what would this tool call lose, and did the user want that?

\b
jevhook install                           register the hook with the agents found here
jevhook doctor                            is the gate really on?
jevhook explain 'git reset --hard'        what would this do, and who speaks?
jevhook allow-once KXQTB                  let one denied call run once
jevhook COMMAND --help                    each command, with examples
"""


def group() -> click.Group:
    """All commands as one click group; a command's module is imported when the command is called."""
    import click

    from jevhook import __version__

    class Lazy(click.Group):
        def list_commands(self, ctx: click.Context) -> list[str]:
            return sorted(COMMANDS)

        def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
            if name not in COMMANDS:
                return None
            import importlib

            module, attribute, _ = COMMANDS[name]
            command: click.Command = getattr(importlib.import_module(module), attribute)
            return command

        def invoke(self, ctx: click.Context) -> object:
            try:
                code = super().invoke(ctx)
                sys.stdout.flush()
                return code
            except BrokenPipeError:  # click would exit 1, which is an answer of some commands
                unread()
                return UNREAD

        def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            with formatter.section("Commands"):
                formatter.write_dl([(name, COMMANDS[name][2]) for name in sorted(COMMANDS)])

    made = Lazy(
        name="jevhook",
        help=_HELP,
        context_settings={"help_option_names": ["-h", "--help"]},
        no_args_is_help=True,
    )
    return click.version_option(__version__, prog_name="jevhook")(made)


def unread() -> None:
    """What is still to be printed goes nowhere: nobody reads stdout any more."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def main(argv: list[str]) -> int:
    """Run one command; returns the exit code.  A person's mistake is one clean line, never a traceback."""
    import os

    import click

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):  # None where it was closed (``<&-``)
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    called = os.path.basename(sys.argv[0] or "")
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    try:
        result = group().main(
            args=argv,
            prog_name=called if called == "jev-use" else "jevhook",
            complete_var="_JEVHOOK_COMPLETE",
            standalone_mode=False,
            color=False if plain else None,
        )
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as wanted:
        click.echo(wanted.format_message())
        return 0
    except click.ClickException as wrong:
        wrong.show(sys.stderr)
        return wrong.exit_code
    except click.exceptions.Abort:
        click.echo("stopped", err=True)
        return 130
    except OSError as wrong:
        if wrong.errno not in _FULL:
            raise
        unread()
        click.echo(f"Error: the output could not be written: {wrong.strerror}", err=True)
        return UNWRITTEN
