"use strict";
// A file of its own: a Node.js that is too old cannot parse it.
void import("../dist/main.js");
