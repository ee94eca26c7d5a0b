#!/bin/sh
exec node /opt/zooid/node_modules/zooid-cli/bin/zooid-cli.cjs "$@"
