"""One walk over a parsed line: expansion, scope, and every command handed to the reader of its program.

``analyse`` is the room's door: a command line in, findings out.  Nothing here is a verdict; nothing runs.
Work is counted (commands and expanded words), never time, so that a verdict cannot depend on a busy machine.
"""

from __future__ import annotations

import sys

from .finding import ANY, NAME, NOTHING, QMARK, STAR, Finding, Target
from .parse import Unreadable, read
from .paths import HOST_DIRS, Place, absolute, classify, glob_match
from .tree import Branch, Command, Function, Group, Loop, Node, Pipeline, Redirect, Sequence, Test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .tree import Part, Word

MAX_WORK = 40_000  # commands and words; a 64 KiB script of one-word lines stays below it
MAX_DEPTH = 24  # launchers inside launchers, functions, sourced scripts; brackets and substitutions: parse.MAX_NESTING
MAX_PATH = 4096  # what a system accepts
_FRAMES = 4000  # Python's own limit is too low for 24 launchers with 120 brackets; these frames need no C stack
MAX_FIELDS = 64  # words out of one brace expansion or loop list
MAX_SCRIPT = 256 << 10  # bytes of a script that is read because it is run

_NO_TAINT: frozenset[str] = frozenset()


class Flow:
    """What comes out of a command and goes into a pipe, a substitution or a file.

    ``text``   the exact text when it is known, else None
    ``taints`` network (fetched), decoded, secret (credentials or the environment in it), user (typed or read in)
    ``names``  path patterns printed one a line (find, ls, git ls-files), else None
    """

    __slots__ = ("names", "taints", "text")

    def __init__(
        self, text: str | None = None, taints: frozenset[str] = _NO_TAINT, names: list[str] | None = None
    ) -> None:
        self.text = text
        self.taints = taints
        self.names = names


NO_FLOW = Flow("")
UNKNOWN_FLOW = Flow(None)


class Scope:
    """Shell state that visible text can change.  Values hold sentinels; None is a value that is not known."""

    __slots__ = (
        "aliases",
        "args",
        "cwd",
        "either",
        "env",
        "functions",
        "lists",
        "locals",
        "root",
        "taints",
        "via",
        "where",
    )

    def __init__(self, cwd: str) -> None:
        self.cwd = cwd
        self.env: dict[str, str] = {}
        self.lists: dict[str, list[str]] = {}
        self.taints: dict[str, frozenset[str]] = {}
        self.functions: dict[str, Node] = {}
        self.aliases: dict[str, str] = {}
        self.either: dict[str, list[str]] = {}  # values that a branch not taken would leave, the present one first
        self.locals: set[str] | None = None  # names that end with the function, None outside of one
        self.args: list[str] | None = None  # positional parameters, None when not known
        self.via: tuple[str, ...] = ()
        self.where = ""  # "" here, else the remote host or container the command runs in
        self.root = False  # runs as another user (sudo, doas, su)

    def copy(self) -> Scope:
        new = Scope(self.cwd)
        new.env = self.env.copy()
        new.lists = self.lists.copy()
        new.taints = self.taints.copy()
        new.functions = self.functions.copy()
        new.aliases = self.aliases.copy()
        new.either = self.either.copy()
        new.locals = self.locals
        new.args = self.args
        new.via = self.via
        new.where = self.where
        new.root = self.root
        return new


class Invocation:
    """One program that would be started: what the readers in ``programs/`` are given.

    ``name``  base name without directory or ``.exe``; ``path`` as written; ``args`` without the program
    ``env``   assignments in front of it; ``stdin`` what it reads, None for the terminal
    ``files`` targets of output redirections ``(op, text)``; ``taints`` what its words carry
    """

    __slots__ = ("args", "depth", "end", "env", "files", "name", "path", "scope", "start", "stdin", "taints", "walk")

    def __init__(
        self, walk: Walk, scope: Scope, words: list[str], start: int, end: int, stdin: Flow | None, depth: int
    ) -> None:
        self.walk = walk
        self.scope = scope
        self.path = words[0]
        name = words[0].replace("\\", "/") if words[0][1:2] == ":" else words[0]
        name = name[name.rfind("/") + 1 :]
        self.name = name[:-4] if name[-4:].lower() == ".exe" else name
        self.args = words[1:]
        self.start = start
        self.end = end
        self.stdin = stdin
        self.depth = depth
        self.env: dict[str, str] = {}
        self.files: list[tuple[str, str]] = []
        self.taints = _NO_TAINT

    # -- what a reader does with it ------------------------------------------------------------------------

    def target(self, raw: str) -> Target:
        """What the path ``raw`` is for this program, here or on the remote host."""
        return self.walk.target(raw, self.scope)

    def add(
        self,
        effect: str,
        target: Target = NOTHING,
        *,
        sure: str = "",
        sub: list[str] | None = None,
        flags: frozenset[str] = frozenset(),
        facts: tuple[str, ...] = (),
        detail: str = "",
    ) -> None:
        """Record one finding of this program."""
        self.walk.add(self, effect, target, sure, sub, flags, facts, detail)

    def command(self, words: list[str], via: str, stdin: Flow | None = None, scope: Scope | None = None) -> Flow:
        """Judge ``words`` as the command that this launcher starts."""
        return self.walk.launch(self, words, via, stdin if stdin is not None else self.stdin, scope)

    def code(self, text: str, via: str, scope: Scope | None = None, stdin: Flow | None = None) -> Flow:
        """Judge ``text`` as shell code that this program runs."""
        return self.walk.nested(self, text, via, scope, stdin)


