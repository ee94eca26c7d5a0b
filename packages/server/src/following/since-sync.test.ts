import { ZXID_NONE, type Zxid } from "@zooid/model";
import { apacheTransaction } from "@zooid/wire/apache";
import { ApacheType, recordOf, transaction } from "@zooid/wire/testing/apache-transactions";
import { expect, test } from "vitest";
import { type FollowedKind, followedKind, SyncCounts } from "./since-sync.ts";

const SESSION = 0x100000000000007n;

interface Made {
  readonly type: number;
  readonly record: Buffer;
  readonly session?: bigint;
  /** Default: a client's number. */
  readonly cxid?: number;
}

/** The number of a client's request stands behind the session. */
function made({ type, record, session = SESSION, cxid = 5 }: Made): ReturnType<typeof apacheTransaction> {
  const bytes = transaction({ zxid: 7n, type, record, session });
  bytes.writeInt32BE(cxid, 8);
  return apacheTransaction(bytes);
}

const ENDED: Made = { type: ApacheType.CLOSE_SESSION, record: recordOf.paths(["/a"]) };
const DELETED: Made = { type: ApacheType.DELETE, record: recordOf.delete("/a") };
const REAPED: Made = { type: ApacheType.DELETE_CONTAINER, record: recordOf.delete("/a"), session: 0n, cxid: 0 };

test.each<readonly [string, Made, FollowedKind]>([
  ["a session that a server ended", { ...ENDED, cxid: 0 }, "session-expired"],
  ["a session that its client closed", ENDED, "request"],
  ["a container that was reaped", REAPED, "reaped"],
  ["a node whose time to live was over", { ...DELETED, session: 0n, cxid: 0 }, "reaped"],
  ["a node that a client deleted", DELETED, "request"],
  ["a container that a client named", { ...REAPED, session: SESSION, cxid: 3 }, "request"],
  [
    "a change of the servers",
    { type: ApacheType.RECONFIG, record: recordOf.set("/zookeeper/config", "", -1) },
    "reconfig",
  ],
  ["a session that was opened", { type: ApacheType.CREATE_SESSION, record: recordOf.number(8000), cxid: 0 }, "request"],
  ["a request that failed", { type: ApacheType.ERROR, record: recordOf.number(-110) }, "request"],
])("the kind of %s follows from session, number and type", (_, transaction, kind) => {
  expect(followedKind(made(transaction))).toBe(kind);
});

test("transactions are counted from one answer to the next, and the first requests are named", () => {
  const counts = new SyncCounts();
  counts.add(made(DELETED));
  expect(counts.take(3 as Zxid)).toMatchObject({ after: undefined, requestCount: 1 });
  counts.add(made({ ...ENDED, cxid: 0 }));
  counts.add(made(REAPED));
  for (let i = 0; i < 100; i++) counts.add(made(DELETED));
  const taken = counts.take(9 as Zxid);
  expect(taken).toMatchObject({ after: 3, expiredCount: 1, reapedCount: 1, reconfigCount: 0, requestCount: 100 });
  expect(taken.requests).toHaveLength(20);
  expect(taken.requests[0]).toEqual({ zxid: "0x7", session: "0x100000000000007", type: ApacheType.DELETE });
  expect(counts.take(9 as Zxid)).toMatchObject({ after: 9, expiredCount: 0, requestCount: 0, requests: [] });
});

test("behind a snapshot there is no earlier answer", () => {
  const counts = new SyncCounts();
  counts.take(ZXID_NONE);
  counts.forget();
  expect(counts.take(9 as Zxid).after).toBeUndefined();
});
