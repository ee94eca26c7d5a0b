"""TLS and SASL through kazoo: secured.py PLAIN TLS STRICT FOLDER prints one line for each step.

PLAIN and TLS are ports of a server that offers SASL and asks for certificates; STRICT accepts both and requires SASL.
FOLDER has the certificates.
"""

import logging
import os
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.security import make_acl

logging.disable(logging.CRITICAL)
plain, tls, strict, folder = sys.argv[1:5]
WAIT = 30
# Long enough for a busy machine; a refused client waits for it in vain.
WAIT_IN_VAIN = 3


def sasl(username, password):
    return dict(sasl_options=dict(mechanism="DIGEST-MD5", username=username, password=password))


def certificate(name=None, authority="authority"):
    own = {} if name is None else dict(certfile=file(name), keyfile=file(name))
    return dict(use_ssl=True, ca=file(authority), **own)


def file(name):
    return os.path.join(folder, name + ".pem")


def session(name, hosts, **options):
    zk = KazooClient(hosts=hosts, timeout=20, **options)
    zk.start(timeout=WAIT)
    print(f"{name}: connected")
    return zk


def refused(name, hosts, **options):
    """Whether kazoo reports the start, a lost connection or a failed authentication is a race inside it."""
    zk = KazooClient(hosts=hosts, timeout=20, **options)
    try:
        zk.start(timeout=WAIT_IN_VAIN)
        zk.exists("/")
        print(f"{name}: served")
    except (KazooTimeoutError, KazooException):
        print(f"{name}: refused")
    zk.stop()
    zk.close()


def show(value):
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        return ", ".join(sorted(f"{one.id.scheme}:{one.id.id}:{one.perms}" for one in value))
    return str(value)


def step(name, call, *args, **kw):
    try:
        result = call(*args, **kw)
    except KazooException as error:
        result = type(error).__name__
    if isinstance(result, tuple):
        result = f"version {result.version}" if hasattr(result, "version") else result[0]
    print(f"{name}: {show(result)}")


ALICE = sasl("alice", "of wonderland")
BOB = sasl("bob", "the builder")

# SASL on a plain connection.
alice = session("alice", plain, **ALICE)
bob = session("bob", plain, **BOB)
guest = session("guest", plain)
step("create for alice", alice.create, "/alice", b"hers", acl=[make_acl("sasl", "alice", all=True)])
step("get by alice", alice.get, "/alice")
step("get by bob", bob.get, "/alice")
step("get by guest", guest.get, "/alice")
step("get acl by bob", bob.get_acls, "/alice")
step("get acl by alice", alice.get_acls, "/alice")
step("create below by bob", bob.create, "/alice/x", b"")
step("create with auth by bob", bob.create, "/bob", b"his", acl=[make_acl("auth", "", all=True)])
step("get acl that auth became", bob.get_acls, "/bob")
step("get what auth became by alice", alice.get, "/bob")
step("create with auth by guest", guest.create, "/guest", b"", acl=[make_acl("auth", "", all=True)])
step("create for alice by guest", guest.create, "/gift", b"a gift", acl=[make_acl("sasl", "alice", all=True)])
step("get the gift by alice", alice.get, "/gift")
step("get the gift by guest", guest.get, "/gift")
step("open the gift", alice.set_acls, "/gift", [make_acl("sasl", "bob", read=True), make_acl("world", "anyone", read=True)])
step("get acl of the gift by guest", guest.get_acls, "/gift")
step("set the gift by bob", bob.set, "/gift", b"")
step("acl of a realm", alice.create, "/realm", b"", acl=[make_acl("sasl", "alice/host@REALM", all=True)])
step("acl of a bad realm", alice.create, "/realm-of-none", b"", acl=[make_acl("sasl", "@", all=True)])
step("add digest to sasl", alice.add_auth, "digest", "carol:secret")
step("create with auth of both", alice.create, "/both", b"", acl=[make_acl("auth", "", all=True)])
step("get acl of both", alice.get_acls, "/both")
bob.stop()
refused("alice with a wrong password", plain, **sasl("alice", "the builder"))
refused("a user who is not known", plain, **sasl("guest", "knows"))
refused("add sasl as a scheme", plain, auth_data=[("sasl", "alice:of wonderland")])

# Certificates.
one = session("alice's certificate", tls, **certificate("alice"))
two = session("bob's certificate", tls, **certificate("bob"))
step("create with auth by a certificate", one.create, "/x509", b"hers", acl=[make_acl("auth", "", all=True)])
step("get acl that the certificate became", one.get_acls, "/x509")
step("get by her certificate", one.get, "/x509")
step("get by his certificate", two.get, "/x509")
step("get without a certificate", guest.get, "/x509")
step("get by sasl", alice.get, "/x509")
BOBS = [make_acl("x509", "CN=bob,OU=people,O=zooid", read=True, write=True)]
step("create for bob's certificate", guest.create, "/his", b"his", acl=BOBS)
step("set by his certificate", two.set, "/his", b"still his")
step("create below by his certificate", two.create, "/his/x", b"")
step("get his by her certificate", one.get, "/his")
step("acl of no name", guest.create, "/no-name", b"", acl=[make_acl("x509", "bob", all=True)])
step("say it again", one.add_auth, "x509", "")
step("get by her certificate again", one.get, "/x509")
three = session("a certificate and sasl", tls, **certificate("alice"), **BOB)
step("create with auth of certificate and sasl", three.create, "/three", b"", acl=[make_acl("auth", "", all=True)])
step("get acl of certificate and sasl", three.get_acls, "/three")
step("get bob's by sasl over tls", three.get, "/bob")
for each in (one, two, three):
    each.stop()
refused("no certificate", tls, **certificate())
refused("a certificate of another authority", tls, **certificate("stranger"))
refused("a server of another authority", tls, **certificate("alice", authority="other-authority"))
refused("plain on the tls port", tls)
refused("tls on the plain port", plain, **certificate("alice"))
refused("a certificate and a wrong password", tls, **certificate("alice"), **sasl("alice", "the builder"))
alice.stop()
guest.stop()

# A port for both, which requires SASL.
alice = session("sasl, plain", strict, **ALICE)
bob = session("sasl, tls without a certificate", strict, **certificate(), **BOB)
three = session("sasl, tls with a certificate", strict, **certificate("bob"), **ALICE)
step("create by alice", alice.create, "/alice", b"hers", acl=[make_acl("auth", "", all=True)])
step("get it by bob", bob.get, "/alice")
step("get it by alice over tls", three.get, "/alice")
step("create over tls without a certificate", bob.create, "/bob", b"", acl=[make_acl("auth", "", all=True)])
step("get acl without a certificate", bob.get_acls, "/bob")
step("create over tls with a certificate", three.create, "/three", b"", acl=[make_acl("auth", "", all=True)])
step("get acl with a certificate", three.get_acls, "/three")
for each in (alice, bob, three):
    each.stop()
refused("sasl, a wrong password", strict, **sasl("alice", "the builder"))
refused("sasl, a certificate of another authority", strict, **certificate("stranger"), **ALICE)


def asked(name, **options):
    """kazoo connects again and again where it is sent away, so one question is all that is seen of it."""
    zk = session(name, strict, **options)
    step(f"{name}, asking", zk.exists, "/")
    zk.stop()


asked("no sasl, plain")
asked("no sasl, tls with a certificate", **certificate("alice"))
asked("digest instead of sasl", auth_data=[("digest", "alice:of wonderland")])
