#!/bin/sh
":"; //; here=$(dirname "$(readlink -f "$0")"); node="$here/../../../node_modules/node/bin/node"; [ -x "$node" ] || node=node; [ -d "$here/../src" ] && source=--conditions=@zooid/source; exec "$node" $source --max-semi-space-size=8 "$0" "$@"

// The line above is for the shell: it becomes the server's own process, on the Node.js that this repository pins where there is
// one, and runs the sources in a checkout and the built code elsewhere. For JavaScript it is a string and a comment.
import { existsSync } from "node:fs";

const sources = new URL("../src/main.ts", import.meta.url);
await import(existsSync(sources) ? sources.href : new URL("../dist/main.js", import.meta.url).href);
