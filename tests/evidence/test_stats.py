"""Sums that a person decides by: each is held against numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from ledger_lines import line

from jevhook.evidence.labels import Label
from jevhook.evidence.stats import agreement, stats


def call(p: float | None, **fields: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"asked": True, "judge": "systemone", "latency_ms": 800, "usage": {}, "answers": {}}
    return {**made, "answers": {} if p is None else {"asked": {"p": p}}, **fields}


def near(times: dict[str, float]) -> Any:
    return pytest.approx(times, rel=0.011)


ASK = [{"id": "git.clean", "severity": "ask", "mode": "active"}]


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ({"judged": "ask", "source": "rules", "rules": ASK}, {}),
        ({"judged": "ask", "source": "rules", "rules": ASK, "judge": {"asked": False, "why": "no key"}}, {}),
        ({"judged": "ask", "source": "rules", "rules": ASK, "judge": call(0.1)}, {"agreed": 1}),
        ({"judged": "ask", "source": "rules", "rules": ASK, "judge": call(0.5)}, {"unsure": 1}),
        ({"judged": "ask", "source": "rules", "rules": ASK, "judge": call(0.95)}, {"unsure": 1}),
        ({"judged": "none", "source": "judge", "rules": ASK, "judge": call(0.95)}, {"lifted": 1}),
        ({"judged": "ask", "source": "judge", "rules": ASK, "judge": call(0.1)}, {"agreed": 1}),
        ({"judged": "ask", "source": "judge", "judge": call(0.1)}, {"raised": 1}),
        ({"judged": "none", "source": "rules", "judge": call(0.1)}, {"agreed": 1}),
        (
            {"judged": "none", "source": "rules", "rules": [{**ASK[0], "mode": "shadow"}], "judge": call(0.1)},
            {"agreed": 1},
        ),
        ({"judged": "ask", "source": "rules", "rules": ASK, "judge": call(0.1, error={"kind": "timeout"})}, {}),
        ({"judged": "ask", "rules": ASK, "judge": call(0.25), "thresholds": {"yes": 0.9, "no": 0.3}}, {"agreed": 1}),
        (
            {
                "judged": "withhold",
                "thresholds": {"withhold": 1.0, "mark": 0.4},
                "passages": [
                    {"score": 1.2, "judge": 0.9}, {"score": 0.5, "judge": 0.1}, {"score": 0.3, "judge": 0.8},
                    {"score": 0.3, "judge": 0.2}, {"score": 0.9}, "odd",
                ],
            },
            {"agreed": 2, "lifted": 1, "raised": 1},
        ),
        ({"judge": "odd", "rules": 3, "passages": 4, "thresholds": "x"}, {}),
        ({"judge": {"answers": {"asked": {"p": "x"}}}}, {}),
    ],
)  # fmt: skip
def test_who_agreed_with_whom(part: dict[str, Any], found: dict[str, int]) -> None:
    assert dict(agreement(part)) == found


def test_the_sums_of_a_small_ledger() -> None:
    shared = call(None, usage={"input_tokens": 100, "output_tokens": 7, "cost_micros": 42})
    risk = {"point": "tool.risk", "rule": "git.clean", "rules": ASK, "judged": "ask", "acted": True}
    ledger = [
        line(0, hook_ms=10.0),
        line(1, hook_ms=20.0, decision="ask", point={**risk, "judge": call(0.95, usage={"cached": 1})}),
        line(2, hook_ms=30.0, decision="ask", point={**risk, "judge": call(0.1, latency_ms=400)}),
        line(3, hook_ms=40.0, point={**risk, "mode": "shadow", "acted": False, "reason": "shadow"}),
        line(4, hook_ms=50.0, decision="ask", point={**risk, "judge": call(None, error={"kind": "timeout"}), "reason": "error:timeout"}),
        line(5, hook_ms=60.0, decision="ask", point={**risk, "judge": {"asked": False, "error": {}}, "reason": "breaker"}),
        line(6, points=[{"point": "tool.injection", "mode": "active", "judge": shared}, {"point": "tool.admission", "mode": "shadow", "judge": shared}]),
        line(7, points=[{"point": "tool.risk", "mode": "off"}], host="codex", reason="off"),
        line(8, origin="cli", points=[], hook_ms=9e9),
        line(9, points=[{"point": "tool.admission", "mode": "shadow", "judged": "none", "reason": "out-of-scope"}]),
    ]  # fmt: skip
    given_labels = {
        f"{number:08}": Label(f"{number:08}", word, "", "", "label")
        for number, word in ((0, "bad"), (1, "bad"), (2, "good"), (3, "good"), (6, "good"))
    }
    made = stats(ledger, given_labels).json()
    assert (made["events"], made["first"], made["last"]) == (9, ledger[0]["asked_at"], ledger[9]["asked_at"])
    assert made["hosts"] == {"claude": 8, "codex": 1} and made["decisions"] == {"ask": 4, "none": 5}
    assert made["reasons"] == {"off": 1} and made["hook_ms"] == near({"n": 6, "p50": 30.0, "p95": 60.0, "p99": 60.0})
    assert made["judge"] == {
        "calls": 4,
        "failed": 1,
        "cached": 1,
        "input_tokens": 100,
        "output_tokens": 7,
        "cost_micros": 42,
    }
    point = made["points"]["tool.risk"]
    assert (point["events"], point["acted"], point["modes"]) == (6, 4, {"active": 5, "shadow": 1})
    assert point["judged"] == {"ask": 5, "none": 1} and point["rules"] == {"git.clean": 5}
    assert point["fallbacks"] == {"breaker": 1, "error:timeout": 1}
    assert point["judge_ms"] == near({"n": 3, "p50": 800.0, "p95": 800.0, "p99": 800.0})
    assert point["judge"] == {"calls": 3, "cached": 1, "failed": 1}
    assert point["agreement"] == {"agreed": 1, "unsure": 1}
    assert point["labels"] == {"right stop": 2, "missed": 1, "wrong stop": 1}
    assert (point["false_alarms"]["k"], point["false_alarms"]["n"]) == (1, 3)
    assert (point["agreed"]["k"], point["agreed"]["n"]) == (1, 2)
    after = made["points"]["tool.injection"]
    assert after["judge"]["cost_micros"] == 42 and after["labels"] == {"right silence": 1}
    assert after["false_alarms"]["n"] == 0
    assert (made["points"]["tool.admission"]["events"], made["points"]["tool.admission"]["elsewhere"]) == (1, 1)


def test_an_empty_ledger_adds_up_to_nothing() -> None:
    assert stats([]).json()["events"] == 0