class Walk:
    """The state of one analysis: findings, budget, place."""

    __slots__ = (
        "assigned", "body", "builtins", "exhausted", "extra", "findings", "mounts", "notes", "paths", "place", "readers", "scripts", "seen", "spent", "text", "world",
    )  # fmt: skip

    def __init__(self, place: Place, text: str) -> None:
        from . import programs  # the table of readers; a late import breaks the circle with Invocation

        self.place = place
        self.world = place.world
        self.text = text
        self.findings: list[Finding] = []
        self.notes: list[str] = []
        self.mounts: dict[str, str] = {}  # directory -> the host that is mounted there (sshfs)
        self.spent = 0
        self.exhausted = False
        self.extra = 0  # inner texts and functions that were read past the budget
        self.seen: dict[str | int, str | Node] = {}  # those of them that stand in the event, read once each
        self.readers = programs
        self.scripts: dict[str, str] = {}  # files written earlier on the same line: path -> text
        # What leaves no finding, for readonly.py: variables set, the shell's own commands (and "<" an input redirection,
        # "code" an inner line, "function", ">&" to the unknown), programs given by path.
        self.body: Sequence | None = None
        self.assigned: list[tuple[str, str]] = []
        self.builtins: list[tuple[str, list[str]]] = []
        self.paths: list[str] = []

    # -- findings ------------------------------------------------------------------------------------------

    def target(self, raw: str, scope: Scope) -> Target:
        if scope.where:
            # another machine's or a container's file system: only what the text says, no looking
            target = classify(raw, scope.cwd if raw[:1] != "/" else "", self.place)
            return Target(
                target.kind if raw[:1] in "/~" or target.kind == "build" else "remote",
                raw,
                target.roles | {"remote"} - {"gate"},
            )
        target = classify(raw, scope.cwd, self.place)
        if raw[:1] not in "/~" and not self.place.cwd_sure and target.kind in ("project", "project-root", "build"):
            return Target(target.kind, target.path, target.roles - {"tracked-clean"})
        return target

    def add(
        self,
        inv: Invocation,
        effect: str,
        target: Target,
        sure: str,
        sub: list[str] | None,
        flags: frozenset[str],
        facts: tuple[str, ...],
        detail: str,
    ) -> None:
        scope = inv.scope
        marks = set(facts)
        if scope.root:
            marks.add("root-user")
        if scope.where:
            marks.add("container" if scope.where.startswith("container:") else "remote")
        if inv.taints:
            marks |= inv.taints
        if inv.stdin is not None and inv.stdin.taints:
            marks |= {"stdin-" + taint for taint in inv.stdin.taints}
        if not sure:
            sure = "unknown" if target.kind in ("unknown", "unknown-root") else "certain"
        self.findings.append(
            Finding(
                effect,
                target,
                sure=sure,
                start=inv.start,
                end=inv.end,
                program=inv.name,
                words=inv.args,
                sub=sub,
                flags=flags,
                via=scope.via,
                facts=frozenset(marks),
                detail=detail,
            )
        )

    def unanalysed(self, detail: str, start: int, end: int, facts: tuple[str, ...] = ()) -> None:
        self.findings.append(
            Finding("unanalysed", NOTHING, sure="unknown", start=start, end=end, detail=detail, facts=frozenset(facts))
        )

    def spend(self, amount: int = 1) -> bool:
        """Whether there is budget left for ``amount`` more work."""
        self.spent += amount
        return self.spent <= MAX_WORK

    def enter(self, thing: str | Node, size: int, start: int, end: int) -> bool:
        """Whether an inner text, a function's body or an alias's use may be read.  What stands in the event is always
        read, that is linear; what calls itself up twofold, or is put together again and again, ends here."""
        self.spent += 1 + (size >> 6)
        if self.spent <= MAX_WORK + len(self.text) // 2:
            return True
        self.extra += 1
        if self.extra <= 500:
            return True
        if self.extra == 501:
            self.unanalysed("more nested code than one event is given", start, end, ("budget", "nested"))
        key = thing if isinstance(thing, str) else id(thing)
        if key in self.seen or (isinstance(thing, str) and thing not in self.text):
            return False
        self.seen[key] = thing
        return True

    def below(self, scope: Scope) -> Scope:
        """The scope of a subshell.  Past the budget it is shared: a copy costs as much as there are variables."""
        self.spent += len(scope.env) >> 4
        return scope.copy() if self.spent <= MAX_WORK else scope

    # -- nodes ---------------------------------------------------------------------------------------------

    def run(self, node: Node, scope: Scope, stdin: Flow | None, depth: int) -> Flow:
        """Everything ``node`` would do; returns what it would print."""
        kind = type(node)
        if kind is Command:
            return self.simple(node, scope, stdin, depth)  # type: ignore[arg-type]
        if kind is Sequence:
            out = NO_FLOW
            before, failed = "", scope.cwd
            for item, op in zip(node.items, node.ops, strict=True):  # type: ignore[attr-defined]
                at = scope.cwd
                if op == "&":  # in the background: a subshell
                    flow = self.run(item, self.below(scope), stdin, depth)
                elif before in ("&&", "||") and type(item) is Command and item.assigns and not item.words:
                    kept = {name: scope.env[name] for name, _, _ in item.assigns if name in scope.env}
                    flow = self.run(item, scope, stdin, depth)
                    _may_be(scope, kept)
                elif before == "||" and failed != at:  # cd X || …: where it did not get to X
                    scope.cwd = failed
                    flow = self.run(item, scope, stdin, depth)
                    scope.cwd = at if scope.cwd == failed else scope.cwd
                else:
                    flow = self.run(item, scope, stdin, depth)
                if op != "&&" and scope.cwd != at and self.stays(at, scope.cwd):
                    scope.cwd = at  # "cd dist; rm -rf *" without dist: the shell stays where it is
                before, failed = op, at
                out = flow if out is NO_FLOW else _joined(out, flow)
            return out
        if kind is Pipeline:
            carried = stdin
            for stage in node.stages:  # type: ignore[attr-defined]
                # every stage is a subshell; what the last one sets is lost too (bash without lastpipe)
                carried = self.run(stage, self.below(scope), carried, depth)
            return carried or UNKNOWN_FLOW
        if kind is Group:
            return self.group(node, scope, stdin, depth)  # type: ignore[arg-type]
        if kind is Loop:
            return self.loop(node, scope, stdin, depth)  # type: ignore[arg-type]
        if kind is Branch:
            for word in node.words:  # type: ignore[attr-defined]
                self.expand(word, scope, depth)
            inner = self.redirected(node.redirects, scope, stdin, node, depth)  # type: ignore[attr-defined]
            out = NO_FLOW
            env = scope.env.copy() if self.spent <= MAX_WORK else None
            left: dict[str, str] = {}
            for body in node.bodies:  # type: ignore[attr-defined]
                flow = self.run(body, scope, inner, depth)
                if env is not None:
                    self.spent += len(scope.env) >> 4
                    _may_be(scope, left)
                    left.update((name, value) for name, value in scope.env.items() if env.get(name) != value)
                out = flow if out is NO_FLOW else _joined(out, flow)
            _may_be(scope, env or {})
            self.outputs(node.redirects, scope, node, out, depth)  # type: ignore[attr-defined]
            return out if out.text is None else Flow(None, out.taints, out.names)
        if kind is Function:
            scope.functions[node.name] = node.body  # type: ignore[attr-defined]
            self.builtins.append(("function", [node.name]))  # type: ignore[attr-defined]
            if self.readers.fork_bomb(node.name, node.body):  # type: ignore[attr-defined]
                self.findings.append(
                    Finding(
                        "kill",
                        start=node.start,
                        end=node.end,
                        via=scope.via,
                        facts=frozenset(("fork-bomb",)),
                        detail="a function that starts itself",
                    )
                )
            return NO_FLOW
        if kind is Test:
            for word in node.words:  # type: ignore[attr-defined]
                self.expand(word, scope, depth)
            self.redirected(node.redirects, scope, stdin, node, depth)  # type: ignore[attr-defined]
            self.outputs(node.redirects, scope, node, NO_FLOW, depth)  # type: ignore[attr-defined]
            return NO_FLOW
        return UNKNOWN_FLOW

    def stays(self, old: str, new: str) -> bool:
        """Whether a ``cd`` cannot have worked: its goal is not there, and nothing on this line could have made it."""
        if old[:1] != "/" or new[:1] != "/" or ANY in new or NAME in new or self.world.kind(new):
            return False
        return bool(self.world.kind(old)) and not any(
            f.program in _MAKERS or f.effect in ("write", "overwrite") for f in self.findings
        )

    def group(self, node: Group, scope: Scope, stdin: Flow | None, depth: int) -> Flow:
        inner = self.below(scope) if node.subshell else scope
        stdin = self.redirected(node.redirects, inner, stdin, node, depth)
        flow = self.run(node.body, inner, stdin, depth)
        self.outputs(node.redirects, inner, node, flow, depth)
        return flow

    def loop(self, node: Loop, scope: Scope, stdin: Flow | None, depth: int) -> Flow:
        stdin = self.redirected(node.redirects, scope, stdin, node, depth)
        if node.kind in ("while", "until"):
            if node.condition is not None:
                self.run(node.condition, scope, stdin, depth)
            flow = self.run(node.body, scope, stdin, depth)
            self.outputs(node.redirects, scope, node, flow, depth)
            return Flow(None, flow.taints, flow.names)
        values: list[str] = []
        taints: frozenset[str] = _NO_TAINT
        if node.name:
            if node.words is None:
                values = list(scope.args) if scope.args is not None else [ANY]
            else:
                for word in node.words:
                    fields, marks = self.expand(word, scope, depth)
                    values += fields
                    taints |= marks
        else:  # for ((…;…;…))
            for word in node.words or []:
                self.expand(word, scope, depth)
            values = [NAME]
        flow = NO_FLOW
        rounds = values[:MAX_FIELDS] or ([] if node.words is not None else [ANY])
        if len(values) > MAX_FIELDS:
            rounds.append(ANY)
        if node.name:
            self.assigned.append((node.name, ""))
        for value in rounds:
            if node.name:
                scope.env[node.name] = value
                scope.lists.pop(node.name, None)
                scope.taints[node.name] = taints
            once = self.run(node.body, scope, stdin, depth)
            flow = once if flow is NO_FLOW else _joined(flow, once)
            if not self.spend():
                break
        self.outputs(node.redirects, scope, node, flow, depth)
        return flow

    # -- redirections --------------------------------------------------------------------------------------

    def redirected(
        self, redirects: list[Redirect], scope: Scope, stdin: Flow | None, node: Node, depth: int
    ) -> Flow | None:
        """What stdin is after the input redirections."""
        for redirect in redirects:
            op = redirect.op
            if op in ("<<", "<<-"):
                text, taints = self.joined(redirect.word, scope, depth)
                stdin = Flow(text, taints)
            elif op == "<<<":
                text, taints = self.joined(redirect.word, scope, depth)
                stdin = Flow(text + "\n", taints)
            elif op in ("<", "<>") and redirect.fd in ("", "0"):
                fields, taints = self.expand(redirect.word, scope, depth)
                stdin = self.file_flow(fields[0] if fields else ANY, scope, taints, node)
        return stdin

    def file_flow(self, path: str, scope: Scope, taints: frozenset[str], node: Node) -> Flow:
        """What reading the file gives: its text when it was written on this line or can be read from disk."""
        target = self.target(path, scope)
        self.builtins.append(("<", [target.path or path]))
        if "secret" in target.roles:
            taints |= {"secret"}
        known = self.scripts.get(target.path)
        if known is not None:
            return Flow(known, taints)
        if (
            target.path[:1] == "/"
            and not scope.where
            and ANY not in target.path
            and 0 < self.world.size(target.path) <= MAX_SCRIPT
        ):
            # what an interpreter or a database client is fed is judged by its text (psql < dump.sql, sh < x.sh)
            return Flow(self.world.text(target.path, MAX_SCRIPT), taints | {"file"})
        return Flow(None, taints | {"file"}, None)

    def outputs(
        self, redirects: list[Redirect], scope: Scope, node: Node, flow: Flow, depth: int
    ) -> list[tuple[str, str]]:
        """Judge the output redirections; returns them as ``(op, text)``."""
        files: list[tuple[str, str]] = []
        for redirect in redirects:
            op = redirect.op
            if op not in (">", ">>", ">|", "&>", "&>>", ">&", "<>", "<", "<&"):
                continue
            fields, taints = self.expand(redirect.word, scope, depth)
            path = fields[0] if fields else ANY
            if op in (">&", "<&") and (path.rstrip("-").isdigit() or path == "-"):
                continue
            if path.startswith(("/dev/tcp/", "/dev/udp/")):
                inv = Invocation(self, scope, ["/dev/tcp"], node.start, node.end, None, depth)
                inv.name = ""
                inv.taints = taints | flow.taints
                inv.add(
                    "send", Target("remote", path, _host_roles(path.split("/")[3])), facts=("dev-tcp",), detail=path
                )
                files.append((op, path))
                continue
            if op in ("<", "<&"):
                continue
            if path and path[0] == ANY and len(path) == 1 and op == ">&":
                self.builtins.append((">&", [path]))
                continue
            files.append((op, path))
            target = self.target(path, scope)
            if target.kind == "null":
                continue
            inv = Invocation(self, scope, [">"], node.start, node.end, None, depth)
            inv.name = ""
            inv.args = [path]
            inv.taints = taints
            effect = "overwrite" if op in (">", ">|", "&>", ">&") else "write"
            facts: tuple[str, ...] = ("append",) if effect == "write" else ("redirect",)
            if flow.text == "":
                facts = (*facts, "emptied")
                if self.world.size(target.path) > 0 and not scope.where:
                    facts = (*facts, "existing")
            inv.add(effect, target, facts=facts)
            if target.path and flow.text is not None and len(self.scripts) < 64:
                old = self.scripts.get(target.path, "") if effect == "write" else ""
                self.scripts[target.path] = (old + flow.text)[:MAX_SCRIPT]
            elif target.path:
                self.scripts.pop(target.path, None)
                if flow.taints & {"network", "decoded"} and len(self.scripts) < 64:
                    self.scripts[target.path + "\0taint"] = ",".join(sorted(flow.taints))
        return files

    # -- simple commands -----------------------------------------------------------------------------------

    def simple(self, node: Command, scope: Scope, stdin: Flow | None, depth: int) -> Flow:
        if not self.spend(1 + len(node.words)):
            if not self.exhausted:
                self.exhausted = True
                self.unanalysed("more work than one event is given", node.start, node.end, ("budget",))
            if not _worth_a_look(node, scope):
                return UNKNOWN_FLOW
        assigned: list[tuple[str, str, frozenset[str], list[str] | None]] = []
        for name, word, append in node.assigns:
            if word and word[0][0] == "A":
                items: list[str] = []
                marks: frozenset[str] = _NO_TAINT
                for element in word[0][1]:
                    fields, taints = self.expand(element, scope, depth)
                    items += fields
                    marks |= taints
                if append:
                    items = (scope.lists.get(name, []) + items)[: MAX_FIELDS * 4]
                assigned.append((name, items[0] if items else "", marks, items))
            else:
                value, marks = self.joined(word, scope, depth, assignment=True)
                if append:
                    value = scope.env.get(name, "") + value
                    if len(value) > MAX_SCRIPT:
                        value = ANY
                assigned.append((name, value, marks, None))
            self.assigned.append((name, assigned[-1][1]))
        words: list[str] = []
        arrays: list[tuple[str, list[str]]] = []
        taints_all: frozenset[str] = _NO_TAINT
        for word in node.words:
            if len(word) == 1 and word[0][0] == "t":  # the ordinary word: nothing to expand
                text = word[0][1]
                if text[0] != "~" and "*" not in text and "{" not in text and "?" not in text and "[" not in text:
                    words.append(text)
                    continue
            fields, marks = self.expand(word, scope, depth)
            if len(word) > 1 and word[-1][0] == "A" and word[0][0] == "t" and word[0][1][-1:] == "=":
                arrays.append((word[0][1].rstrip("+="), [fields[0].partition("=")[2], *fields[1:]]))  # declare -a x=(…)
            words += fields
            taints_all |= marks
        if not words:
            for name, value, marks, listed in assigned:
                scope.env[name] = value
                scope.taints[name] = marks
                if listed is not None:
                    scope.lists[name] = listed
                else:
                    scope.lists.pop(name, None)
            inner = self.redirected(node.redirects, scope, stdin, node, depth)
            flow = inner if inner is not None and not node.words else NO_FLOW
            self.outputs(node.redirects, scope, node, Flow("", flow.taints), depth)
            return flow if node.redirects else NO_FLOW
        if len(scope.aliases) and words[0] in scope.aliases and node.words and node.words[0][0][0] == "t":
            text = scope.aliases[words[0]] + " " + " ".join(_quote(w) for w in words[1:])
            inner_scope = scope.copy()
            inner_scope.aliases.pop(words[0], None)
            return self.nested_text(text, inner_scope, stdin, depth + 1, node.start, node.end, node)
        stdin = self.redirected(node.redirects, scope, stdin, node, depth)
        inv = Invocation(self, scope, words, node.start, node.end, stdin, depth)
        inv.taints = taints_all
        for name, value, marks, _ in assigned:
            inv.env[name] = value
            inv.taints |= marks - {"user"}
        flow = self.invoke(inv)
        for name, items in arrays:
            scope.lists[name] = items
        if node.redirects:
            inv.files = self.outputs(node.redirects, scope, node, flow, depth)
            if any(path.startswith(("/dev/tcp/", "/dev/udp/")) for _, path in inv.files):
                self.readers.network_shell(inv)
            if any(op in (">", ">>", "&>", "&>>", ">|") for op, _ in inv.files):
                return Flow("", flow.taints)
        return flow

    def invoke(self, inv: Invocation, launched: bool = False) -> Flow:
        """Judge one program: a function of this line, a builtin that changes the scope, or a reader's program.

        What a launcher starts (``launched``: ``command rm``, ``sudo rm``) is never a function.
        """
        scope = inv.scope
        body = scope.functions.get(inv.name) if inv.path == inv.name and not launched else None
        if body is not None and inv.depth >= MAX_DEPTH:
            self.unanalysed("nested too deeply", inv.start, inv.end, ("too-deep",))
            return UNKNOWN_FLOW
        if body is not None:
            if not self.enter(body, 64, inv.start, inv.end):
                return UNKNOWN_FLOW
            inner = scope.copy()
            inner.functions.pop(inv.name, None)  # a recursive call adds nothing that was not seen
            inner.args = inv.args
            inner.env.update(inv.env)
            inner.locals = set()
            flow = self.run(body, inner, inv.stdin, inv.depth + 1)
            scope.cwd = inner.cwd
            for name, value in inner.env.items():
                if name not in inv.env and name not in inner.locals:
                    scope.env[name] = value
            for name, items in inner.lists.items():
                if name not in inner.locals:
                    scope.lists[name] = items
            scope.functions.update(inner.functions)
            scope.aliases.update(inner.aliases)
            scope.either = inner.either
            return flow
        builtin = _BUILTINS.get(inv.name)
        if builtin is not None and ("/" not in inv.path or inv.name in _TWINS):
            self.builtins.append((inv.name, inv.args))
            return builtin(self, inv)
        if "/" in inv.path:
            self.paths.append(inv.path)
        judged: Flow = self.readers.judge(inv)
        return judged

    def launch(self, inv: Invocation, words: list[str], via: str, stdin: Flow | None, scope: Scope | None) -> Flow:
        """A command that a launcher starts (sudo, xargs, ssh …)."""
        if not words:
            return UNKNOWN_FLOW
        if inv.depth >= MAX_DEPTH:
            self.unanalysed("nested too deeply", inv.start, inv.end, ("too-deep",))
            return UNKNOWN_FLOW
        self.spend()
        inner = scope or inv.scope
        if scope is None and via:
            inner = inv.scope.copy() if via not in ("command", "builtin", "exec", "time") else inv.scope
        shared = inv.scope.via
        if via:
            inner.via = (*shared, via)
        new = Invocation(self, inner, words, inv.start, inv.end, stdin, inv.depth + 1)
        new.taints = inv.taints
        new.env = dict(inv.env)
        flow = self.invoke(new, inv.name not in ("then", "do", "coproc"))
        inv.scope.via = shared
        return flow

    def nested(self, inv: Invocation, text: str, via: str, scope: Scope | None, stdin: Flow | None) -> Flow:
        """Shell code inside a command (``bash -c``, ``eval``, a script, a Makefile recipe)."""
        inner = scope or inv.scope.copy()
        shared = inv.scope.via
        if via:
            inner.via = (*shared, via)
        # X=1 eval …, X=1 bash -c …: set for the inner code, and as before behind it
        before = {name: inner.env.get(name) for name in inv.env}
        inner.env.update(inv.env)
        flow = self.nested_text(
            text, inner, stdin if stdin is not None else inv.stdin, inv.depth + 1, inv.start, inv.end
        )
        for name, value in before.items():
            if value is not None:
                inner.env[name] = value
            else:
                inner.env.pop(name, None)
        inv.scope.via = shared
        return flow

    def nested_text(
        self, text: str, scope: Scope, stdin: Flow | None, depth: int, start: int, end: int, thing: Node | None = None
    ) -> Flow:
        if depth > MAX_DEPTH:
            self.unanalysed("nested too deeply", start, end, ("too-deep",))
            return UNKNOWN_FLOW
        if text.strip("\0\4 \n\t") == "":
            if text.strip():
                self.findings.append(
                    Finding(
                        "run-unknown",
                        Target("unknown"),
                        sure="unknown",
                        start=start,
                        end=end,
                        via=scope.via,
                        detail="code that is not visible here",
                    )
                )
            return UNKNOWN_FLOW
        self.builtins.append(("code", []))
        if not self.enter(thing or text, len(text), start, end):
            return UNKNOWN_FLOW
        body, problem = _parsed(_code_of(text))
        if problem:
            self.unanalysed(problem, start, end, ("partly",))
        _at(body, start, end)
        return self.run(body, scope, stdin, depth)

    # -- expansion -----------------------------------------------------------------------------------------

    def joined(self, word: Word, scope: Scope, depth: int, assignment: bool = False) -> tuple[str, frozenset[str]]:
        """The word as one text (assignments, here-documents): no splitting, no globbing."""
        if not word:
            return "", _NO_TAINT
        out: list[str] = []
        taints: frozenset[str] = _NO_TAINT
        grown = 0
        for i, part in enumerate(word):
            kind = part[0]
            if kind == "t":
                text = part[1]
                if i == 0 and text[:1] == "~":
                    text = self.tilde(text, scope)
                out.append(text)
            elif kind == "q":
                out.append(part[1])
            else:
                texts, marks = self.bounded(part, scope, depth)
                taints |= marks
                grown += sum(map(len, texts))
                out.append(" ".join(texts) if grown <= MAX_SCRIPT else ANY)
        return "".join(out), taints

    def expand(self, word: Word, scope: Scope, depth: int) -> tuple[list[str], frozenset[str]]:
        """The fields a word becomes, with sentinels, and what they carry."""
        self.spent += 1
        if scope.either:
            name = next((p[1] for p in word if p[0] == "v" and p[1] in scope.either), None)
            if name is not None:
                return self.alternatives(word, name, scope, depth)
        fields: list[str] = [""]
        taints: frozenset[str] = _NO_TAINT
        braces = False
        began = False
        grown = 0
        for i, part in enumerate(word):
            kind = part[0]
            if kind == "t":
                text: str = part[1]
                if i == 0 and text[:1] == "~":
                    text = self.tilde(text, scope)
                if "{" in text or "}" in text or (braces and "," in text):
                    braces = braces or "{" in text
                    text = text.replace("{", "\5").replace("}", "\6").replace(",", "\7")
                elif braces and "," in text:
                    text = text.replace(",", "\7")
                if "*" in text:
                    text = text.replace("*", STAR)
                if "?" in text:
                    text = text.replace("?", QMARK)
                if "[" in text and "]" in text:
                    text = _brackets(text)
                fields[-1] += text
                began = True
            elif kind == "q":
                fields[-1] += part[1]
                began = True
            else:
                texts, marks = self.bounded(part, scope, depth)
                taints |= marks
                grown += sum(map(len, texts))
                if grown > MAX_SCRIPT:
                    texts = [ANY]
                quoted = kind in ("v", "c") and part[-1]
                if quoted and not (kind == "v" and (part[1] == "@" or (part[1] in scope.lists and len(texts) > 1))):
                    fields[-1] += " ".join(texts) if len(texts) != 1 else texts[0]
                    began = True
                    continue
                if quoted:
                    split = list(texts)
                else:
                    split, open_end = _fields(texts)
                    if not split and not open_end:
                        continue
                    if split[:1] == [""] and not fields[-1]:
                        split = split[1:]  # white space in front of the first field makes none
                    if open_end:
                        split.append("")
                if not split:
                    continue
                fields[-1] += split[0]
                fields += split[1:]
                began = True
        if len(fields) > 1 and not fields[-1] and word and word[-1][0] not in ("q", "t"):
            fields.pop()  # white space behind the last field makes none either
        if not began and fields == [""]:
            return [], taints
        if braces:
            expanded: list[str] = []
            for field in fields:
                expanded += _brace_expand(field)
            fields = expanded
        return fields[: MAX_FIELDS * 4], taints

    def alternatives(self, word: Word, name: str, scope: Scope, depth: int) -> tuple[list[str], frozenset[str]]:
        """The fields for every value the variable may have (an untaken branch leaves another one)."""
        values = scope.either.pop(name)
        now = scope.env.get(name)
        if now != values[0]:  # set again since
            return self.expand(word, scope, depth)
        fields: list[str] = []
        taints: frozenset[str] = _NO_TAINT
        for value in values:
            scope.env[name] = value
            some, marks = self.expand(word, scope, depth)
            fields += [f for f in some if f not in fields]
            taints |= marks
        scope.env[name] = now
        scope.either[name] = values
        return fields, taints

    def tilde(self, text: str, scope: Scope) -> str:
        slash = text.find("/")
        user = text[1:] if slash < 0 else text[1:slash]
        rest = "" if slash < 0 else text[slash:]
        if user == "":
            if scope.where:
                return text  # the remote side's home, kept as written
            return scope.env.get("HOME", self.world.home) + rest
        if user == "+":
            return scope.cwd + rest
        if user == "-":
            return scope.env.get("OLDPWD", ANY) + rest
        if user == self.world.user:
            return self.world.home + rest
        if user == "root":
            return "/root" + rest
        if user.isidentifier() or user.replace("-", "").replace(".", "").isalnum():
            return "/home/" + user + rest
        return text

    def bounded(self, part: Part, scope: Scope, depth: int) -> tuple[list[str], frozenset[str]]:
        """``part``, its length counted as work: x=$x$x doubles with every line."""
        texts, taints = self.part(part, scope, depth)
        size = sum(map(len, texts))
        self.spent += size >> 6
        return ([ANY] if size > 1024 and self.spent > MAX_WORK else texts), taints

    def part(self, part: Part, scope: Scope, depth: int) -> tuple[list[str], frozenset[str]]:
        kind = part[0]
        if kind == "v":
            return self.parameter(part, scope, depth)
        if kind == "c":
            flow = self.run(part[1], self.below(scope), None, depth)
            if flow.text is not None:
                return [flow.text.rstrip("\n")], flow.taints
            if flow.names:
                return list(flow.names[:MAX_FIELDS]), flow.taints
            return [ANY], flow.taints | {"substitution"}
        if kind == "p":
            # >(…) reads what the command writes, which is not known here
            flow = self.run(part[1], self.below(scope), UNKNOWN_FLOW if part[2] == ">" else None, depth)
            if part[2] == "<" and flow.text is not None:
                name = f"/dev/fd/{len(self.scripts) + 10}"
                self.scripts[name] = flow.text
                return [name], flow.taints
            if "shell-setup" in flow.taints and not flow.taints & {"network", "decoded"}:
                return ["/dev/null"], flow.taints  # source <(tool completion bash)
            return ["/dev/fd/\4"], flow.taints | {"process"}
        if kind == "a":
            for inner in part[1]:
                if inner[0] in ("a", "c", "v"):
                    self.part(inner, scope, depth)
            return [NAME], _NO_TAINT
        if kind == "A":
            items: list[str] = []
            taints: frozenset[str] = _NO_TAINT
            for word in part[1]:
                fields, marks = self.expand(word, scope, depth)
                items += fields
                taints |= marks
            return items or [""], taints
        return [str(part[1])], _NO_TAINT

    def parameter(self, part: Part, scope: Scope, depth: int) -> tuple[list[str], frozenset[str]]:
        _, name, op, arg, _quoted = part
        if name == "" and arg is not None:  # a translated string
            text, taints = self.joined(arg, scope, depth)
            return [text], taints
        taints = scope.taints.get(name, _NO_TAINT)
        if op == "#":
            return [NAME], _NO_TAINT
        values = self.value(name, scope)
        if op == "[":  # ${a[$(…)]}: which element is not known
            self.joined(arg or [], scope, depth)
            return values if values is not None else [ANY], taints
        if op == "!":
            meant = self.value(values[0], scope) if values else None
            return meant if meant is not None else [ANY], taints
        known = values is not None and all(ANY not in v for v in values)
        if op in (":-", "-", ":=", "="):
            default, marks = self.joined(arg or [], scope, depth)
            if values is not None and values != [""]:
                return values, taints
            if values is None and name in scope.env:
                return [ANY], taints | marks
            if op in (":=", "="):
                scope.env[name] = default
            # unset as far as the line shows; the default is the likeliest value
            return [default], taints | marks
        if op in (":+", "+"):
            other, marks = self.joined(arg or [], scope, depth)
            return ([other] if values else [""] if known else [ANY]), marks
        if op in (":?", "?"):
            if arg:
                self.joined(arg, scope, depth)
            if values is None:
                return [NAME + ANY], taints  # the shell stops when it is empty: unknown, but not empty
            return values, taints
        pattern = self.joined(arg, scope, depth)[0] if arg else ""
        if values is None:
            return [ANY], taints | ({"env"} if _secret_variable(name) else _NO_TAINT)
        if not op:
            return values, taints
        if not known or len(values) != 1:
            return [ANY], taints
        return [_edited(values[0], op, pattern)], taints

    def value(self, name: str, scope: Scope) -> list[str] | None:
        """The fields of a variable, None when unknown."""
        if name in scope.lists:
            return scope.lists[name]
        if name in scope.env:
            return [scope.env[name]]
        if name in ("@", "*"):
            return list(scope.args) if scope.args is not None else None
        if name.isdigit():
            if name == "0":
                return ["bash"]
            if scope.args is None:
                return None
            at = int(name) - 1
            return [scope.args[at]] if at < len(scope.args) else [""]
        if name in (
            "?",
            "#",
            "$",
            "!",
            "RANDOM",
            "SECONDS",
            "LINENO",
            "UID",
            "EUID",
            "PPID",
            "BASHPID",
            "EPOCHSECONDS",
            "SHLVL",
        ):
            return [NAME]
        if scope.where:
            return None
        if name == "HOME":
            return [self.world.home]
        if name == "PWD":
            return [scope.cwd] if scope.cwd else None
        if name in ("USER", "LOGNAME"):
            return [self.world.user]
        if name == "TMPDIR":
            return [self.place.temps[-1] if len(self.place.temps) > 7 else "/tmp"]
        if name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
            default = {
                "XDG_CONFIG_HOME": "/.config",
                "XDG_CACHE_HOME": "/.cache",
                "XDG_DATA_HOME": "/.local/share",
                "XDG_STATE_HOME": "/.local/state",
            }
            return [self.world.env.get(name) or self.world.home + default[name]]
        if name in HOST_DIRS and self.world.env.get(name, "").startswith("/"):
            return [self.world.env[name]]
        if name == "CLAUDE_PROJECT_DIR" and self.place.project:
            return [self.place.project]
        if name == "IFS":
            return [" "]
        if name == "SHELL":
            return ["/bin/bash"]
        if name in ("HOSTNAME", "HOST", "OSTYPE", "MACHTYPE"):
            return [NAME]
        return None


