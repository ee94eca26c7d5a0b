import { SqliteHarness } from "./test-sqlite-harness.ts";
import { describeTxnLog } from "./txn-log-contract.ts";

describeTxnLog("the SQLite log", async () => new SqliteHarness(), ["flips"]);
