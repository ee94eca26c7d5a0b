#!/bin/sh
# Makes the pods of a StatefulSet the members of its ensemble, one change after another:
#
#   members.sh grow     gives each pod its role: the first $VOTERS a vote, the next $OBSERVERS none
#   members.sh shrink   takes the others out, the highest first, before their pods go
#
# SERVERS is the connect string, PATTERN the line of a server with {ordinal} for the pod's number, and PASSWORD_FILE has the
# password of the user `super`. What is done already is left as it is, so that a repeat continues. Where no server serves,
# IF_ABSENT=leave ends with status 0, and anything else with 1. Status 2: used wrongly.
set -eu

fail() {
  echo "$1" >&2
  exit "${2:-1}"
}

[ $# -eq 1 ] || fail "usage: members.sh grow|shrink" 2
verb=$1
case $verb in grow | shrink) ;; *) fail "members.sh takes grow or shrink, found \"$verb\"" 2 ;; esac
for name in SERVERS PATTERN VOTERS OBSERVERS PASSWORD_FILE; do
  eval "value=\${$name:-}"
  [ -n "$value" ] || fail "$name is not set" 2
done
case $VOTERS in *[!0-9]* | 0) fail "VOTERS is a number from 1 on, found \"$VOTERS\"" 2 ;; esac
case $OBSERVERS in *[!0-9]*) fail "OBSERVERS is a number, found \"$OBSERVERS\"" 2 ;; esac
[ -r "$PASSWORD_FILE" ] || fail "$PASSWORD_FILE, with the password of the user super, cannot be read" 2
ZOOID_ADMIN_AUTH="digest super:$(cat "$PASSWORD_FILE")"
export ZOOID_ADMIN_AUTH

total=$((VOTERS + OBSERVERS))
timeout=${TIMEOUT_MS:-600000}
cli=${ZOOID_CLI:-zkCli.sh}

zk() {
  $cli -server "$SERVERS" "$@"
}

# The members in force, one a line: "ID voter" or "ID observer".
members() {
  zk config | sed -n -e 's/^server\.\([0-9]*\)=.*:observer;.*/\1 observer/p' -e 's/^server\.\([0-9]*\)=.*:participant;.*/\1 voter/p'
}

role_of() {
  printf '%s\n' "$listed" | sed -n "s/^$1 //p"
}

line_of() {
  printf '%s' "$PATTERN" | sed "s/{ordinal}/$(($1 - 1))/g"
}

# A new ensemble, or one whose pods are being replaced, takes its time.
attempt=0
attempts=${ATTEMPTS:-60}
[ "${IF_ABSENT:-fail}" != leave ] || attempts=${ATTEMPTS:-6}
until listed=$(members) && [ -n "$listed" ]; do
  attempt=$((attempt + 1))
  if [ "$attempt" -ge "$attempts" ]; then
    text="no server of $SERVERS says which servers are members: they change only while a quorum serves"
    [ "${IF_ABSENT:-fail}" = leave ] || fail "$text"
    echo "$text; they are left as they are"
    exit 0
  fi
  sleep "${PAUSE_SECONDS:-5}"
done

if [ "$verb" = shrink ]; then
  for id in $(printf '%s\n' "$listed" | cut -d' ' -f1 | sort -rn); do
    if [ "$id" -gt "$total" ]; then
      zk member remove "$id" --wait --timeout "$timeout"
    elif [ "$id" -gt "$VOTERS" ] && [ "$(role_of "$id")" = voter ]; then
      zk member demote "$id" --wait --timeout "$timeout"
    fi
  done
  exit 0
fi

id=1
while [ "$id" -le "$total" ]; do
  wanted=observer
  [ "$id" -gt "$VOTERS" ] || wanted=voter
  found=$(role_of "$id")
  line=$(line_of "$id")
  if [ -z "$found" ] && [ "$wanted" = voter ]; then
    zk member add "$id=$line" --wait --timeout "$timeout"
  elif [ -z "$found" ]; then
    zk member add "$id=${line%;*}:observer;${line##*;}" --wait --timeout "$timeout"
  elif [ "$found" = observer ] && [ "$wanted" = voter ]; then
    zk member promote "$id" --wait --timeout "$timeout"
  fi
  id=$((id + 1))
done
