"""The conformance scenario through kazoo: scenario.py HOST:PORT PROXY_HOST:PORT prints one line for each step.

The second address leads to the same server through a proxy that loses connections on request. What differs from run to
run (zxids, times, session ids) is printed as a relation or left out.
"""

import logging
import queue
import socket
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.retry import KazooRetry
from kazoo.security import ACL, Id, Permissions, make_acl, make_digest_acl
from kazoo.protocol.states import KazooState

logging.disable(logging.CRITICAL)
direct, proxied = sys.argv[1:3]
WAIT = 30
FAST = dict(max_tries=-1, delay=0.05, backoff=1, max_jitter=0, max_delay=0.05)


def client(hosts, **options):
    zk = KazooClient(hosts=hosts, timeout=20, connection_retry=KazooRetry(**FAST), **options)
    zk.start(timeout=WAIT)
    return zk


def show(value):
    if isinstance(value, Exception):
        return type(value).__name__
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        return "[" + ", ".join(show(v) for v in value) + "]"
    if isinstance(value, tuple) and hasattr(value, "czxid"):
        owner = "none" if value.ephemeralOwner == 0 else "mine" if value.ephemeralOwner == a.client_id[0] else "other"
        return (
            f"stat(version={value.version} cversion={value.cversion} aversion={value.aversion} owner={owner}"
            f" length={value.dataLength} children={value.numChildren}"
            f" touched={value.mzxid > value.czxid} populated={value.pzxid > value.czxid}"
            f" dated={value.mtime >= value.ctime > 0})"
        )
    if isinstance(value, ACL):
        return f"{value.id.scheme}:{value.id.id}:{value.perms}"
    if isinstance(value, tuple):
        return "(" + ", ".join(show(v) for v in value) + ")"
    return str(value)


def step(name, call, *args, **kw):
    try:
        result = call(*args, **kw)
    except KazooException as error:
        result = error
    if name.startswith("children") and isinstance(result, (tuple, list)):
        result = (sorted(result[0]), result[1]) if isinstance(result, tuple) else sorted(result)
    print(f"{name}: {show(result)}")
    return result


def say(word):
    host, port = proxied.split(":")
    with socket.create_connection((host, int(port)), timeout=WAIT) as control:
        control.sendall(word)
        assert control.recv(4) == b"done"


events = queue.Queue()


def watch(event):
    events.put(event)


def event(name, count=1):
    """Prints the next events, sorted when several are expected, because kazoo runs each callback on its own."""
    try:
        got = [events.get(timeout=WAIT) for _ in range(count)]
    except queue.Empty:
        got = []
    lines = sorted(f"{e.type} {e.path} {e.state}" for e in got) or ["no event"]
    for line in lines:
        print(f"{name}: event {line}")


a = client(proxied)
b = client(direct)
OPEN = [ACL(Permissions.ALL, Id("world", "anyone"))]

# Nodes and their versions.
step("create", a.create, "/s", b"hello")
step("create again", a.create, "/s", b"hello")
step("create below a missing parent", a.create, "/missing/x", b"")
step("create and stat", a.create, "/s/stat", b"12345678", include_data=True)
step("get", a.get, "/s")
step("get from the other session", b.get, "/s")
step("get a missing node", a.get, "/nope")
step("exists", a.exists, "/s/stat")
step("exists of a missing node", a.exists, "/nope")
step("set at version 0", a.set, "/s", b"world", version=0)
step("set at version 0 again", a.set, "/s", b"worse", version=0)
step("set at any version", a.set, "/s", b"")
step("get empty data", a.get, "/s")
step("set a missing node", a.set, "/nope", b"")
step("delete with children", a.delete, "/s")
step("delete at a wrong version", a.delete, "/s/stat", version=7)
step("delete", a.delete, "/s/stat", version=0)
step("delete again", a.delete, "/s/stat")
step("delete the root", a.delete, "/")
step("reserved nodes", a.get_children, "/zookeeper")

# Sequences and ephemerals.
for i in range(3):
    step("create sequential", a.create, "/s/q-", b"", sequence=True)
step("delete the middle", a.delete, "/s/q-0000000002")
step("create ephemeral", a.create, "/s/e", b"mine", ephemeral=True)
step("create ephemeral sequential", a.create, "/s/e-", b"", ephemeral=True, sequence=True)
step("stat of an ephemeral", a.exists, "/s/e")
step("create below an ephemeral", a.create, "/s/e/x", b"")
step("create ephemeral by the other session", b.create, "/s/b", b"", ephemeral=True)
step("stat of the other's ephemeral", a.exists, "/s/b")
step("children", a.get_children, "/s")
step("children with stat", a.get_children, "/s", include_data=True)
step("children of a missing node", a.get_children, "/nope")
step("children of a leaf", a.get_children, "/s/e")

