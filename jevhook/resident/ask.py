"""What a hook does first when its command line says ``--resident FOLDER``: hand the event to the warm process.

Only built-in modules are imported here (``__future__`` is none): a hook that is answered by the warm process ends soon
after the bare interpreter would.  Where anything is not as it should be (no process, a slow one, another version,
another user's) ``judged`` comes back and the hook does the work itself, with what was read of the event here.  Its
clock starts then, unless the event had been taken: a short watchdog may not be used up by waiting in a crowd.

The folder stands in the command line, not in the environment: a repository can set a host's environment.

One connection, one event::

    us   -> head (4 lengths), arguments, environment, directory, event
    them -> A    read whole, will judge
    us   -> G    go: from here on only they judge this event, and write its ledger line; with it, stdout and stderr as
                 file descriptors.  Not before: what waits for a process that never comes would hold them open, and a
                 host waits for the end of our stdout
    them -> O    the answer is about to be written
    them -> X<code>    all done
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PATIENCE = 0.1  # seconds in which the warm process has to take the event, or at least another one
SLOW = 1.0  # seconds after which the lane itself waits for the rest of the event: it has a watchdog
CROWD = 1.0  # seconds: the longest wait for one that goes on taking others
END = 200.0  # seconds: the longest watchdog a policy may set, three times that where it is crowded, and its grace
MARK = b"jevhook2"
_MAX = 100 << 20


def socket_name(folder: str) -> str:
    """The socket of this very install: another version, interpreter or place of the package has another one."""
    from _imp import source_hash

    text = f"{sys.executable}\0{sys.version}\0{__file__}\0{_version()}"
    return f"{folder}/{source_hash(1, text.encode('utf-8', 'surrogateescape')).hex()}"


def _version() -> str:
    from jevhook import __version__

    return __version__


def folder_of(argv: list[str]) -> str:
    """The value of ``--resident``, when it is an absolute path; else ""."""
    at = argv.index("--resident") + 1
    folder = argv[at] if at < len(argv) else ""
    return folder if folder[:1] == "/" and "\0" not in folder else ""


def judged(argv: list[str]) -> tuple[bytes, float]:
    """Ends this process with the warm process's exit code, or comes back with what was read of stdin, and when a warm
    process had taken the event (by the monotonic clock; 0.0 if none had)."""
    try:
        import _socket
        import posix
    except ImportError:  # Windows
        return b"", 0.0
    folder = folder_of(argv)
    if not folder:
        return b"", 0.0
    try:
        for handle in (0, 1, 2):
            posix.fstat(handle)  # a closed one's number would be the connection's; the lane knows what to do
        facts = posix.stat(folder)
        if facts.st_uid != posix.geteuid() or facts.st_mode & 0o077:
            return b"", 0.0
        line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        line.settimeout(PATIENCE)
        try:
            line.connect(socket_name(folder))
        except (FileNotFoundError, ConnectionRefusedError):
            line.close()
            _wake(posix, folder)
            return b"", 0.0
        if not same_user(line, posix.geteuid()):
            line.close()
            return b"", 0.0
    except (OSError, ValueError):  # no such folder: nobody wants a warm process; or one that is too busy
        return b"", 0.0
    data, whole = _read(posix)
    taken = 0.0
    if whole:
        code, taken = _exchange(posix, _socket, line, argv, data)
        if code is not None:
            posix._exit(code)
    return data, taken


def same_user(line: "Any", uid: int) -> bool:
    """Whether the process at the other end is ours, where the system can say so (Linux; else the folder's mode does)."""
    if sys.platform != "linux":
        return True
    return int.from_bytes(line.getsockopt(1, 17, 12)[4:8], sys.byteorder) == uid  # SOL_SOCKET, SO_PEERCRED


def _read(posix: "Any") -> tuple[bytes, bool]:
    """What is on stdin, and whether that is all of it: the lane knows how to wait for one that does not block, and for one
    that does not end (here nothing would ever have ended it)."""
    import _signal  # type: ignore[import-not-found]

    pieces: list[bytearray] = []
    size = 0
    waits = [True]

    def late(*_: "Any") -> None:
        if waits:
            raise TimeoutError

    _signal.signal(_signal.SIGALRM, late)
    _signal.setitimer(_signal.ITIMER_REAL, SLOW)
    try:
        while size <= _MAX:
            piece = bytearray(1 << 16)
            pieces.append(piece)  # before it is filled: the alarm may come between its filling and anything else
            got = posix.readv(0, [piece])
            del piece[got:]
            if not got:
                waits.clear()
                return b"".join(pieces), True
            size += got
    except OSError:
        pass
    finally:
        waits.clear()
        _signal.setitimer(_signal.ITIMER_REAL, 0)
        _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
    last = pieces.pop() if pieces else bytearray()
    return b"".join(pieces) + (last.rstrip(b"\0") if len(last) == 1 << 16 else last), False


def _exchange(posix: "Any", _socket: "Any", line: "Any", argv: list[str], data: bytes) -> tuple[int | None, float]:
    """The exit code, or None when this process has to judge the event itself; and when they took it."""
    import time

    words = "\0".join(argv).encode("utf-8", "surrogateescape")
    environment = b"\0".join([name + b"=" + value for name, value in posix.environ.items()])
    try:
        here = posix.getcwdb()
    except OSError:
        here = b""
    lengths = b"".join([len(part).to_bytes(8, "big") for part in (words, environment, here, data)])
    stage = b""
    taken = 0.0
    try:
        handles = (1).to_bytes(4, sys.byteorder) + (2).to_bytes(4, sys.byteorder)
        line.sendall(MARK + lengths + words + environment + here)
        line.sendall(data)
        stage = _taken(posix, line, argv)
        if stage != b"A":
            return None, 0.0
        taken = time.monotonic()
        line.sendmsg([b"G"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, handles)])
        line.settimeout(END)
        stage = b""
        while True:
            said = line.recv(16)
            if not said:
                break
            stage += said
            if b"X" in stage and len(stage) > stage.index(b"X") + 1:
                return int(stage[stage.index(b"X") + 1]), taken
    except TimeoutError:
        if line.gettimeout() == END:  # they still have it: silence, and never a second judgement
            return 0, taken
    except OSError:
        pass
    finally:
        line.close()
    # Their process is gone.  Nothing was said yet: this one says it.  Something was: twice would be no JSON.
    return (None if not stage or stage == b"A" else 0), taken