def _may_be(scope: Scope, before: dict[str, str]) -> None:
    """After something that may not have run: a changed variable may still have the value it had ``before``."""
    for name, old in before.items():
        now = scope.env.get(name, "")
        if now != old:
            known = scope.either.get(name, [])
            scope.either[name] = list(dict.fromkeys([now, old, *known]))[:4]


def _worth_a_look(node: Command, scope: Scope) -> bool:
    """Past the budget only what could be a catastrophe is still read, so that padding cannot hide one."""
    if node.redirects and any(r.op in (">", ">|", "&>", ">&") for r in node.redirects):
        return True
    if not node.words:
        return bool(node.assigns)
    first = node.words[0]
    if len(first) != 1 or first[0][0] != "t":
        return True
    name = first[0][1]
    return (
        name[name.rfind("/") + 1 :] in _CATASTROPHIC
        or name.startswith("mkfs")
        or name in scope.functions
        or name in scope.aliases
    )


_CATASTROPHIC = frozenset(
    "rm find dd shred mv git sudo doas env nohup timeout xargs bash sh zsh eval exec source . cd pushd chmod chown curl wget nc ncat socat python python3 perl ruby node php wipefs truncate "
    "rsync kill pkill terraform tofu kubectl aws gcloud az docker psql mysql redis-cli mongosh dropdb nice command builtin time cp tee crontab busybox ssh unlink del rmdir popd export "
    "declare local readonly typeset unset set shift alias read trap printf ksh dash fish ash zsh5 su parallel watch setsid stdbuf ionice flock chroot unshare script pwsh powershell gh npx".split()
)


