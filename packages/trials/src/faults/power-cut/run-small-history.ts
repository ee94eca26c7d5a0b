/**
 * Runs one small history below a folder, and writes what it promised into a file outside of it:
 *
 *     node packages/trials/src/faults/power-cut/run-small-history.ts HISTORY FOLDER PROMISES
 */
import { writeFileSync } from "node:fs";
import { Notes } from "./notes.ts";
import { encodePromises } from "./promises.ts";
import { isSmallHistory, runSmallHistory } from "./small-histories.ts";

const [, , name = "", root = "", file = ""] = process.argv;
if (!isSmallHistory(name)) throw new Error(`there is no small history "${name}"`);
const notes = new Notes();
await runSmallHistory(name, root, notes);
writeFileSync(file, encodePromises(notes.promises));
