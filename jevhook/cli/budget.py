"""``jevhook budget``: what judges may cost and have cost; set caps and prices, thaw, release."""

from __future__ import annotations

import json
import os
import time
from decimal import Decimal, InvalidOperation
from typing import Any

import click

from .. import policy
from ..state import budget as money
from .person import at_keyboard

RECENT = 86400.0  # a provider that was settled with since then is alive


def dollars(text: str) -> int:
    """``"12.50"`` in micro-dollars.  Raises BadParameter."""
    try:
        amount = Decimal(text) * money.MICROS
    except InvalidOperation:
        raise click.BadParameter(f"{text!r}: an amount in dollars, such as 5 or 0.002") from None
    if not amount.is_finite() or not 0 <= amount <= money.MOST or amount != amount.to_integral_value():
        raise click.BadParameter(f"{text!r}: from 0 to a million dollars, in whole micro-dollars")
    return int(amount)


def _lines(found: dict[str, Any]) -> list[str]:
    usd = money.usd
    if not found["caps"]:
        return ["no cap is set: nothing is counted and nothing is refused"]
    lines = [f"period   {found['period']} (UTC)"]
    for cap in found["caps"]:
        used = cap["settled"] + cap["reserved"] + cap["held"]
        name = f"{cap['scope']} {cap['name']}".strip()
        parts = f"settled {usd(cap['settled'])}, reserved {usd(cap['reserved'])}, held {usd(cap['held'])}"
        lines.append(f"cap      {name}: {usd(used)} of {usd(cap['monthly'])} USD ({parts})")
        lines.append(f"         at most {usd(cap['per_decision'])} USD for one decision")
    for ice in found["frozen"]:
        name = f"{ice['scope']} {ice['name']}".strip()
        lines.append(f"FROZEN   {name}: {ice['why']}; `jevhook budget unfreeze` when you have looked")
    for hold in found["holds"]:
        lines.append(f"held     {hold['provider']}: {hold['count']} calls of unknown cost, {usd(hold['amount'])} USD")
    for price in found["prices"]:
        name = f"{price['provider']} {price['model']}".strip()
        lines.append(f"price    {name}: {usd(price['input'])} in, {usd(price['output'])} out, USD a million tokens")
    for none in found["unpriced"]:
        lines.append(
            f"note     {none['provider']} reported no cost for {none['calls']} calls and no price is set: "
            "they count as free; `jevhook budget price` sets one"
        )
    return lines


def _look(env: dict[str, str]) -> dict[str, Any]:
    if not money.capped(env):
        return {
            "period": money.period(time.time()),
            "caps": [],
            "frozen": [],
            "holds": [],
            "prices": [],
            "unpriced": [],
        }
    try:
        return money.status(env, time.time())
    except money.BudgetError as wrong:
        raise click.ClickException(policy.clean(str(wrong))) from None