# -- builtins that change what follows -------------------------------------------------------------------------


def _cd(walk: Walk, inv: Invocation) -> Flow:
    scope = inv.scope
    args = [a for a in inv.args if a not in ("-L", "-P", "-e", "--")]
    old = scope.cwd
    if not args:
        if inv.name != "pushd":
            scope.cwd = scope.env.get("HOME", walk.world.home)
    elif args[0] == "-":
        scope.cwd = scope.env.get("OLDPWD", ANY)
    elif args[0][:1] in ("+", "-") and inv.name == "pushd":
        scope.cwd = ANY
    else:
        where = args[0]
        if len(scope.cwd) + len(where) > MAX_PATH or ("CDPATH" in scope.env and where[:1] not in "/~."):
            scope.cwd = ANY
        elif where[:1] == ANY and scope.cwd:
            # an empty variable means "stay" for cd "" and home for a bare cd; both are worse than the unknown
            scope.cwd = ANY + where[1:]
        elif where[:1] in ("/", "~") or scope.cwd[:1] == "/":
            scope.cwd = absolute(where, scope.cwd, walk.world.home) or ANY
            if STAR in scope.cwd or QMARK in scope.cwd:
                scope.cwd = _only(walk, scope.cwd) or scope.cwd[: min(map(scope.cwd.find, _live(scope.cwd)))] + NAME
        else:
            scope.cwd = ANY
    if inv.name == "pushd":
        scope.lists["\0dirs"] = [*scope.lists.get("\0dirs", []), old]
    scope.env["OLDPWD"] = old
    return NO_FLOW


