/** For the test that kills it: opens a store, says so, and ends. */

import { openStore } from "../sqlite.ts";
import { RecordingHandler } from "./append-batches.ts";

const [, , directory = ""] = process.argv;
process.send?.("begins");
await using _store = await openStore({ directory, sid: 1, handler: new RecordingHandler() });
process.send?.("is open");
process.disconnect?.();