@click.group("budget", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text; amounts in micro-dollars.")
@click.pass_context
def budget(ctx: click.Context, as_json: bool) -> None:
    """Show what judges may cost and have cost this month. Off until you set a cap.

    \b
    jevhook budget
    jevhook budget --json
    """
    if ctx.invoked_subcommand is None:
        found = _look(dict(os.environ))
        click.echo(json.dumps(found, indent=2) if as_json else "\n".join(map(policy.clean, _lines(found))))


@budget.command("set")
@click.option("--monthly-usd", "monthly", type=dollars, required=True, help="The most that a UTC month may cost.")
@click.option(
    "--per-decision-usd", "decision", type=dollars, required=True, help="The most that one decision may cost."
)
@click.option("--provider", default="", help="For this provider only. Default: for you, whoever answers.")
@click.option("--model", default="", help="For this model of the provider only.")
def set_(monthly: int, decision: int, provider: str, model: str) -> None:
    """Set a cap; from the first one on, no call is made that might not fit.

    \b
    jevhook budget set --monthly-usd 5 --per-decision-usd 0.01
    jevhook budget set --monthly-usd 2 --per-decision-usd 0.005 --provider openrouter
    """
    at_keyboard("jevhook budget set")
    _change(lambda env: money.set_cap(env, monthly, decision, time.time(), provider, model))
    click.echo("\n".join(map(policy.clean, _lines(_look(dict(os.environ))))))


@budget.command("price")
@click.option("--provider", required=True)
@click.option("--model", default="", help="Default: every model of the provider.")
@click.option("--input-usd", "given", type=dollars, required=True, help="For a million input tokens.")
@click.option("--output-usd", "made", type=dollars, required=True, help="For a million output tokens.")
def price(provider: str, model: str, given: int, made: int) -> None:
    """Say what tokens cost, for services that do not report a cost.

    \b
    jevhook budget price --provider ollama --input-usd 0 --output-usd 0
    """
    at_keyboard("jevhook budget price")
    _needs_a_cap()
    _change(lambda env: money.set_price(env, provider, model, given, made, time.time()))
    click.echo("\n".join(map(policy.clean, _lines(_look(dict(os.environ))))))


@budget.command("unfreeze")
def unfreeze() -> None:
    """Let calls go on after a decision cost more than was reserved for it: you have looked at it.

    \b
    jevhook budget unfreeze
    """
    at_keyboard("jevhook budget unfreeze")
    _needs_a_cap()
    click.echo(f"{_change(lambda env: money.unfreeze(env, time.time()))} buckets thawed")


@budget.command("release")
@click.option("--provider", required=True, help="Whose holds.")
@click.option("--reason", required=True, help="Why they will never be charged; kept with them.")
@click.option("--force", is_flag=True, help="Even though the provider is still in use.")
def release(provider: str, reason: str, force: bool) -> None:
    """Stop counting calls whose cost nobody knows, of a provider that is gone.

    \b
    jevhook budget release --provider old-relay --reason 'account closed'
    """
    at_keyboard("jevhook budget release")
    _needs_a_cap()
    env = dict(os.environ)
    alive = "" if force else _alive(env, provider)
    if alive:
        raise click.ClickException(
            f"{provider} {alive}: what it may still charge must go on counting. Nothing was changed; --force releases."
        )
    count, amount = _change(lambda env: money.release(env, provider, reason, time.time()))
    click.echo(f"{count} holds released, {money.usd(amount)} USD")


@budget.command("clear")
def clear() -> None:
    """Take all caps away; what was counted is put aside in a file.

    \b
    jevhook budget clear
    """
    at_keyboard("jevhook budget clear")
    _needs_a_cap()
    click.echo(f"no caps any more; the record is in {policy.clean(_change(lambda env: money.clear(env, time.time())))}")


def _alive(env: dict[str, str], provider: str) -> str:
    """Why ``provider`` counts as one that is still in use; "" when it is gone."""
    from ..judges import choose

    made = policy.load(env, in_hook=False, managed=policy.MANAGED)
    for in_hook in (True, False):
        judge, _ = choose(made.judge, env, in_hook)
        chosen = {str(getattr(part, "provider", "")) for part in (judge, *_tiers(judge))}
        if provider in chosen:
            return "is the judge that your configuration names"
    try:
        last = money.last_settled(env, provider)
    except money.BudgetError as wrong:
        raise click.ClickException(policy.clean(str(wrong))) from None
    return "answered within the last day" if time.time() - last < RECENT else ""


def _tiers(judge: object) -> list[object]:
    return [tier.judge for tier in getattr(judge, "_tiers", ())]


def _needs_a_cap() -> None:
    if not money.capped(dict(os.environ)):
        raise click.ClickException("no cap is set: `jevhook budget set --monthly-usd 5 --per-decision-usd 0.01`")


def _change(work: Any) -> Any:
    try:
        return work(dict(os.environ))
    except (money.BudgetError, OSError, ValueError) as wrong:
        raise click.ClickException(policy.clean(str(wrong))) from None
