import { SqliteHarness } from "../testing/sqlite-harness.ts";
import { describeTxnLog } from "../testing/txn-log-contract.ts";

describeTxnLog("the SQLite log", async () => new SqliteHarness(), ["core"]);
