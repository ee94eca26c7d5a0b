"""A kazoo client that is controlled by lines: peer.py HOST:PORT reads a JSON array a line and answers with one JSON value a line.

["get", "/a"] answers {"ok": ...} or {"error": NAME}; ["event"] waits for the next event of a watch and answers it.
"""

import json
import logging
import queue
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException

logging.disable(logging.CRITICAL)
WAIT = 30
zk = KazooClient(hosts=sys.argv[1], timeout=20)
zk.start(timeout=WAIT)
events = queue.Queue()


def watch(event):
    events.put(event)


COMMANDS = {
    "create": lambda path, data, ephemeral=False: zk.create(path, data.encode(), ephemeral=ephemeral),
    "get": lambda path: zk.get(path)[0].decode(),
    "watch": lambda path: zk.exists(path, watch=watch) is not None,
    "watch_children": lambda path: sorted(zk.get_children(path, watch=watch)),
    "set": lambda path, data: zk.set(path, data.encode()).version,
    "delete": lambda path: zk.delete(path),
    "children": lambda path: sorted(zk.get_children(path)),
    "is_mine": lambda path: zk.exists(path).ephemeralOwner == zk.client_id[0],
    "event": lambda: "{0.type} {0.path}".format(events.get(timeout=WAIT)),
}

for line in sys.stdin:
    command, *args = json.loads(line)
    try:
        answer = {"ok": COMMANDS[command](*args)}
    except KazooException as error:
        answer = {"error": type(error).__name__}
    except queue.Empty:
        answer = {"error": "no event"}
    print(json.dumps(answer), flush=True)
zk.stop()
