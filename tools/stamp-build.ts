/**
 * Writes the time of this build into the compiled server, from where `srvr` and `/commands/version` tell it. SOURCE_DATE_EPOCH, where it is
 * set, is that time, so that builds can be repeated to the byte.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

const file = resolve(import.meta.dirname, "../packages/server/dist/build-time.js");
const text = readFileSync(file, "utf8");
const seconds = Number(process.env["SOURCE_DATE_EPOCH"] ?? Math.floor(Date.now() / 1000));
const stamped = text.replace(/^const STAMP = \d+;$/m, `const STAMP = ${seconds};`);
if (!Number.isSafeInteger(seconds) || !stamped.includes(`const STAMP = ${seconds};`))
  throw new Error(`${file} has no place for the time of a build, or ${seconds} is none`);
writeFileSync(file, stamped);
