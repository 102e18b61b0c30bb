"""One conversation of a real host with the scripted model, in a network of its own.

Run as a program: a JSON order on stdin, a JSON record on stdout.  It is a process apart from pytest because the
private network is a property of a process, and the model must be inside it together with the host.

order   argv, env, cwd, calls (``Call`` as JSON), pages, certificate (both as ``Model`` has them), seconds; ``@MODEL@`` in
        argv and env becomes the model's address
record  status (None when it had to be killed), stdout, stderr, requests [path, body], seconds, isolated
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from typing import Any

from .model import Call, Model

NEW_USER, NEW_NET = 0x10000000, 0x40000000  # <sched.h>
GET_FLAGS, SET_FLAGS, UP = 0x8913, 0x8914, 0x1  # <linux/sockios.h>, <net/if.h>


def enter_private_network() -> None:
    """Leave every network but a fresh loopback.  Raises OSError where the kernel or its rules say no."""
    uid, gid = os.getuid(), os.getgid()
    if ctypes.CDLL(None, use_errno=True).unshare(NEW_NET if uid == 0 else NEW_NET | NEW_USER):
        raise OSError(ctypes.get_errno(), "unshare")
    if uid != 0:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        name, flags = struct.unpack("16sH", fcntl.ioctl(sock, GET_FLAGS, struct.pack("16sH14x", b"lo", 0))[:18])
        fcntl.ioctl(sock, SET_FLAGS, struct.pack("16sH14x", name, flags | UP))


def private_network() -> bool:
    """Enter a private network if this machine allows it, tried first in a child: half a step can't be undone."""
    if not sys.platform.startswith("linux"):
        return False
    child = os.fork()
    if child == 0:
        try:
            enter_private_network()
            os._exit(0)
        except BaseException:
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        return False
    enter_private_network()
    return True


def converse(order: dict[str, Any]) -> dict[str, Any]:
    """Start the host, let it talk until it ends or its time is over, and say what happened."""
    isolated = private_network()
    env = dict(order["env"])
    if not isolated:
        # Everything that is not for loopback goes to a port where nobody listens.
        for scheme in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
            env[scheme] = "http://127.0.0.1:9"
        env["NO_PROXY"] = env["no_proxy"] = "127.0.0.1,localhost"
    with Model([Call(**call) for call in order["calls"]], order["pages"], order["certificate"]) as model:
        started = time.monotonic()
        host = subprocess.Popen(
            [model.filled(word) for word in order["argv"]],
            env={name: model.filled(value) for name, value in env.items()},
            cwd=order["cwd"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, err = host.communicate(timeout=order["seconds"])
            status: int | None = host.returncode
        except subprocess.TimeoutExpired:
            os.killpg(host.pid, signal.SIGKILL)  # its own session, so its hooks and shells too
            out, err = host.communicate()
            status = None
        return {
            "status": status,
            "stdout": out.decode("utf-8", "replace"),
            "stderr": err.decode("utf-8", "replace"),
            "requests": model.requests,
            "seconds": round(time.monotonic() - started, 2),
            "isolated": isolated,
        }


if __name__ == "__main__":
    json.dump(converse(json.load(sys.stdin)), sys.stdout)