def _live(path: str) -> list[str]:
    return [mark for mark in (STAR, QMARK) if mark in path]


def _only(walk: Walk, pattern: str) -> str:
    """The one directory that a pattern with one wildcard part names here, "" where that is not so plain."""
    parts = pattern.split("/")
    at = next(i for i, part in enumerate(parts) if _live(part))
    base = "/".join(parts[:at]) or "/"
    if any(_live(part) for part in parts[at + 1 :]) or ANY in base or NAME in base:
        return ""
    found = [
        name
        for name in walk.world.names(base, 500) or ()
        if glob_match(parts[at], name) and (name[:1] != "." or parts[at][:1] == ".")
    ]
    return "/".join([base.rstrip("/"), *found, *parts[at + 1 :]]) if len(found) == 1 else ""


def _popd(walk: Walk, inv: Invocation) -> Flow:
    stack = inv.scope.lists.get("\0dirs", [])
    if stack:
        inv.scope.cwd = stack[-1]
        inv.scope.lists["\0dirs"] = stack[:-1]
    else:
        inv.scope.cwd = ANY
    return NO_FLOW


def _declare(walk: Walk, inv: Invocation) -> Flow:
    scope = inv.scope
    for word in inv.args:
        if word[:1] in "-+":
            continue
        name, mark, value = word.partition("=")
        if scope.locals is not None and inv.name in ("local", "declare", "typeset"):
            scope.locals.add(name)
        if mark and name.replace("_", "a").isalnum():
            scope.env[name] = value
            scope.lists.pop(name, None)
            scope.taints[name] = inv.taints
    if inv.name == "export" or (inv.name in ("declare", "typeset") and "-x" in inv.args):
        walk.readers.exported(inv)
    if not [a for a in inv.args if a[:1] != "-"]:
        return Flow(None, frozenset(("secret",)))
    return NO_FLOW


