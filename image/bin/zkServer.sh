#!/bin/sh
# The words of ZooKeeper's script that make sense in a container; any other words are a command to run, as in the official image.
server=/opt/zooid/node_modules/zooid-server/bin/zooid-server.cjs
config=${ZOO_CONF_DIR:-/conf}/zoo.cfg
case ${1:-start-foreground} in
  start-foreground) exec node "$server" container ;;
  zkServer.sh) shift && exec zkServer.sh "$@" ;;
  health) exec node "$server" health "$config" ;;
  status) exec node "$server" status "$config" ;;
  version) exec node "$server" --version ;;
  start | stop | restart) echo "zkServer.sh: the container is the server: start, stop and restart the container" >&2 && exit 2 ;;
  *) exec "$@" ;;
esac
