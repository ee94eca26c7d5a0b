/**
 * Writes the time of this build into the compiled server, for `srvr` and `/commands/version`.
 * SOURCE_DATE_EPOCH, if set, is used as that time, so that builds are reproducible.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

const file = resolve(import.meta.dirname, "../packages/server/dist/operators/build-time.js");
const text = readFileSync(file, "utf8");
const seconds = Number(process.env["SOURCE_DATE_EPOCH"] ?? Math.floor(Date.now() / 1000));
const stamped = text.replace(/^const STAMP = \d+;$/m, `const STAMP = ${seconds};`);
if (!Number.isSafeInteger(seconds) || !stamped.includes(`const STAMP = ${seconds};`))
  throw new Error(`${file} has no place for the time of a build, or ${seconds} is none`);
writeFileSync(file, stamped);