def _unset(walk: Walk, inv: Invocation) -> Flow:
    for name in inv.args:
        if name[:1] != "-":
            inv.scope.env[name] = ""
            inv.scope.functions.pop(name, None)
    return NO_FLOW


def _set(walk: Walk, inv: Invocation) -> Flow:
    if "--" in inv.args:
        inv.scope.args = inv.args[inv.args.index("--") + 1 :]
    elif not inv.args:
        return Flow(None, frozenset(("secret",)))
    elif inv.args[0][:1] not in "-+":
        inv.scope.args = inv.args
    return NO_FLOW


def _shift(walk: Walk, inv: Invocation) -> Flow:
    if inv.scope.args is not None:
        count = int(inv.args[0]) if inv.args and inv.args[0].isdigit() else 1
        inv.scope.args = inv.scope.args[count:]
    return NO_FLOW


def _alias(walk: Walk, inv: Invocation) -> Flow:
    for word in inv.args:
        name, mark, value = word.partition("=")
        if mark:
            inv.scope.aliases[name] = value
    return NO_FLOW


def _eval(walk: Walk, inv: Invocation) -> Flow:
    walk.readers.code_taints(inv, inv.taints)
    text = " ".join(inv.args)
    if "shell-setup" in inv.taints and not inv.taints & {"network", "decoded"} and text.strip(ANY + " ") == "":
        return NO_FLOW  # eval "$(tool init)": the tool's own set-up
    return walk.nested(inv, text, "eval", inv.scope, inv.stdin)


