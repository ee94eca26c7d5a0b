#!/usr/bin/env node
"use strict";
// Every version of Node.js can parse this file: one that is too old prints a sentence, not a syntax error.
var fs = require("fs");
var path = require("path");
var manifest = require("../package.json");

var app = path.dirname(__dirname);

if (fs.existsSync(path.join(app, "src/main.ts"))) {
  // In Zooid's repository, whose sources are not published.
  require("../../../tools/run-app.cjs").runApp(app);
} else {
  startInstalled(/^>=(\d+\.\d+)/.exec(manifest.engines.node)[1]);
}

function startInstalled(needed) {
  if (isAtLeast(process.versions.node, needed)) {
    require("./start.cjs");
    return;
  }
  var found = process.version + " (" + process.execPath + ")";
  var sentence = "Node.js " + needed + " or newer is needed, found " + found;
  var help = "; to use one without installing it: npx -y node@24 " + process.argv[1];
  console.error(manifest.name + ": " + sentence + help);
  process.exit(2);
}

function isAtLeast(version, wanted) {
  var parts = [version.split("."), wanted.split(".")];
  var major = parts[0][0] - parts[1][0];
  return major > 0 || (major === 0 && parts[0][1] - parts[1][1] >= 0);
}
