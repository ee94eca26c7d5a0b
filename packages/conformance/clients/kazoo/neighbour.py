"""A kazoo client that has names, locks and places on paths that others use too: neighbour.py HOST:PORT, one line a command and one line an answer.

What a command opens on a path (a party below it), "close" closes, the last first.
"""

import logging
import sys
import time
from collections import defaultdict

from kazoo.client import KazooClient
from kazoo.recipe.barrier import DoubleBarrier
from kazoo.recipe.lock import Lock, ReadLock, WriteLock
from kazoo.recipe.party import Party, ShallowParty
from kazoo.recipe.queue import LockingQueue, Queue

logging.disable(logging.CRITICAL)
zk = KazooClient(hosts=sys.argv[1], timeout=30)
zk.start(timeout=30)
opened = defaultdict(list)
barriers = {}


def opening(path, close):
    opened[path].append(close)
    return "opened"


def taken(kind):
    def take(path, _):
        lock = kind(zk, path)
        lock.acquire(timeout=30)
        return opening(path, lock.release)

    return take


def joined(kind):
    def join(path, word):
        party = kind(zk, path, word)
        party.join()
        return opening(path + "/" + word, party.leave)

    return join


def keep(path, word):
    zk.create(path, word.encode(), ephemeral=True, makepath=True)
    return opening(path, lambda: zk.delete(path))


def close(path, _):
    opened[path].pop()()
    return "closed"


def enter(path, members):
    barrier = barriers.setdefault(path, DoubleBarrier(zk, path, int(members)))
    barrier.enter()
    return "entered" if barrier.participating else "not entered"


def leave(path, _):
    barriers[path].leave()
    return "left"


def rounds(path, numbers):
    """Enters and leaves again and again, with no pause between rounds: MEMBERS,ROUNDS,WORK-MS."""
    members, times, work_ms = (int(number) for number in numbers.split(","))
    barrier = DoubleBarrier(zk, path, members)
    entered = 0
    for _ in range(times):
        barrier.enter()
        entered += barrier.participating
        time.sleep(work_ms / 1000)
        barrier.leave()
    return "%d rounds" % entered


def put(kind):
    def into(path, word):
        kind(zk, path).put(word.encode())
        return "put"

    return into


COMMANDS = {
    "close": close,
    "session": lambda _path, _word: str(zk.client_id[0]),
    "keep": keep,
    "party": joined(Party),
    "shallow": joined(ShallowParty),
    "enter": enter,
    "leave": leave,
    "rounds": rounds,
    "lock": taken(Lock),
    "read": taken(ReadLock),
    "write": taken(WriteLock),
    "put": put(LockingQueue),
    "offer": put(Queue),
}

print("connected", flush=True)
for line in sys.stdin:
    command, path, *rest = line.split()
    try:
        answer = COMMANDS[command](path, rest[0] if rest else "")
    except Exception as error:  # pylint: disable=broad-except
        answer = repr(error)
    print(answer, flush=True)
zk.stop()