def _read(walk: Walk, inv: Invocation) -> Flow:
    """``read a b``: from a known text the first line, else names printed by the producer, else unknown."""
    flow = inv.stdin
    names = []
    skip = False
    for word in inv.args:
        if skip:
            skip = False
        elif word in ("-p", "-d", "-n", "-N", "-t", "-u", "-i", "-a"):
            skip = word != "-a"
        elif word[:1] != "-":
            names.append(word)
    for i, name in enumerate(names or ["REPLY"]):
        value = ANY
        if flow is not None and flow.names and i == len(names) - 1:
            value = flow.names[0]
        elif flow is not None and flow.text is not None and len(names) <= 1:
            lines = [line for line in flow.text.split("\n") if line]
            if len(lines) == 1:
                value = lines[0]
        inv.scope.env[name] = value
        inv.scope.taints[name] = (flow.taints if flow is not None else _NO_TAINT) | {"user"}
    return NO_FLOW


def _trap(walk: Walk, inv: Invocation) -> Flow:
    args = [a for a in inv.args if a not in ("--", "-l", "-p")]
    if len(args) >= 2 and args[0] not in ("-", ""):
        walk.nested(inv, args[0], "trap", None, None)
    return NO_FLOW


def _printf(walk: Walk, inv: Invocation) -> Flow:
    args = inv.args
    if args[:1] == ["-v"] and len(args) >= 3:
        text = _format(args[2], args[3:])
        inv.scope.env[args[1]] = text if text is not None else ANY
        inv.scope.taints[args[1]] = inv.taints
        return NO_FLOW
    if args[:1] == ["--"]:
        args = args[1:]
    if not args:
        return NO_FLOW
    return Flow(_format(args[0], args[1:]), inv.taints)


def _echo(walk: Walk, inv: Invocation) -> Flow:
    args = inv.args
    newline, escapes = True, False
    while args and len(args[0]) > 1 and args[0][0] == "-" and not args[0].strip("-neE"):
        newline = newline and "n" not in args[0]
        escapes = escapes or "e" in args[0]
        args = args[1:]
    text = " ".join(args)
    if escapes and "\\" in text:
        text = _unescape(text)
    text = text.replace(STAR, "*").replace(QMARK, "?")
    return Flow(text + ("\n" if newline else ""), inv.taints)


def _nothing(walk: Walk, inv: Invocation) -> Flow:
    return NO_FLOW


def _pwd(walk: Walk, inv: Invocation) -> Flow:
    if not inv.scope.cwd or ANY in inv.scope.cwd:
        return Flow(NAME + ANY + "\n")  # not known, but never empty
    return Flow(inv.scope.cwd + "\n")


def _dirs(walk: Walk, inv: Invocation) -> Flow:
    return UNKNOWN_FLOW


_BUILTINS = {
    "cd": _cd, "chdir": _cd, "pushd": _cd, "popd": _popd, "export": _declare, "declare": _declare, "local": _declare,
    "readonly": _declare, "typeset": _declare, "unset": _unset, "set": _set, "shift": _shift, "alias": _alias, "eval": _eval,
    "read": _read, "mapfile": _read, "readarray": _read, "trap": _trap, "printf": _printf, "echo": _echo, "pwd": _pwd,
    ":": _nothing, "true": _nothing, "false": _nothing, "test": _nothing, "[": _nothing, "return": _nothing, "break": _nothing,
    "continue": _nothing, "exit": _nothing, "wait": _nothing, "jobs": _dirs, "shopt": _nothing, "umask": _nothing,
    "hash": _nothing, "dirs": _dirs, "getopts": _nothing, "unalias": _nothing, "let": _nothing, "sleep": _nothing,
}  # fmt: skip


# Programs that make directories: behind one of them a missing directory is no longer missing.
_MAKERS = frozenset(
    "mkdir git tar unzip cp mv rsync install npx npm pnpm yarn bun cargo go rails django-admin composer dotnet ln 7z hub gh docker "
    "curl wget python python3 node make cmake meson svn hg cookiecutter copier uv poetry mktemp".split()
)

# Builtins that are programs of the same meaning too: /bin/echo prints what echo prints.
_TWINS = frozenset(("echo", "printf", "pwd", "true", "false", "test", "[", "sleep"))


# -- pieces of expansion ---------------------------------------------------------------------------------------


def _joined(a: Flow, b: Flow) -> Flow:
    text = a.text + b.text if a.text is not None and b.text is not None and len(a.text) < MAX_SCRIPT else None
    names = (a.names or []) + (b.names or []) if a.names or b.names else None
    return Flow(text, a.taints | b.taints, names)


def _fields(texts: list[str]) -> tuple[list[str], bool]:
    """Unquoted values split at white space: ("a b" -> a, b; " a" -> "", a), and whether a new field begins behind
    the last one.  Live wildcards are marked."""
    out: list[str] = []
    open_end = False
    for text in texts:
        pieces = text.split()
        if open_end or (text[:1] in " \t\n" and text):
            pieces.insert(0, "")
        if out and not open_end and text[:1] not in " \t\n" and len(texts) > 1:
            out += pieces  # the next element of an array is a field of its own
        elif out and pieces and pieces[0] == "":
            out += pieces[1:]
        else:
            out += pieces
        open_end = bool(text) and text[-1:] in " \t\n"
    return [t.replace("*", STAR).replace("?", QMARK) if "*" in t or "?" in t else t for t in out], open_end


def _brackets(text: str) -> str:
    """A bracket expression is one unknown character."""
    out: list[str] = []
    done = 0
    at = text.find("[")
    while at >= 0:
        close = text.find("]", at + 2)
        if close < 0:
            break
        out += (text[done:at], QMARK)
        done = close + 1
        at = text.find("[", done)
    return "".join(out) + text[done:]