def _taken(posix: "Any", line: "Any", argv: list[str]) -> bytes:
    """What they say first.  Of 100 hooks at once most were tired of waiting and judged alone, at five times the work."""
    import time

    for left in reversed(range(int(CROWD / PATIENCE))):
        try:
            return line.recv(1)  # type: ignore[no-any-return]
        except TimeoutError:
            lately = time.time() - posix.stat(f"{socket_name(folder_of(argv))}.lock").st_mtime
            if not left or not 0 <= lately < PATIENCE:
                raise
    return b""


def _wake(posix: "Any", folder: str) -> None:
    """Start the warm process for the next hook: at most once in five seconds, in an environment of its own."""
    import time

    name = socket_name(folder)
    tried = f"{name}.tried"
    try:
        try:
            if time.time() - posix.stat(tried).st_mtime < 5:
                return
            posix.rename(tried, f"{tried}.{posix.getpid()}")
            posix.unlink(f"{tried}.{posix.getpid()}")
        except FileNotFoundError:
            pass
        # Of any number of hooks at once one makes it: 20 that all found none had started up to 17 processes.  Where all
        # find an old one, two may; the second finds that somebody listens, and ends.
        posix.close(posix.open(tried, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_NOFOLLOW, 0o600))
        main = __file__.rsplit("/", 2)[0] + "/__main__.py"
        null = [(posix.POSIX_SPAWN_OPEN, fd, "/dev/null", posix.O_RDWR, 0) for fd in (0, 1, 2)]
        posix.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", main, "resident", "serve", folder],
            {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            file_actions=null,
            setsid=True,
        )
    except (OSError, AttributeError, NotImplementedError):
        pass
