/**
 * Loaded into a server's process: sets its wall clock by the milliseconds in the file `clock` of
 * its working directory, whenever they change.
 */
import { readFileSync } from "node:fs";

const READ_EVERY_MS = 50;

const trueNow = Date.now;
let offsetMs = 0;

function read(): void {
  try {
    offsetMs = Number(readFileSync("clock", "utf8")) || 0;
  } catch {
    offsetMs = 0;
  }
}

read();
setInterval(read, READ_EVERY_MS).unref();
Date.now = () => trueNow() + offsetMs;
