"""Changes of an ensemble's servers by kazoo: reconfig.py HOST:PORT LINE... prints one line for each step.

Each LINE is server.N=… of a server, in the order of their numbers. Servers 1 to 3 are the ensemble, 4 runs and follows without a
vote, and the others do not run.
"""

import logging
import queue
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException

logging.disable(logging.CRITICAL)
WAIT = 30
CONFIG = "/zookeeper/config"
address, *lines = sys.argv[1:]
events = queue.Queue()


def say(name, text):
    print(f"kazoo {name}: {text}".replace("\n", "\\n"), flush=True)


def session(auth=None):
    zk = KazooClient(hosts=address, timeout=20, auth_data=auth)
    zk.start(timeout=WAIT)
    return zk


def step(name, zk, joining=None, leaving=None, members=None, version=-1):
    try:
        config, stat = zk.reconfig(joining, leaving, members, version)
        same = stat.version == -1 and stat.data_length == len(config)
        say(name, f"{config.decode()} {same}")
        return config.decode()
    except KazooException as error:
        say(name, type(error).__name__)
        return ""


def event(name):
    try:
        now = events.get(timeout=WAIT)
        say(name, f"{now.type} {now.path}")
    except queue.Empty:
        say(name, "nothing came")


plain = session()
step("without the permission", plain, joining=lines[3])
say("reads", plain.get(CONFIG, watch=events.put)[0].decode())
zk = session([("digest", "super:secret")])
step("another version", zk, joining=lines[3], version=7)
step("no line", zk, joining="server.4")
step("no number leaves", zk, leaving="x")
step("not enough that run", zk, joining=",".join(lines[4:7]))
config = step("joining", zk, joining=lines[3])
event("sees")
say("reads", plain.get(CONFIG, watch=events.put)[0].decode())
version = int(config.rsplit("version=", 1)[-1], 16)
step("leaving, from its version", zk, leaving="4", version=version)
event("sees")
step("leaving, from the version before", zk, leaving="3", version=version)
step("members", zk, members=",".join(lines[:4]))
step("members, by lines", zk, members="\n".join(lines[:3]))
for each in (plain, zk):
    each.stop()