# Watches, one shot each.
step("watch data", a.get, "/s/e", watch=watch)
step("set watched data", b.set, "/s/e", b"changed")
event("watch data")
step("set what is watched no more", b.set, "/s/e", b"again")
step("watch for creation", a.exists, "/s/new", watch=watch)
step("create what is awaited", b.create, "/s/new", b"")
event("watch for creation")
step("watch for deletion", a.exists, "/s/new", watch=watch)
step("children of what is deleted, watched", a.get_children, "/s/new", watch=watch)
step("delete what is watched", b.delete, "/s/new")
event("watch for deletion", 2)
step("children, watched", a.get_children, "/s", watch=watch)
step("set a child of the watched", b.set, "/s/e", b"not a change of children")
step("create a child of the watched", b.create, "/s/child", b"")
event("watch children")
step("children, watched again", a.get_children, "/s", watch=watch)
step("delete a child of the watched", b.delete, "/s/child")
event("watch children again")
step("watch before the other session closes", a.exists, "/s/b", watch=watch)
b.stop()
event("ephemeral of a closed session")
step("exists after its session closed", a.exists, "/s/b")
b.start(timeout=WAIT)


# Transactions.
def transaction(*calls):
    t = a.transaction()
    for method, *args in calls:
        getattr(t, method)(*args)
    return t.commit()


step(
    "multi",
    transaction,
    ("create", "/m", b"1"),
    ("create", "/m/child", b"2"),
    ("set_data", "/m", b"33", 0),
    ("check", "/m", 1),
    ("delete", "/m/child", 0),
)
step("get after multi", a.get, "/m")
step(
    "multi that fails in the middle",
    transaction,
    ("create", "/m/x", b""),
    ("set_data", "/m", b"never"),
    ("check", "/m", 77),
    ("delete", "/m"),
    ("create", "/m/y", b""),
)
step("get after a failed multi", a.get, "/m")
step("children after a failed multi", a.get_children, "/m")
step("multi with a sequence", transaction, ("create", "/m/n-", b"", None, False, True), ("create", "/m/n-", b"", None, False, True))
step("multi that deletes a missing node", transaction, ("delete", "/m/zzz"))
step("multi on an existing node", transaction, ("check", "/m", 1), ("create", "/m", b""))
step("empty multi", transaction)

# ACLs.
SECRET = [make_digest_acl("alice", "secret", all=True)]
step("get the open acl", a.get_acls, "/m")
step("create with a digest acl", a.create, "/acl", b"hidden", acl=SECRET)
step("get without authority", a.get, "/acl")
step("set without authority", a.set, "/acl", b"")
step("children without authority", a.get_children, "/acl")
step("create without authority", a.create, "/acl/x", b"")
step("exists without authority", a.exists, "/acl")
step("get acl without authority", a.get_acls, "/acl")
step("set acl without authority", a.set_acls, "/acl", OPEN)
step("multi without authority", transaction, ("create", "/m/z", b""), ("set_data", "/acl", b""))
step("create with an empty acl", a.create, "/bad", b"", acl=[])
step("create with an unknown scheme", a.create, "/bad", b"", acl=[make_acl("unknown", "id", all=True)])
step("create with auth but no identity", a.create, "/bad", b"", acl=[make_acl("auth", "", all=True)])
step("create with a malformed digest", a.create, "/bad", b"", acl=[make_acl("digest", "alice", all=True)])
step("add auth", a.add_auth, "digest", "alice:secret")
step("get with authority", a.get, "/acl")
step("get acl with authority", a.get_acls, "/acl")
step("create with auth", a.create, "/acl/mine", b"", acl=[make_acl("auth", "", read=True, write=True)])
step("get acl that auth became", a.get_acls, "/acl/mine")
step("read only for the world", a.set_acls, "/acl", SECRET + [make_acl("world", "anyone", read=True)], version=0)
step("set acl at a wrong version", a.set_acls, "/acl", OPEN, version=0)
step("get by a stranger", b.get, "/acl")
step("set by a stranger", b.set, "/acl", b"")
step("get acl by a stranger", b.get_acls, "/acl")
step("acl by address", a.create, "/here", b"", acl=[make_acl("ip", "127.0.0.1/8", all=True)])
step("get by address", b.get, "/here")
step("delete a node of no permission", b.delete, "/acl/mine")
step("sync", a.sync, "/s")

# A lost connection: the session goes on, and what changed meanwhile is noticed.
states = queue.Queue()
a.add_listener(states.put)
session = a.client_id
say(b"cut!")
print("state:", states.get(timeout=WAIT))
step("set while the other is away", b.set, "/m", b"meanwhile")
say(b"join")
print("state:", states.get(timeout=WAIT))
print("same session:", a.client_id == session)
step("ephemeral after reconnect", a.exists, "/s/e")
step("get after reconnect", a.get, "/m")
step("authority after reconnect", a.set, "/acl", b"still alice")

# The end of a session takes its ephemerals along.
step("watch the ephemeral", b.exists, "/s/e", watch=watch)
a.stop()
event("ephemeral of the closed session")
step("children at the end", b.get_children, "/s")
b.stop()
