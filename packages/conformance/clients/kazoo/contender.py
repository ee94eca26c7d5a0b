"""A kazoo client that takes turns with others: contender.py HOST:PORT reads a command and its arguments a line and answers with a line."""

import logging
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import BadVersionError, NodeExistsError
from kazoo.recipe.counter import Counter
from kazoo.recipe.election import Election
from kazoo.recipe.lock import Lock, ReadLock, WriteLock
from kazoo.recipe.queue import LockingQueue

logging.disable(logging.CRITICAL)
zk = KazooClient(hosts=sys.argv[1], timeout=30)
zk.start(timeout=30)


class CuratorLock(Lock):
    """Named as Curator's mutex, which waits for it."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


class CuratorWriteLock(Lock):
    _NODE_NAME = "__WRIT__"
    _EXCLUDE_NAMES = ["__WRIT__", "__READ__"]


class CuratorReadLock(Lock):
    _NODE_NAME = "__READ__"
    _EXCLUDE_NAMES = ["__WRIT__"]


def enter(how, path):
    """Says so while it is inside, and looks whether somebody is there who may not be."""
    inside = path + "-inside"
    try:
        if how == "read":
            mine = zk.create(inside + "/shared-", ephemeral=True, sequence=True)
        else:
            mine = zk.create(inside + "/alone", ephemeral=True)
    except NodeExistsError:
        return 1
    there = zk.get_children(inside)
    zk.delete(mine)
    return int("alone" in there if how == "read" else len(there) > 1)


def locked(kind, how):
    def run(path, times):
        intruders = 0
        for _ in range(times):
            with kind(zk, path):
                intruders += enter(how, path)
        return "%d turns, %d intruders" % (times, intruders)

    return run


def elected(path, times):
    intruders = []
    for _ in range(times):
        Election(zk, path).run(lambda: intruders.append(enter("alone", path)))
    return "%d turns, %d intruders" % (len(intruders), sum(intruders))


def counted(path, times):
    counter = Counter(zk, path, support_curator=True)
    for _ in range(times):
        while True:
            try:
                counter += 1
                break
            except BadVersionError:
                continue
    return "%d added" % times


def put(path, times):
    queue = LockingQueue(zk, path)
    for i in range(times):
        queue.put(b"python-%d" % i)
    return "%d put" % times


def consumed(path, times):
    queue = LockingQueue(zk, path)
    seen = set()
    for _ in range(times):
        item = queue.get(timeout=30)
        if item is None or not queue.consume():
            break
        seen.add(item)
    return "%d different items" % len(seen)


COMMANDS = {
    "lock": locked(Lock, "alone"),
    "mutex": locked(CuratorLock, "alone"),
    "write": locked(CuratorWriteLock, "write"),
    "read": locked(CuratorReadLock, "read"),
    "own-write": locked(WriteLock, "write"),
    "own-read": locked(ReadLock, "read"),
    "selector": elected,
    "count": counted,
    "put": put,
    "consume": consumed,
}

print("connected", flush=True)
for line in sys.stdin:
    command, path, times = line.split()
    try:
        answer = COMMANDS[command](path, int(times))
    except Exception as error:  # pylint: disable=broad-except
        answer = repr(error)
    print(answer, flush=True)
zk.stop()
