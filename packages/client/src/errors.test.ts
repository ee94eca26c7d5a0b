import { ArgumentError, ErrorCode, type ErrorName, errorCode, type TimeFault, type Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { connect, createClient } from "./connect.ts";
import {
  captureStack,
  historyGone,
  isZkError,
  refusalError,
  renamedError,
  TransactionError,
  timeRefused,
  ZkConnectionError,
  ZkNodeError,
  ZkServerError,
  zkError,
} from "./errors.ts";
import { DecodeError } from "./operations/decode-error.ts";

test("every code of the protocol makes an error with its number and a sentence", () => {
  for (const name of Object.keys(ErrorCode) as ErrorName[]) {
    const error = refusalError(ErrorCode[name], "get", "/a");
    expect([error.code, error.errno]).toEqual([name, ErrorCode[name]]);
    expect(error.message).toMatch(/^get \/a: .+/);
  }
});

test("a code that the table does not know keeps its number", () => {
  expect(refusalError(-77, "get")).toMatchObject({
    code: "ERROR_-77",
    errno: -77,
    message: expect.stringContaining("-77"),
  });
});

test("the class gives the kind of fault, and isZkError accepts errors of another copy of the package", () => {
  expect(refusalError(ErrorCode.NO_NODE, "get")).toBeInstanceOf(ZkNodeError);
  expect(refusalError(ErrorCode.SYSTEM_ERROR, "get")).toBeInstanceOf(ZkServerError);
  const lost = zkError({ code: "CONNECTION_LOSS", op: "set", path: "/a", outcome: "unknown" });
  expect(lost).toBeInstanceOf(ZkConnectionError);
  expect(lost.message).toContain("may or may not have been carried out");
  const read = zkError({ code: "CONNECTION_LOSS", op: "get", path: "/a", outcome: "unknown", isRead: true });
  expect(read.message).not.toContain("may or may not");
  const copied = Object.assign(new Error("x"), { code: "NO_NODE", errno: -101, outcome: "rejected" });
  expect([isZkError(copied, "NO_NODE"), isZkError(copied, "NO_AUTH"), isZkError(new Error("x"))]).toEqual([
    true,
    false,
    false,
  ]);
});

test("what a history reaches is in the message, the error and its copy for another method", () => {
  const error = historyGone({ first: 0x100000005 as Zxid, last: 0x200000007 as Zxid }, "get", "/a");
  expect(error.message).toBe(
    "get /a: the server's history does not reach that moment (HISTORY_GONE); it begins at 0x100000005 and ends at 0x200000007",
  );
  expect(renamedError(error, "undo", "/b").reach).toEqual({ first: 0x100000005, last: 0x200000007 });
  expect(historyGone(undefined, "get", "/a").message).toContain("; it has nothing yet");
});

test.each<[fault: TimeFault, message: RegExp]>([
  [
    { kind: "behind", askedMs: 2000, zxid: 0x100000005 as Zxid, timeMs: 1000 },
    /HISTORY_GONE\); the history ends at 0x100000005, at 1970-01-01T00:00:01.000Z, and so earlier than 1970-01-01T00:00:02.000Z$/,
  ],
  [
    { kind: "twice", askedMs: 2000, first: 0x100000005 as Zxid, last: 0x100000009 as Zxid },
    /BAD_ARGUMENTS\); a clock went back across 1970-01-01T00:00:02.000Z: .* first behind 0x100000005, and last behind 0x100000009; name one/,
  ],
])("why a time stands for no transaction is in the message, the error and its copy (case %#)", (fault, message) => {
  const reach = { first: 1 as Zxid, last: 2 as Zxid };
  const error = timeRefused(fault, { reach, op: "get", path: "/a" });
  expect(error.message).toMatch(message);
  expect(renamedError(error, "undo", "/b")).toMatchObject({ timeFault: fault, reach, code: error.code });
});

test("a failed transaction names the step that was refused", () => {
  const error = new TransactionError([
    { op: "create", path: "/a", code: "OK" },
    { op: "delete", path: "/b", code: "NO_NODE" },
    { op: "set", path: "/c", code: "RUNTIME_INCONSISTENCY" },
  ]);
  expect(error).toMatchObject({ failedIndex: 1, code: "NO_NODE", path: "/b", errno: -101 });
  expect(error.message).toBe("the transaction was refused at op 2 of 3, delete /b: there is no such node (NO_NODE)");
});

test("errors of calls and of connect have their codes when they are cloned, whose stacks are those of the callers", async () => {
  const zk = createClient("127.0.0.1:1", { waitingTimeoutMs: 1, logger: SILENT });
  const failed = [zk.get("/a//b"), zk.get("/a"), connect("127.0.0.1:1", { startTimeoutMs: 1, logger: SILENT })];
  const errors = (await Promise.allSettled(failed)).map((result) =>
    result.status === "rejected" ? result.reason : null,
  );
  zk.disconnect();
  for (const error of errors) {
    expect(isZkError(error)).toBe(true);
    expect([error.code, errorCode(structuredClone(error))]).toEqual([error.code, error.code]);
  }
  const lost = zkError({ code: "CONNECTION_LOSS", op: "get", outcome: "unknown" }, { cause: new Error("reset") });
  captureStack(lost);
  expect(errorCode(structuredClone(lost))).toBe("CONNECTION_LOSS");
});

const silent = (): void => {};
const SILENT = { debug: silent, info: silent, warn: silent, error: silent };

test("errors of every kind have their codes when they are cloned, and most their fields", () => {
  const cause = new Error("reset");
  const ops = [{ op: "delete", path: "/b", code: "NO_NODE" }] as const;
  const errors = [
    refusalError(ErrorCode.NO_NODE, "get", "/a"),
    refusalError(-77, "get", "/a"),
    zkError({ code: "CONNECTION_LOSS", op: "set", path: "/a", outcome: "unknown" }, { cause }),
    renamedError(refusalError(ErrorCode.NO_AUTH, "exists", "/x"), "get", "/a"),
    renamedError(zkError({ code: "CONNECTION_LOSS", op: "exists", outcome: "unknown" }, { cause }), "get", "/a"),
    new TransactionError(ops),
    decodeError(cause),
    new ArgumentError("connect", ["hosts is a text"]),
  ];
  for (const error of errors) expect(errorCode(structuredClone(error))).toBe(error.code);
  // Errors without a cause have none.
  expect(refusalError(ErrorCode.NO_NODE, "get", "/a").cause).toBeUndefined();
});

function decodeError(cause: Error): DecodeError {
  const stat = {
    mzxid: 7 as Zxid,
    czxid: 7 as Zxid,
    pzxid: 7 as Zxid,
    ctimeMs: 0,
    mtimeMs: 0,
    version: 0,
    cversion: 0,
  };
  const node = {
    path: "/a",
    data: null,
    stat: { ...stat, aversion: 0, ephemeralOwner: 0n, dataLength: 0, numChildren: 0 },
  };
  return new DecodeError(node, cause);
}
