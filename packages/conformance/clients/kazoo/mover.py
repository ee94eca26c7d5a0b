"""A kazoo client with an ephemeral node and a place in a sequence: mover.py HOSTS SESSION_SECONDS FOLDER

It prints a line of JSON at the start and for each line of standard input, and ends its session with standard input. "lost" counts lost sessions.
"""

import json
import logging
import sys

from kazoo.client import KazooClient, KazooState

logging.disable(logging.CRITICAL)
hosts, timeout, folder = sys.argv[1:]
lost = 0


def listen(state):
    global lost
    if state == KazooState.LOST:
        lost += 1


zk = KazooClient(hosts=hosts, timeout=float(timeout), connection_retry=-1, command_retry=-1)
zk.add_listener(listen)
zk.start(timeout=60)
own = zk.create(folder + "/n-", b"kazoo", ephemeral=True, sequence=True)


def report():
    stat = zk.retry(zk.exists, own)
    owner = None if stat is None else hex(stat.ephemeralOwner & 0xFFFFFFFFFFFFFFFF)
    session = hex(zk.client_id[0] & 0xFFFFFFFFFFFFFFFF)
    print(json.dumps({"session": session, "own": own, "owner": owner, "lost": lost}), flush=True)


report()
for _ in sys.stdin:
    report()
zk.stop()
