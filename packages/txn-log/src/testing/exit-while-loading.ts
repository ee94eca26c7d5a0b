/**
 * For the test of its end: starts the state's thread, exits at once, and writes how many threads
 * still load at its very end.
 */

import { writeSync } from "node:fs";
import { openStore } from "../sqlite.ts";
import { countLoading } from "../threads/loading.ts";
import { RecordingHandler } from "./txn-log-contract.ts";

const STDOUT = 1;

const [, , directory = ""] = process.argv;
const store = await openStore({ directory, sid: 1, handler: new RecordingHandler() });
void store.state.flush();
const before = countLoading();
// Behind the listener that waits, which the first thread has added.
process.on("exit", () => writeSync(STDOUT, `${before} ${countLoading()}`));
process.exit(20);
