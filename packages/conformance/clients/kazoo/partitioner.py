"""kazoo's SetPartitioner at work: partitioner.py HOST:PORT PATH ID ITEM,ITEM,... prints its share whenever it has one, and ends with its input."""

import logging
import sys
import threading

from kazoo.client import KazooClient

logging.disable(logging.CRITICAL)
hosts, path, identifier, items = sys.argv[1:]
zk = KazooClient(hosts=hosts, timeout=10)
zk.start(timeout=30)
is_over = threading.Event()


def read():
    sys.stdin.read()
    is_over.set()


threading.Thread(target=read, daemon=True).start()
partitioner = zk.SetPartitioner(path, set=tuple(items.split(",")), identifier=identifier, time_boundary=1)
reported = None
while not is_over.is_set():
    if partitioner.failed:
        print("failed", flush=True)
        break
    if partitioner.release:
        partitioner.release_set()
        reported = None
    elif partitioner.acquired:
        share = ",".join(partitioner)
        if share != reported:
            print(share, flush=True)
            reported = share
        is_over.wait(0.05)
    else:
        partitioner.wait_for_acquire(0.2)
partitioner.finish()
zk.stop()
