"""Which lines of a log somebody needs who has to understand, verify or fix something: a hand-set score a line.

Errors and what stands around them, verdicts and summaries of the runners, what comes once; and low what passes, what
only moves on, and what was said before.  The runners' forms are of pytest, unittest, jest, vitest, mocha, cargo, go,
npm, tsc, eslint, gradle, maven, make, docker, terraform and their kin, as their manuals and outputs show them.

A line is judged by its template (``lexical.template``), each template once: megabytes of log have few of them.
"""

from __future__ import annotations

from .lexical import Folded, bm25, template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


HARD = 5.0  # a failure's own line, or a verdict
LIKELY = 3.0
SOFT = 1.5
PLAIN = 0.0
NOISE = -1.0

# Words that make an error line, by themselves.  Compared without the punctuation at their ends.
_HARD_WORDS = _set(
    "FAIL FAILED FATAL PANIC CRITICAL SEVERE EMERG EMERGENCY ALERT ERR! ERROR ERRORS FAILURE FAILURES Traceback panic "
    "panicked fatal segfault SIGSEGV SIGABRT SIGKILL SIGBUS OOMKilled CrashLoopBackOff ImagePullBackOff EXCEPTION"
)
_ERROR_WORDS = _set(
    "error errors failed fail fails failure failures failing exception exceptions denied refused cannot unable abort "
    "aborted aborting crash crashed critical severe invalid unexpected unresolved unhandled uncaught corrupt corrupted "
    "timeout killed undefined mismatch mismatched conflict conflicts rejected unreachable panic terminated forbidden "
    "unauthorized broken missing can't couldn't wrong violation overflow deadlock stack-trace backtrace caused "
    "err assertion unsupported malformed illegal expired leaked leak severed lost interrupted unavailable"
)
_WARN_WORDS = _set("warning warnings warn warned deprecated deprecation caution vulnerabilities skipped retrying")
_CALM_LEVELS = _set("INFO DEBUG TRACE NOTICE VERBOSE info debug trace notice Info Debug Trace")
_COUNTED = _set(
    "passed failed passing failing failures errors error tests test specs suites warnings warning problems problem "
    "succeeded total ignored pending skipped packages vulnerabilities examples assertions deselected xfailed"
)
_PASS_LAST = _set("PASSED ok OK PASS SKIPPED XFAIL XPASS skipped Passed passed done Done DONE [OK] [ok] xfail")
_FAIL_LAST = _set("FAILED FAIL ERROR E F [FAIL] FAILED! failed [FAILED] ERROR! fail")
_PASS_FIRST = _set("ok PASS PASSED ✓ ✔ √ SKIPPED SKIP XFAIL XPASS ✅")
_FAIL_FIRST = _set("FAIL FAILED ERROR ✗ ✕ × ✖ ✘ ❌ ● E FAIL: ERROR: error: error error[E# Error: fatal: FATAL FATAL:")
_PROGRESS_FIRST = _set(
    "Downloading Downloaded Collecting Requirement Using Compiling Building Installing Preparing Fetching Get: Get:# Hit:# "
    "Unpacking Selecting Setting Processing Resolving Extracting Pulling Pulled Waiting Verifying Creating Created Copying "
    "remote: Receiving Checking Updating Cloning Linking Generating Reading Progress Step Sending Loading Cached "
    "Refreshing Transforming Bundling inflating: creating: copying running adding writing Enumerating Counting Compressing "
    "Applying Synchronizing Destroying [#] [#/#] CC CXX LD AR npm"
)
_PROGRESS_MARKS = ("[#%]", "━━━", "███", "==>", "ETA", "kB/s", "MB/s", "already satisfied", "already up", "up-to-date")
_VERDICTS = (
    "short test summary", "tests finished", "test result:", "test suites:", "tests:", "build success", "build failed",
    "build failure", "failing tests", "failed to compile", "could not compile", "found # error", "problems (",
    "what went wrong", "task failed", "tests run:", "some tests failed", "all tests passed", "all checks passed",
    "test run", "exit code", "exit status", "return code", "exited with", "command failed", "apply complete", "plan:",
    "no changes.", "apply failed", "destroy complete", "stopping execution", "successfully", "unsuccessful", "passed in #",
    "failed in #", "ran # test", "ran 0 test", "up to date", "vulnerabilit", "coverage", "finished", "npm err!", "total:",
    "failures=", "errors=",
)  # fmt: skip
_ENDINGS = ("exit code", "exit status", "return code", "exited with")
_PHRASES = (
    "not found", "no such", "does not exist", "doesn't exist", "is not ", "not defined", "cannot find", "unresolved",
    "undefined reference", "permission denied", "access denied", "connection refused", "out of memory", "no space left",
    "core dumped", "segmentation fault", "timed out", "caused by", "not a valid", "must be", "did not", "has no",
    "unknown option", "unrecognized", "syntax error", "parse error", "stack overflow", "already in use", "could not",
    "failed to", "unable to", "rolled back", "non-zero", "more than one", "has been severed", "no route",
)  # fmt: skip
_LEFT = "[](){}<>\"'`*=_-.,;:!#|"


