/** For the test that kills it: appends without end and reports to its parent what was completed. */

import type { StoreLog } from "../log/txn-log.ts";
import { openStore } from "../sqlite.ts";
import { batchOf, range } from "./append-batches.ts";
import { promised } from "./promised-log.ts";

const [, , directory = ""] = process.argv;
let next = 1;

function append(log: StoreLog): void {
  promised(log).append(batchOf(range(next, next + 9)));
  next += 10;
}

const { log } = await openStore({
  directory,
  sid: 1,
  handler: {
    appended: ({ zxid }) => {
      process.send?.(zxid);
      append(log);
    },
    roomChanged: (missing) => console.error(missing ?? "room again"),
    failed: (error) => console.error(error),
    warned: (text) => console.error(text),
  },
});
for (let i = 0; i < 4; i++) append(log);
