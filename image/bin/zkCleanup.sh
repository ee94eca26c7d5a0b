#!/bin/sh
# ZooKeeper's script deletes old logs and snapshots; this server does so while it runs.
echo "zkCleanup.sh: nothing to do: the server removes what it no longer needs (docs/operations.md, Retention of the log)"