def _ends_like_error(word: str) -> bool:
    return len(word) > 5 and word.endswith(("Error", "Exception", "Failure", "Interrupt")) and word[0].isalpha()


def score_template(line: str) -> float:
    """How much a line with this template is needed, between NOISE and HARD, seen by itself."""
    words = line.split()
    if not words:
        return -0.5
    first, last = words[0], words[-1]
    at_end = last
    if last.endswith(("#", "%]", "#]")) and len(words) > 2:  # "PASSED [ 98%]", "ok 0.02s"
        at_end = words[-2] if words[-2] != "[" else words[-3] if len(words) > 3 else words[-2]
    best = PLAIN
    calm = False
    counted = 0
    before = ""
    for word in words[:60]:
        bare = word.strip(_LEFT)
        if not bare:
            before = "#" if word == "#" else ""
            continue
        if bare in _CALM_LEVELS:
            calm = True
        none = before == "0" or before in ("no", "No", "without", "not")
        if bare in _HARD_WORDS or word == "ERR!":
            if not none:
                best = HARD if best < HARD else best
        elif _ends_like_error(bare):
            best = max(best, 4.5)
        else:
            low = bare.lower()
            if low in _ERROR_WORDS:
                if not none:
                    best = max(best, LIKELY)
            elif low in _WARN_WORDS and not none:
                best = max(best, SOFT)
            if low in _COUNTED and before in ("#", "0", ""):
                counted += before != ""
        before = bare if bare else word
        if (word[-1] == "#" and len(word) == 1) or word == "#":
            before = "#"
    if calm and best <= HARD:
        best = min(best, 1.0)
    low_line = line.lower()
    if best < LIKELY:
        for phrase in _PHRASES:
            if phrase in low_line:
                best = max(best, 2.0 if not calm else 0.8)
                break
    for phrase in _VERDICTS:
        if phrase in low_line:
            best = max(best, 1.0 if phrase in _ENDINGS and last in ("0", "0.") else 3.5)
            break
    if counted:
        best = max(best, 4.0 if counted > 1 else 2.5)
    if (first in _FAIL_FIRST and len(words) > 1) or (at_end in _FAIL_LAST and len(words) > 1):
        best = max(best, 4.5)
    elif first == "not" and len(words) > 1 and words[1] == "ok":
        best = HARD
    elif first == "---" and len(words) > 1 and words[1] in ("FAIL:", "PASS:", "SKIP:"):
        best = HARD if words[1] == "FAIL:" else NOISE
    elif counted == 0 and (at_end in _PASS_LAST or first in _PASS_FIRST) and best < HARD:
        return NOISE
    elif first in _PROGRESS_FIRST and best < LIKELY:
        return -0.7
    if best <= 1.0:
        for phrase in _PROGRESS_MARKS:
            if phrase in line:
                return -0.6
        if calm:
            return min(best, 0.0) - 0.3
    return best


