import {
  type ConnectionRef,
  type HistoryAnswer,
  type HistoryQuery,
  OPEN_ACL,
  OpCode,
  type PastNode,
  PastPart,
  READ_ONLY_ACL,
  type Zxid,
} from "@zooid/model";
import { type JuteWriter, writeChangesRequest, writePastRequest } from "@zooid/wire";
import { describe, expect, test } from "vitest";
import { TestReplica } from "../testing/replica.ts";
import { create, read, setAcl, setData } from "../testing/requests.ts";

const NO_RIGHTS = [{ perms: 0, scheme: "world", id: "anyone" }];
const READERS = [{ perms: 1, scheme: "world", id: "anyone" }];
const NODE: PastNode = {
  data: Buffer.from("past"),
  acl: OPEN_ACL,
  czxid: 1 as Zxid,
  mzxid: 2 as Zxid,
  ctimeMs: 3,
  mtimeMs: 4,
  version: 5,
  aversion: 6,
  ownerHigh: 0,
  ownerLow: 0,
};

/** A replica whose history is answered by hand. */
function withHistory(): { readonly zk: TestReplica; readonly asked: HistoryQuery[] } {
  const asked: HistoryQuery[] = [];
  const zk = new TestReplica(
    {},
    {
      history: {
        read: (_, query) => asked.push(query),
        encodeNode: ({ data }) => Buffer.from(`node ${Buffer.from(data ?? "")}`),
        encodeChildren: ({ names }) => Buffer.from(`children ${names}`),
        encodeChanges: ({ changes }) =>
          Buffer.from(changes.map(({ isReadable, data }) => `${isReadable} ${Buffer.from(data ?? "")}`).join(", ")),
      },
    },
  );
  return { zk, asked };
}

const pastOf =
  (path: string, at = 7): ((writer: JuteWriter) => void) =>
  (writer) =>
    writePastRequest(writer, path, { zxid: at as Zxid });
const changesOf =
  (path: string): ((writer: JuteWriter) => void) =>
  (writer) =>
    writeChangesRequest(writer, path, { after: 0 as Zxid, countMax: 10 });

function answer(zk: TestReplica, serial: number, found: HistoryAnswer): void {
  zk.replica.historyRead(serial, found);
}

function furnished(): { readonly zk: TestReplica; readonly asked: HistoryQuery[]; readonly ref: ConnectionRef } {
  const { zk, asked } = withHistory();
  const ref = zk.open();
  zk.ask(ref, OpCode.CREATE, create("/a"));
  return { zk, asked, ref };
}