def _brace_expand(field: str) -> list[str]:
    """Brace expansion over the marked braces; unmatched ones become literal again."""
    out: list[str] = []
    todo = [field]
    while todo:
        text = todo.pop()
        at = text.find("\5")
        found = False
        looked = 0
        while at >= 0 and looked < 65536:
            level, commas, close = 0, [], -1
            for i in range(at, len(text)):
                looked += 1
                c = text[i]
                if c == "\5":
                    level += 1
                elif c == "\6":
                    level -= 1
                    if not level:
                        close = i
                        break
                elif c == "\7" and level == 1:
                    commas.append(i)
            if close < 0:
                break
            inside = text[at + 1 : close]
            options: list[str] = []
            if commas:
                marks = [at, *commas, close]
                options = [text[marks[k] + 1 : marks[k + 1]] for k in range(len(marks) - 1)]
            elif ".." in inside:
                options = _range(inside)
            if options:
                for option in reversed(options[:MAX_FIELDS]):
                    todo.append(text[:at] + option + text[close + 1 :])
                found = True
                break
            at = text.find("\5", at + 1)
        if not found:
            out.append(text.replace("\5", "{").replace("\6", "}").replace("\7", ","))
        if len(out) + len(todo) > MAX_FIELDS * 4:
            out += [t.replace("\5", "{").replace("\6", "}").replace("\7", ",") for t in todo]
            break
    return out


def _range(inside: str) -> list[str]:
    ends = inside.split("..")
    if len(ends) not in (2, 3):
        return []
    a, b = ends[0], ends[1]
    if a.lstrip("-").isdigit() and b.lstrip("-").isdigit() and len(a) < 12 and len(b) < 12:
        low, high = int(a), int(b)
        if abs(high - low) > MAX_FIELDS:
            return [NAME]
        step = 1 if high >= low else -1
        return [str(n) for n in range(low, high + step, step)]
    if len(a) == 1 and len(b) == 1 and a.isalpha() and b.isalpha():
        low, high = ord(a), ord(b)
        step = 1 if high >= low else -1
        return [chr(n) for n in range(low, high + step, step)]
    return []


def _edited(value: str, op: str, pattern: str) -> str:
    from .paths import glob_match

    if op in ("%", "%%", "#", "##"):
        ends = op[0] == "%"
        live = [i for i, c in enumerate(pattern) if c in "*?[" or c in (STAR, QMARK, ANY, NAME)]
        if not live:
            return (value.removesuffix if ends else value.removeprefix)(pattern)
        if len(value) > 1024 or len(pattern) > 64:
            return ANY
        if ends:
            spots = range(len(value), -1, -1) if op == "%" else range(len(value) + 1)
            return next((value[:at] for at in spots if glob_match(pattern, value[at:])), value)
        spots = range(len(value) + 1) if op == "#" else range(len(value), -1, -1)
        return next((value[at:] for at in spots if glob_match(pattern, value[:at])), value)
    if op in ("/", "//", "/#", "/%"):
        old, _, new = pattern.partition("/")
        if any(c in old for c in "*?["):
            return ANY
        return value.replace(old, new, 1 if op == "/" else -1) if old else value
    if op == "^^":
        return value.upper()
    if op == ",,":
        return value.lower()
    if op == "^":
        return value[:1].upper() + value[1:]
    if op == ",":
        return value[:1].lower() + value[1:]
    if op == ":":
        numbers = pattern.split(":")
        try:
            start = int(numbers[0])
            length = int(numbers[1]) if len(numbers) > 1 else None
        except ValueError:
            return ANY
        piece = value[start:]
        if length is None:
            return piece
        return piece[:length] if length >= 0 else piece[: len(piece) + length]
    return value if op == "@" else ANY


def _unescape(text: str) -> str:
    """``echo -e`` and printf escapes, by the reader that knows them.  ``\\0`` parts names, as a newline does here."""
    if "'" in text:
        return "'".join(map(_unescape, text.split("'")))
    pieces = text.split("\\0")
    for i in range(1, len(pieces)):
        pieces[i] = ("\\" if pieces[i][:1].isdigit() else "\\n") + pieces[i]
    try:
        part = read("$'" + "".join(pieces) + "'").items[0]
        word = part.words[0]  # type: ignore[attr-defined]
        return "".join(p[1] for p in word if p[0] == "q")
    except (Unreadable, IndexError, AttributeError):
        return text


def _format(form: str, args: list[str]) -> str | None:
    """printf with %s %d %b %q and %%; None when it uses more."""
    form = _unescape(form) if "\\" in form else form
    out: list[str] = []
    left = list(args)
    for _ in range(MAX_FIELDS):
        used = False
        i = 0
        while i < len(form):
            c = form[i]
            if c != "%":
                out.append(c)
                i += 1
                continue
            i += 1
            while i < len(form) and form[i] in "-+ 0#.123456789":
                i += 1
            kind = form[i : i + 1]
            i += 1
            if kind == "%":
                out.append("%")
            elif kind in ("s", "b", "q", "d", "i", "c", "x", "u", "f"):
                value = left.pop(0) if left else ""
                out.append(_unescape(value) if kind == "b" else value)
                used = True
            else:
                return None
        if not left or not used:
            break
    return "".join(out)


def _secret_variable(name: str) -> bool:
    low = name.upper()
    return any(
        mark in low
        for mark in (
            "TOKEN",
            "SECRET",
            "PASSWORD",
            "PASSWD",
            "API_KEY",
            "APIKEY",
            "ACCESS_KEY",
            "PRIVATE_KEY",
            "CREDENTIAL",
        )
    )


def _host_roles(host: str) -> tuple[str, ...]:
    from .programs.network import host_roles

    return host_roles(host)


def _quote(word: str) -> str:
    if word and all(c.isalnum() or c in "-_./=:,@%+\0\1\2\4" for c in word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"


def _code_of(text: str) -> str:
    """Text about to be read as code: live wildcards are ordinary characters there, unknown pieces a variable
    that nothing sets, so that they stay unknown and do not glue words together wrongly."""
    if STAR in text or QMARK in text:
        text = text.replace(STAR, "*").replace(QMARK, "?")
    if ANY in text or NAME in text:
        text = text.replace(ANY, "${__any__}").replace(NAME, "${__name__:?}")
    return text


def _at(body: Sequence, start: int, end: int) -> None:
    """Inner code has no place of its own in the outer line: its span is the launcher's."""
    todo: list[Node] = [body]
    while todo:
        node = todo.pop()
        node.start, node.end = start, end
        if isinstance(node, Sequence):
            todo += node.items
        elif isinstance(node, Pipeline):
            todo += node.stages
        elif isinstance(node, (Group, Function)):
            todo.append(node.body)
        elif isinstance(node, Loop):
            todo.append(node.body)
            if node.condition is not None:
                todo.append(node.condition)
        elif isinstance(node, Branch):
            todo += node.bodies


def _parsed(text: str) -> tuple[Sequence, str]:
    """The text as nodes, with a word about what could not be read ("" when all of it could)."""
    try:
        return read(text), ""
    except Unreadable as wrong:
        from .recover import recover

        # what stands before the mistake was read as it is (and bash runs it, line by line)
        done = wrong.done
        at = done[-1].end if done else 0
        rest = recover(text[at:])
        items = [*done, *rest.items]
        return Sequence(0, len(text), items, [";"] * len(items)), f"{wrong} at character {wrong.position}"


def analyse(text: str, place: Place, cwd: str) -> Walk:
    """Everything the command line ``text`` would do when started in ``cwd``; findings are in ``.findings``."""
    walk = Walk(place, text)
    scope = Scope(cwd)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _FRAMES))
    try:
        body, problem = _parsed(text)
        if problem:
            walk.unanalysed(problem, 0, len(text), ("partly",))
        walk.body = body
        walk.run(body, scope, None, 0)
    finally:
        sys.setrecursionlimit(limit)
    return walk
