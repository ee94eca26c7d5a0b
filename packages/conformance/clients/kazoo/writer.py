"""Kazoo clients that set nodes until standard input ends: writer.py HOSTS SESSION_SECONDS CLIENTS PATH...

Each client sets one of the paths after the other to values of its own. A line for each answered set: CLIENT VALUE PATH SENT ANSWERED
MZXID VERSION, times in nanoseconds of the monotonic clock; without an answer, CLIENT VALUE PATH SENT; and CLIENT lost where a session is lost.
"""

import logging
import sys
import threading
import time

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import KazooException

logging.disable(logging.CRITICAL)
hosts, timeout, count, *paths = sys.argv[1:]
over = threading.Event()
printing = threading.Lock()


def say(*words):
    with printing:
        print(*words, flush=True)


def run(number):
    name = "kazoo%d" % number
    zk = KazooClient(hosts=hosts, timeout=float(timeout))
    zk.add_listener(lambda state: say(name, "lost") if state == KazooState.LOST and not over.is_set() else None)
    zk.start(timeout=60)
    turn = number
    while not over.is_set():
        value, path = "%s.%d" % (name, turn), paths[turn % len(paths)]
        turn += 1
        sent = time.monotonic_ns()
        try:
            stat = zk.set(path, value.encode())
            say(name, value, path, sent, time.monotonic_ns(), stat.mzxid, stat.version)
        except KazooException:
            say(name, value, path, sent)
    zk.stop()


threads = [threading.Thread(target=run, args=(number,)) for number in range(int(count))]
for thread in threads:
    thread.start()
sys.stdin.read()
over.set()
for thread in threads:
    thread.join()
