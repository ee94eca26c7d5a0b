#!/bin/sh
# The words of ZooKeeper's script that make sense in a container; any other words are a command to run, as in the official image.
server=/opt/zooid/node_modules/zooid-server/bin/zooid-server.cjs
user=1000
# Where Bitnami's image has them, if they are mounted there.
bitnami=/bitnami/zookeeper bitnami_conf=/opt/bitnami/zookeeper/conf
default_conf=/conf default_data=/data default_datalog=/datalog
[ ! -e $bitnami_conf/zoo.cfg ] || default_conf=$bitnami_conf
[ ! -d $bitnami ] || default_data=$bitnami/data default_datalog=$bitnami/data
conf=${ZOO_CONF_DIR:-$default_conf}
data=${ZOO_DATA_DIR:-${ZOOKEEPER_DATA_DIR:-$default_data}}
datalog=${ZOO_DATA_LOG_DIR:-${ZOOKEEPER_DATA_LOG_DIR:-$default_datalog}}
logs=${ZOO_LOG_DIR:-/logs}
config=$conf/zoo.cfg
# Where /conf is read-only, the server's start writes it beside the data.
[ -e "$config" ] || config=$data/conf/zoo.cfg

# Root gives the server its directories, and becomes its user: a server needs no rights beyond them.
start() {
  [ "$(id -u)" = 0 ] || exec node "$server" container
  for directory in "$conf" "$data" "$datalog" "$logs"; do
    mkdir -p "$directory" 2>/dev/null
    find "$directory" ! -user $user -exec chown -h $user {} + 2>/dev/null ||
      echo "zkServer.sh: cannot give all of $directory to user $user: mount it writable, or with that owner" >&2
  done
  exec setpriv --reuid $user --regid $user --clear-groups node "$server" container
}

case ${1:-start-foreground} in
  start-foreground) start ;;
  zkServer.sh) shift && exec zkServer.sh "$@" ;;
  health) exec node "$server" health "$config" ;;
  status) exec node "$server" status "$config" ;;
  check) exec node "$server" check "$config" ;;
  version) exec node "$server" --version ;;
  start | stop | restart) echo "zkServer.sh: the container is the server: start, stop and restart the container" >&2 && exit 2 ;;
  *) exec "$@" ;;
esac