describe("a question about the past", () => {
  test("is read for, and answered when the history has been read", () => {
    const { zk, asked, ref } = furnished();
    expect(zk.ask(ref, OpCode.GET_PAST, pastOf("/a"))).toBe("");
    const [query] = asked;
    expect(query).toMatchObject({ kind: "node", at: { zxid: 7 } });
    expect(Buffer.from(query?.path ?? []).toString()).toBe("/a");
    answer(zk, 1, { kind: "node", node: NODE });
    expect(zk.take(ref)).toEqual([expect.stringContaining("node past")]);
  });

  test("may name a time, in a unit that is known", () => {
    const { zk, asked, ref } = furnished();
    zk.ask(ref, OpCode.GET_PAST, (writer) => writePastRequest(writer, "/a", { timeMs: 8 }));
    expect(asked).toMatchObject([{ at: { timeMs: 8 } }]);
    answer(zk, 1, { kind: "unknown" });
    zk.take(ref);
    const inAnother = (writer: JuteWriter): void => {
      writer.text("/a");
      writer.zxid(8);
      writer.int(2);
      writer.int(PastPart.NODE);
    };
    expect(zk.ask(ref, OpCode.GET_PAST, inAnother)).toBe("BAD_ARGUMENTS");
  });

  test.each<[HistoryAnswer, string]>([
    [{ kind: "no-node" }, "NO_NODE"],
    [{ kind: "children", acl: NO_RIGHTS, names: ["secret"] }, "NO_AUTH"],
    [{ kind: "too-large" }, "QUOTA_EXCEEDED"],
    [{ kind: "node", node: { ...NODE, acl: NO_RIGHTS } }, "NO_AUTH"],
    [{ kind: "unknown" }, "HISTORY_GONE"],
    [{ kind: "failed", reason: "a file is damaged" }, "SYSTEM_ERROR"],
  ])("is refused where the history says so (case %#)", (found, code) => {
    const { zk, ref } = furnished();
    zk.ask(ref, OpCode.GET_PAST, pastOf("/a"));
    answer(zk, 1, found);
    expect(zk.take(ref)).toEqual([expect.stringContaining(code)]);
  });

  test("may be about the children of a node", () => {
    const { zk, asked, ref } = furnished();
    const childrenOf = (part: number) => (writer: JuteWriter) => writePastRequest(writer, "/a", { timeMs: 8 }, part);
    zk.ask(ref, OpCode.GET_PAST, childrenOf(PastPart.CHILDREN));
    expect(asked).toMatchObject([{ kind: "children", at: { timeMs: 8 } }]);
    answer(zk, 1, { kind: "children", acl: READERS, names: ["b", "c"] });
    expect(zk.take(ref)).toEqual([expect.stringContaining("children b,c")]);
    expect(zk.ask(ref, OpCode.GET_PAST, childrenOf(2))).toBe("BAD_ARGUMENTS");
  });

  test("shows the data of those changes alone that the client might have read", () => {
    const { zk, ref } = furnished();
    zk.ask(ref, OpCode.GET_CHANGES, changesOf("/a"));
    const change = { zxid: 1 as Zxid, timeMs: 1, op: OpCode.SET_DATA, version: 1 };
    const changes = [READ_ONLY_ACL, NO_RIGHTS, undefined].map((acl, i) => ({
      ...change,
      acl,
      data: Buffer.from(`d${i}`),
    }));
    answer(zk, 1, { kind: "changes", changes, reached: 1 as Zxid, isLast: true, gaps: [] });
    expect(zk.take(ref)).toEqual([expect.stringContaining("true d0, false , false ")]);
  });

  test("holds back the requests behind it, and lets go of them in order", () => {
    const { zk, asked, ref } = furnished();
    expect(zk.send(ref, 1, OpCode.SET_DATA, setData("/a", "1"))).toBe(true);
    // Nothing is read behind it, so that no write overtakes it.
    expect(zk.send(ref, 2, OpCode.GET_PAST, pastOf("/a"))).toBe(false);
    expect(asked).toEqual([]);
    zk.turn();
    expect([zk.take(ref).length, asked.length]).toEqual([1, 1]);
    answer(zk, 1, { kind: "node", node: NODE });
    expect(zk.take(ref)).toHaveLength(1);
    expect(zk.resumed).toContain(ref);
  });

  test("that waits for nothing holds them back, too", () => {
    const { zk, ref } = furnished();
    const resumedBefore = zk.resumed.length;
    expect(zk.send(ref, 1, OpCode.GET_PAST, pastOf("/a"))).toBe(false);
    answer(zk, 1, { kind: "node", node: NODE });
    expect(zk.resumed.slice(resumedBefore)).toEqual([ref]);
    // One that is refused holds back nothing.
    expect(zk.send(ref, 2, OpCode.GET_PAST, pastOf("/a/"))).toBe(true);
  });

  test("keeps the sessions that wait for one before it", () => {
    const { zk, ref } = furnished();
    const other = zk.open("127.0.0.2", 1000);
    zk.ask(ref, OpCode.GET_PAST, pastOf("/a"));
    zk.ask(other, OpCode.GET_PAST, pastOf("/a"));
    // No ping is read from the other one meanwhile.
    for (let serial = 1; serial <= 1; serial++) {
      zk.advanceInTicks(900);
      answer(zk, serial, { kind: "unknown" });
      zk.advanceInTicks(900);
    }
    answer(zk, 2, { kind: "unknown" });
    expect(zk.take(other)).toEqual([expect.stringContaining("HISTORY_GONE")]);
  });

  test("of a connection that has gone is forgotten", () => {
    const { zk, ref } = furnished();
    zk.ask(ref, OpCode.GET_PAST, pastOf("/a"));
    zk.replica.disconnect(ref);
    const other = zk.open();
    answer(zk, 1, { kind: "node", node: NODE });
    expect(zk.take(other)).toEqual([]);
    expect(zk.ask(other, OpCode.EXISTS, read("/a"))).toBeDefined();
  });
});

describe("the rights to a past", () => {
  test("are READ on a node that is there", () => {
    const { zk, asked, ref } = furnished();
    zk.ask(ref, OpCode.SET_ACL, setAcl("/a", NO_RIGHTS));
    expect(zk.ask(ref, OpCode.GET_CHANGES, changesOf("/a"))).toBe("NO_AUTH");
    expect(asked).toEqual([]);
  });

  test("are ADMIN on the nearest node above one that is gone", () => {
    const { zk, asked, ref } = furnished();
    for (const [acl, code] of [
      [READERS, "NO_AUTH"],
      [NO_RIGHTS, "NO_AUTH"],
    ] as const) {
      const { zk: other, ref: its } = furnished();
      other.ask(its, OpCode.SET_ACL, setAcl("/a", acl));
      expect(other.ask(its, OpCode.GET_PAST, pastOf("/a/b/c"))).toBe(code);
    }
    zk.ask(ref, OpCode.GET_PAST, pastOf("/a/b/c"));
    expect(asked).toHaveLength(1);
  });

  test("are those of a node at the root, too", () => {
    const { zk, asked, ref } = furnished();
    zk.ask(ref, OpCode.GET_PAST, pastOf("/gone"));
    expect(asked).toHaveLength(1);
    answer(zk, 1, { kind: "unknown" });
    zk.ask(ref, OpCode.SET_ACL, setAcl("/", READERS));
    zk.take(ref);
    expect(zk.ask(ref, OpCode.GET_PAST, pastOf("/gone"))).toBe("NO_AUTH");
  });
});

test("a server without a history does not know the operations, and closes the connection", () => {
  const zk = new TestReplica();
  const ref = zk.open();
  expect(zk.ask(ref, OpCode.GET_PAST, pastOf("/a"))).toBe("UNIMPLEMENTED; close");
  expect(zk.refusals).toEqual(["unknown-operation"]);
});