def score_lines(lines: Sequence[str]) -> list[float]:
    """A score for each line of a log, higher is needed more.  About 2 microseconds a line."""
    known: dict[str, float] = {}
    counts: dict[str, int] = {}
    templates: list[str] = []
    folded = Folded()
    for line in lines:
        made = template(line if len(line) < 600 else line[:600], folded)
        templates.append(made)
        counts[made] = counts.get(made, 0) + 1
    seen: dict[str, int] = {}
    scores: list[float] = []
    total = len(templates)
    common = max(8, total // 50)
    for made in templates:
        score = known.get(made)
        if score is None:
            score = score_template(made)
            known[made] = score
        times = seen.get(made, 0)
        seen[made] = times + 1
        if score > 1:
            if times > 3:  # said before: the first ones tell it
                score *= 0.8
        elif counts[made] > common:
            score -= 0.4
        elif counts[made] == 1 and score > -0.5:
            score += 0.3
        scores.append(score)
    _blocks(lines, scores)
    return scores


def _ruled(text: str) -> bool:
    """Whether the line is a rule with or without a title: ``=== FAILURES ===``, ``____ test_x ____``, ``-----``."""
    return len(text) >= 8 and text[:4] in ("====", "----", "____", "****", "~~~~", "####", "!!!!", "────")


def _blocks(lines: Sequence[str], scores: list[float]) -> None:
    """Failures and everything under them: a failure's header, frames and message belong together."""
    inside = ""  # "" | pytest | trace | hard
    age = 0
    bonus: list[tuple[int, float]] = []
    count = len(lines)
    for i in range(count):
        line = lines[i]
        head = line[:1]
        text = line.strip() if inside or head in "_=-FETS >!*#d" else ""
        if head == "_" and _ruled(text) and text.strip("_ \r\n"):
            inside, age = "pytest", 0
            bonus.append((i, 4.5))
            continue
        if head == "=" and _ruled(text):
            title = text.strip("= ")
            if title in ("FAILURES", "ERRORS"):
                inside, age = "pytest", 0
                bonus.append((i, 4.5))
            elif not title:
                after = lines[i + 1] if i + 1 < count else ""
                if after.startswith(("FAIL:", "ERROR:")):
                    inside, age = "pytest", 0
                    bonus.append((i, 3.0))
                else:
                    inside = ""
            else:
                inside = ""
            continue
        if text.startswith("Traceback (most recent"):
            if not inside:
                inside = "trace"
            age = 0
            bonus.append((i, 4.5))
            continue
        if inside == "pytest":
            age += 1
            if head == "E" and line[1:3] in ("  ", " \n"):
                bonus.append((i, 5.0 if age < 400 else 3.0))
            elif head == ">" and line[1:3] == "  ":
                bonus.append((i, 4.8))
            elif head == "-" and _ruled(text):
                bonus.append((i, 1.0))
            elif head == " ":
                bonus.append((i, 1.3))
            elif text:
                bonus.append((i, 2.2))
        elif inside == "trace":
            if text and head not in " \t":  # the exception's own line
                bonus.append((i, 4.6))
                inside = ""
            else:
                bonus.append((i, 1.8))
    for i, floor in bonus:
        if scores[i] < floor:
            scores[i] = floor
    # What stands beside an error explains it: a little before, more after, most when it is indented.
    raised: list[tuple[int, float]] = []
    for i in range(count):
        score = scores[i]
        if score >= LIKELY:
            if i and scores[i - 1] < 1.2:
                raised.append((i - 1, 1.2))
            for step in range(1, 4):
                j = i + step
                if j >= count or scores[j] >= LIKELY:
                    break
                near = (1.6 if lines[j][:1] in " \t|" else 1.0) / step**0.5
                if scores[j] < near:
                    raised.append((j, near))
    for i, floor in raised:
        if scores[i] < floor:
            scores[i] = floor


def score_chunk(scores: Sequence[float], sizes: Sequence[int]) -> float:
    """One number for a chunk of lines: its best line first, then how many others there are."""
    best = max(scores)
    size = sum(sizes) or 1
    dense = sum(s * n for s, n in zip(scores, sizes, strict=True)) / size
    strong = sum(1 for s in scores if s >= LIKELY)
    return best + 0.35 * dense + 0.2 * min(strong, 8)


# ------------------------------------------------------------------------------------------------ search results

# Where what a request is about seldom is, unless it says so: tests, documents, translations, copies, built files.
_ASIDE = (
    "test", "spec", "doc", "locale", "example", "sample", "vendor", "node_modules", "changelog", "fixture", "dist",
    "build", "third_party",
)  # fmt: skip
_TESTS = ("_test", "_tests", ".test", ".spec")


def place_of(line: str) -> str:
    """The path that a line of a search result or a listing names, "" when it names none.

    ``a/b.c:12:text``, ``a/b.c-12-text``, ``a/b.c (3 matches)``, ``-rw-r--r-- 1 u g 10 May 1 10:00 b.c``, ``a/b.c``.
    """
    text = line.strip(" \r\n\t│├└─|`-")
    if text[:1] in "drwxl-" and text[1:4].strip("rwx-") == "" and len(text) > 12:  # ls -l
        text = text.rsplit(" ", 1)[-1]
    word = text.split(" ", 1)[0]
    head = word.partition(":")[0]
    if len(head) == 1 and word[1:2] == ":":  # C:\x
        head = word.split(":", 2)[0] + ":" + word.split(":", 2)[1]
    return head if "/" in head or "\\" in head or "." in head.strip(".") else ""


def _counted(line: str) -> int:
    """The number of matches that a line tells: ``a/b.c:12`` or ``a/b.c (12 matches)``; 0 for none."""
    text = line.rstrip()
    if text.endswith((" matches)", " match)")):
        number = text[text.rfind("(") + 1 :].partition(" ")[0]
    else:
        number = text.rpartition(":")[2]
    return int(number) if number.isascii() and number.isdigit() and len(number) < 7 else 0


def score_places(lines: Sequence[str], query: Mapping[str, float]) -> list[float]:
    """A score for each line of a search result or listing: what it, and its file, have in common with the request.

    Beside BM25: a file with many matches is more likely the place; tests and documents less, unless ``query`` names
    them.  All zero when nothing is in common.
    """
    from math import log

    text = "".join(lines)
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line)
    scores = bm25(query, text, starts)
    if not any(scores):
        return scores
    paths = [place_of(line) for line in lines]
    files: dict[str, list[float]] = {}
    for path, score in zip(paths, scores, strict=True):
        if path:
            files.setdefault(path, []).append(score)
    if len(files) < 2:
        return scores
    aside = tuple(a for a in _ASIDE if a not in query)
    whole: dict[str, tuple[float, float]] = {}
    for path, found in files.items():
        parts = path.lower().replace("\\", "/").split("/")
        stem = parts[-1].rpartition(".")[0]
        away = any(part.startswith(aside) for part in parts) or ("test" in aside and stem.endswith(_TESTS))
        weight = 0.5 if away else 1.0
        whole[path] = (sum(found) / len(found) + 0.5 * log(len(found)), weight)
    for i, path in enumerate(paths):
        if path:
            shared, weight = whole[path]
            scores[i] = weight * (scores[i] + shared + log(1 + _counted(lines[i])))
        else:
            scores[i] *= 0.3
    return scores


def score_prose(lines: Sequence[str], query: Mapping[str, float]) -> tuple[list[float], list[tuple[int, int]]]:
    """A score for each line of a text that people read, and its passages (first line, line after the last).

    Passages are cut at blank lines and packed to about 600 characters; every line has its passage's score.
    """
    spans: list[tuple[int, int]] = []
    start = held = 0
    for i, line in enumerate(lines):
        held += len(line)
        if (held >= 300 and not line.strip()) or held >= 900:
            spans.append((start, i + 1))
            start, held = i + 1, 0
    if start < len(lines):
        spans.append((start, len(lines)))
    offsets, at = [], 0
    for line in lines:
        offsets.append(at)
        at += len(line)
    found = bm25(query, "".join(lines), [offsets[first] for first, _ in spans], b=0.75)
    scores = [0.0] * len(lines)
    for (first, last), score in zip(spans, found, strict=True):
        scores[first:last] = [score] * (last - first)
    return scores, spans
