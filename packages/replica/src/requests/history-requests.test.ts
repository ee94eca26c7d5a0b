import {
  ChangesScope,
  type ConnectionRef,
  type HistoryAnswer,
  type HistoryQuery,
  OPEN_ACL,
  OpCode,
  type PastChange,
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
const NO_READ = [{ perms: 4, scheme: "world", id: "anyone" }];
const OPEN = { acl: OPEN_ACL };
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

const REACH = { first: 3 as Zxid, last: 4 as Zxid };
const TIME = { askedMs: 1, zxid: 4 as Zxid, timeMs: 2 };

/** A replica whose history is answered by hand. */
function withHistory(): { readonly zk: TestReplica; readonly asked: HistoryQuery[] } {
  const asked: HistoryQuery[] = [];
  const zk = new TestReplica(
    {},
    {
      history: {
        read: (_, query) => asked.push(query),
        encodeRefusal: ({ reach, fault }) => Buffer.from(`${reach?.first} to ${reach?.last} ${fault?.kind}`),
        encodeNode: ({ data }) => Buffer.from(`node ${Buffer.from(data ?? "")}`),
        encodeChildren: ({ names }) => Buffer.from(`children ${names}`),
        encodeChanges: ({ changes, reached, isLast }) => {
          const shown = changes.map(
            ({ isReadable, data, who }) => `${isReadable} ${Buffer.from(data ?? "")}${who === "" ? "" : ` by ${who}`}`,
          );
          return Buffer.from(`${shown.join(", ")}; up to ${reached}, ${isLast ? "last" : "more"}`);
        },
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
  (path: string, scope: number = ChangesScope.NODE): ((writer: JuteWriter) => void) =>
  (writer) =>
    writeChangesRequest(writer, path, { after: 0 as Zxid, countMax: 10, scope });

/** Behind everything that a test writes before. */
const LATER = 2 ** 40;

/** A set to the text of its zxid, whose access list the page does not have. */
function changeOf(path: string, zxid: number, more: Partial<PastChange> = {}): PastChange {
  const data = Buffer.from(`${zxid}`);
  const change = { zxid: zxid as Zxid, timeMs: 1, who: "", op: OpCode.SET_DATA, version: 1, acl: undefined };
  return { path: Buffer.from(path), ...change, data, ...more };
}

function pageOf(changes: readonly PastChange[]): HistoryAnswer {
  return {
    kind: "changes",
    begins: 0 as Zxid,
    changes,
    reached: changes.at(-1)?.zxid ?? (0 as Zxid),
    isLast: true,
    gaps: [],
  };
}

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
    expect(asked).toMatchObject([{ kind: "node", path: Buffer.from("/a"), at: { zxid: 7 } }]);
    answer(zk, 1, { kind: "node", node: NODE });
    expect(zk.take(ref)).toEqual([expect.stringContaining("node past")]);
  });

  test("may name a time, in a unit that is known", () => {
    const { zk, asked, ref } = furnished();
    zk.ask(ref, OpCode.GET_PAST, (writer) => writePastRequest(writer, "/a", { timeMs: 8 }));
    expect(asked).toMatchObject([{ at: { timeMs: 8 } }]);
    answer(zk, 1, { kind: "unknown", reach: undefined });
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
    [{ kind: "unknown", reach: undefined }, "HISTORY_GONE"],
    [{ kind: "unknown", reach: REACH }, "HISTORY_GONE 3 to 4"],
    [
      { kind: "unknown", reach: undefined, fault: { ...TIME, kind: "behind" } },
      "HISTORY_GONE undefined to undefined behind",
    ],
    [{ kind: "unknown", reach: REACH, fault: { ...TIME, kind: "before" } }, "HISTORY_GONE 3 to 4 before"],
    [{ kind: "unknown", reach: REACH, fault: { kind: "twice", askedMs: 1, ...REACH } }, "BAD_ARGUMENTS 3 to 4 twice"],
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
    const { zk, asked, ref } = furnished();
    zk.ask(ref, OpCode.GET_CHANGES, changesOf("/a"));
    answer(zk, 1, pageOf([READ_ONLY_ACL, NO_RIGHTS].map((acl, i) => changeOf("/a", i + 1, { acl }))));
    expect(zk.take(ref)).toEqual([expect.stringContaining("true 1, false ")]);
    expect(asked).toMatchObject([{ kind: "changes", scope: "node" }]);
  });

  test("shows no comments of the configuration, as a read of today shows none", () => {
    const config = "/zookeeper/config";
    const data = Buffer.from("#disk.1=abc\nversion=5");
    const { zk, ref } = furnished();
    zk.ask(ref, OpCode.GET_PAST, pastOf(config));
    answer(zk, 1, { kind: "node", node: { ...NODE, data } });
    expect(zk.take(ref)).toEqual([expect.stringContaining("node version=5")]);
    zk.ask(ref, OpCode.GET_CHANGES, changesOf(config));
    answer(zk, 2, pageOf([changeOf(config, 5, { acl: READERS, data })]));
    expect(zk.take(ref)).toEqual([expect.stringContaining("true version=5;")]);
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
      answer(zk, serial, { kind: "unknown", reach: undefined });
      zk.advanceInTicks(900);
    }
    answer(zk, 2, { kind: "unknown", reach: undefined });
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

describe("a page of changes", () => {
  /** A node that is there since the first transaction of the page, and one that is gone. */
  const SET_GONE = changeOf("/b", 2);

  test("may be of a subtree", () => {
    const { zk, asked, ref } = furnished();
    zk.ask(ref, OpCode.GET_CHANGES, changesOf("/", ChangesScope.SUBTREE));
    expect(asked).toMatchObject([{ kind: "changes", scope: "subtree", after: 0, countMax: 10 }]);
    answer(zk, 1, pageOf([changeOf("/a", LATER), changeOf("/x", LATER, { acl: OPEN_ACL })]));
    expect(zk.take(ref)).toEqual([expect.stringContaining(`true ${LATER}, true ${LATER}`)]);
    expect(zk.ask(ref, OpCode.GET_CHANGES, changesOf("/", 2))).toBe("BAD_ARGUMENTS");
  });

  test("has no change of a node about which the client may not ask", () => {
    const { zk, ref } = furnished();
    zk.ask(ref, OpCode.CREATE, create("/closed", "", 0, NO_READ));
    zk.ask(ref, OpCode.CREATE, create("/above", "", 0, READERS));
    zk.ask(ref, OpCode.GET_CHANGES, changesOf("/", ChangesScope.SUBTREE));
    // All could read them then; the last one can be read now, but its parent cannot.
    zk.ask(ref, OpCode.CREATE, create("/closed/open", "", 0, OPEN_ACL));
    const paths = ["/closed", "/closed/gone", "/above/gone", "/above", "/gone", "/closed/open"];
    answer(zk, 1, pageOf(paths.map((path, i) => changeOf(path, LATER + i, { acl: OPEN_ACL }))));
    expect(zk.take(ref)).toEqual([expect.stringContaining(`true ${LATER + 3}, true ${LATER + 4}`)]);
  });

  test("names who made a change to those alone who have ADMIN on the node, or above one that is gone", () => {
    const { zk, ref } = furnished();
    zk.ask(ref, OpCode.CREATE, create("/read", "", 0, READERS));
    zk.ask(ref, OpCode.GET_CHANGES, changesOf("/", ChangesScope.SUBTREE));
    const who = "10.0.0.1\ndigest:alice";
    answer(zk, 1, pageOf(["/read", "/a", "/gone"].map((path, i) => changeOf(path, LATER + i, { ...OPEN, who }))));
    expect(zk.take(ref)).toEqual([
      expect.stringContaining(`true ${LATER}, true ${LATER + 1} by ${who}, true ${LATER + 2} by ${who};`),
    ]);
  });

  test("is made of a path with hundreds of nodes, each of which must be readable", () => {
    const { zk, ref } = furnished();
    let path = "";
    for (let depth = 0; depth < 500; depth++) {
      path += "/d";
      expect(zk.ask(ref, OpCode.CREATE, create(path, "", 0, depth === 250 ? NO_READ : OPEN_ACL))).toBe(`path ${path}`);
    }
    zk.ask(ref, OpCode.GET_CHANGES, changesOf("/", ChangesScope.SUBTREE));
    const half = path.slice(0, 2 * 250);
    answer(zk, 1, pageOf([`${path}/gone/gone`, path, `${half}/gone`, half].map((at) => changeOf(at, LATER, OPEN))));
    expect(zk.take(ref)).toEqual([expect.stringContaining(`token true ${LATER}, true ${LATER};`)]);
  });

  test("needs no access list of a node whose list never changed", () => {
    const { zk, asked, ref } = furnished();
    zk.ask(ref, OpCode.GET_CHANGES, changesOf("/a"));
    answer(zk, 1, pageOf([changeOf("/a", LATER)]));
    expect(zk.take(ref)).toEqual([expect.stringContaining(`true ${LATER}`)]);
    expect(asked).toHaveLength(1);
  });

  test.each<[string, (zk: TestReplica, ref: ConnectionRef) => void, number]>([
    ["whose list was changed", (zk, ref) => zk.ask(ref, OpCode.SET_ACL, setAcl("/a", READERS)), LATER],
    ["that was created again", () => {}, 1],
  ])("asks for the list of a node %s", (_, change, zxid) => {
    for (const [acl, shown] of [
      [READERS, `true ${zxid}, true ${zxid + 1}`],
      [NO_RIGHTS, "false , false "],
      [undefined, "false , false "],
    ] as const) {
      const { zk, asked, ref } = furnished();
      change(zk, ref);
      zk.take(ref);
      zk.ask(ref, OpCode.GET_CHANGES, changesOf("/a"));
      answer(zk, 1, pageOf([changeOf("/a", zxid), changeOf("/a", zxid + 1)]));
      expect(zk.take(ref)).toEqual([]);
      // One question for both changes.
      expect(asked.slice(1)).toEqual([{ kind: "acls", nodes: [{ path: Buffer.from("/a"), zxid: zxid - 1 }] }]);
      answer(zk, 2, { kind: "acls", acls: [acl] });
      expect(zk.take(ref)).toEqual([expect.stringContaining(shown)]);
    }
  });

  test("asks for no list of a change without data", () => {
    const { zk, asked, ref } = furnished();
    zk.ask(ref, OpCode.GET_CHANGES, changesOf("/", ChangesScope.SUBTREE));
    answer(zk, 1, pageOf([changeOf("/gone", 1, { op: OpCode.DELETE, data: null })]));
    expect(zk.take(ref)).toEqual([expect.stringContaining("false ")]);
    expect(asked).toHaveLength(1);
  });

  test("ends before the first change whose list is not among the first ones that were read", () => {
    const { zk, asked, ref } = furnished();
    zk.ask(ref, OpCode.GET_CHANGES, changesOf("/", ChangesScope.SUBTREE));
    const changes = Array.from({ length: 50 }, (_, i) => changeOf(`/gone-${i}`, 10 + Math.floor(i / 5)));
    answer(zk, 1, pageOf(changes));
    expect(asked[1]).toMatchObject({ kind: "acls", nodes: { length: 32 } });
    answer(zk, 2, { kind: "acls", acls: Array.from({ length: 32 }, () => READERS) });
    const [shown = ""] = zk.take(ref);
    // Six whole transactions; the seventh lacks three lists.
    expect(shown.match(/true/g)).toHaveLength(30);
    expect(shown).toContain("up to 15, more");
  });

  test("has a whole transaction at least, however many lists that takes", () => {
    const { zk, asked, ref } = furnished();
    zk.ask(ref, OpCode.GET_CHANGES, changesOf("/", ChangesScope.SUBTREE));
    answer(zk, 1, pageOf(Array.from({ length: 70 }, (_, i) => changeOf(`/gone-${i}`, 10))));
    for (const [serial, count] of [
      [2, 32],
      [3, 20],
      [4, 18],
    ] as const) {
      expect(zk.take(ref)).toEqual([]);
      // The history may read fewer than were asked for.
      answer(zk, serial, { kind: "acls", acls: Array.from({ length: count }, () => READERS) });
    }
    expect(zk.take(ref)[0]?.match(/true/g)).toHaveLength(70);
    expect(asked).toHaveLength(4);
  });

  test("shows no data of the changes whose lists are too many to be read", () => {
    const { zk, asked, ref } = furnished();
    zk.ask(ref, OpCode.GET_CHANGES, changesOf("/", ChangesScope.SUBTREE));
    answer(zk, 1, pageOf(Array.from({ length: 1100 }, (_, i) => changeOf(`/gone-${i}`, 10))));
    for (let serial = 2; serial <= 33; serial++) {
      answer(zk, serial, { kind: "acls", acls: Array.from({ length: 32 }, () => READERS) });
    }
    const [shown = ""] = zk.take(ref);
    expect([shown.match(/true/g)?.length, shown.match(/false/g)?.length]).toEqual([1024, 76]);
    expect(asked).toHaveLength(33);
  });

  test("is refused where a list cannot be read", () => {
    const { zk, ref } = furnished();
    zk.ask(ref, OpCode.GET_CHANGES, changesOf("/", ChangesScope.SUBTREE));
    answer(zk, 1, pageOf([SET_GONE]));
    answer(zk, 2, { kind: "failed", reason: "a file is damaged" });
    expect(zk.take(ref)).toEqual([expect.stringContaining("SYSTEM_ERROR")]);
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

  /** Questions about `/a`, each with the answers of the history in turn. */
  const QUESTIONS: Readonly<
    Record<string, readonly [op: number, body: (writer: JuteWriter) => void, HistoryAnswer[]]>
  > = {
    "a node": [OpCode.GET_PAST, pastOf("/a"), [{ kind: "node", node: NODE }]],
    "no node": [OpCode.GET_PAST, pastOf("/a"), [{ kind: "no-node" }]],
    children: [
      OpCode.GET_PAST,
      (writer) => writePastRequest(writer, "/a", { timeMs: 8 }, PastPart.CHILDREN),
      [{ kind: "children", acl: OPEN_ACL, names: ["child"] }],
    ],
    "too many children": [
      OpCode.GET_PAST,
      (writer) => writePastRequest(writer, "/a", { timeMs: 8 }, PastPart.CHILDREN),
      [{ kind: "too-large" }],
    ],
    changes: [OpCode.GET_CHANGES, changesOf("/a"), [pageOf([changeOf("/a", LATER, OPEN)])]],
    "changes whose lists are asked for": [
      OpCode.GET_CHANGES,
      changesOf("/a"),
      [pageOf([changeOf("/a", 1)]), { kind: "acls", acls: [OPEN_ACL] }],
    ],
  };

  test.each(Object.keys(QUESTIONS))("to %s are those when the history has been read", (name) => {
    const [op, body, answers] = QUESTIONS[name] ?? [0, () => {}, []];
    for (let withdrawnBefore = 0; withdrawnBefore <= answers.length; withdrawnBefore++) {
      const { zk, ref } = furnished();
      const admin = zk.open();
      zk.ask(ref, op, body);
      for (const [i, found] of answers.entries()) {
        if (i === withdrawnBefore) zk.ask(admin, OpCode.SET_ACL, setAcl("/a", NO_RIGHTS));
        answer(zk, i + 1, found);
      }
      const [reply = ""] = zk.take(ref);
      expect(reply.includes("NO_AUTH")).toBe(withdrawnBefore < answers.length);
    }
  });

  test("to changes below are those when the page is answered", () => {
    const { zk, ref } = furnished();
    const admin = zk.open();
    zk.ask(admin, OpCode.CREATE, create("/b"));
    zk.ask(ref, OpCode.GET_CHANGES, changesOf("/", ChangesScope.SUBTREE));
    answer(zk, 1, pageOf([changeOf("/a", 1), changeOf("/b", 2)]));
    zk.ask(admin, OpCode.SET_ACL, setAcl("/a", NO_RIGHTS));
    answer(zk, 2, { kind: "acls", acls: [OPEN_ACL, OPEN_ACL] });
    expect(zk.take(ref)).toEqual([expect.stringContaining("token true 2; up to 2, last")]);
  });

  test("are those of a node at the root, too", () => {
    const { zk, asked, ref } = furnished();
    zk.ask(ref, OpCode.GET_PAST, pastOf("/gone"));
    expect(asked).toHaveLength(1);
    answer(zk, 1, { kind: "unknown", reach: undefined });
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
