import {
  type ChildPage,
  type ConnectionRef,
  type NodeView,
  OPEN_ACL,
  OpCode,
  type ReplySink,
  type SessionId,
  STAT_BYTES,
  sliceOf,
  WatchEventType,
  type Zxid,
} from "@zooid/model";
import { expect, test } from "vitest";
import { JuteWriter } from "./jute-writer.ts";
import { ReplyEncoder } from "./reply-codec.ts";

const TO = 1 as ConnectionRef;
const ZXID = 2 as Zxid;

const RECORDED: readonly (readonly [name: string, say: (replies: ReplySink) => void, hex: string])[] = [
  ["addWatch's answer", (to) => to.integer(TO, 2, ZXID, 0), "00000014 00000002 0000000000000002 00000000 00000000"],
  [
    "getEphemerals' answer",
    (to) =>
      to.strings(TO, 3, ZXID, (show) => {
        show(sliceOf("/e"));
        return true;
      }),
    "0000001a 00000003 0000000000000002 00000000 00000001 00000002 2f65",
  ],
  [
    "getAllChildrenNumber's",
    (to) => to.integer(TO, 4, ZXID, 4),
    "00000014 00000004 0000000000000002 00000000 00000004",
  ],
  [
    "whoAmI's",
    (to) =>
      to.identities(TO, 5, ZXID, [
        { scheme: "digest", id: "alice" },
        { scheme: "ip", id: "127.0.0.1" },
      ]),
    `0000003a 00000005 0000000000000002 00000000 00000002
     00000006 646967657374 00000005 616c696365 00000002 6970 00000009 3132372e302e302e31`,
  ],
  ["a refusal", (to) => to.header(TO, 7, ZXID, -121), "00000010 00000007 0000000000000002 ffffff87"],
];

test.each(RECORDED)("%s is written as Apache wrote it", (_, say, hex) => {
  const writer = new JuteWriter();
  say(
    new ReplyEncoder({ writer: () => writer, eventWriter: () => writer, sentReadOnly: () => false, close: () => {} }),
  );
  expect(Buffer.from(writer.bytes.subarray(0, writer.end)).toString("hex")).toBe(hex.replace(/\s/g, ""));
});

test("a list of strings that ends before its end leaves nothing behind", () => {
  const writer = new JuteWriter();
  const replies = new ReplyEncoder({
    writer: () => writer,
    eventWriter: () => writer,
    sentReadOnly: () => false,
    close: () => {},
  });
  replies.header(TO, 1, ZXID, 0);
  const before = Buffer.from(writer.bytes.subarray(0, writer.end));
  const isAnswered = replies.strings(TO, 2, ZXID, (show) => {
    for (let i = 0; i < 100; i++) show(sliceOf("/a/long/path/of/an/ephemeral"));
    return false;
  });
  expect([isAnswered, Buffer.from(writer.bytes.subarray(0, writer.end))]).toEqual([false, before]);
});

const NODE: NodeView = {
  id: 1,
  name: sliceOf("a"),
  statView: new DataView(new ArrayBuffer(STAT_BYTES)),
  statStart: 0,
  hasData: true,
  data: sliceOf("data"),
  acl: OPEN_ACL,
  childCount: 0,
  firstChild: () => false,
  nextChild: () => false,
  childName: sliceOf(""),
};
const PAGE: ChildPage = {
  detail: 0,
  count: 0,
  isLast: true,
  child: () => NODE,
  isReadable: () => true,
  parent: () => NODE,
};

/** Everything that can be said on a connection. */
const SAID: { readonly [method in keyof ReplySink]: (to: ReplySink) => void } = {
  connected: (to) =>
    to.connected(TO, { timeoutMs: 1, session: 1n as SessionId, password: sliceOf("password"), isReadOnly: false }),
  header: (to) => to.header(TO, 1, ZXID, 0),
  data: (to) => to.data(TO, 1, ZXID, NODE),
  stat: (to) => to.stat(TO, 1, ZXID, NODE),
  children: (to) => to.children(TO, 1, ZXID, NODE),
  childrenAndStat: (to) => to.childrenAndStat(TO, 1, ZXID, NODE),
  aclAndStat: (to) => to.aclAndStat(TO, 1, ZXID, OPEN_ACL, NODE),
  path: (to) => to.path(TO, 1, ZXID, sliceOf("/a")),
  pathAndStat: (to) => to.pathAndStat(TO, 1, ZXID, sliceOf("/a"), NODE),
  strings: (to) =>
    expect(
      to.strings(TO, 1, ZXID, (show) => {
        show(sliceOf("/a"));
        return true;
      }),
    ).toBe(true),
  childPage: (to) => to.childPage(TO, 1, ZXID, PAGE),
  integer: (to) => to.integer(TO, 1, ZXID, 7),
  identities: (to) => to.identities(TO, 1, ZXID, [{ scheme: "ip", id: "127.0.0.1" }]),
  token: (to) => to.token(TO, 1, ZXID, 0, Buffer.from("token")),
  multiBegin: (to) => to.multiBegin(TO, 1, ZXID),
  partError: (to) => to.partError(TO, -101),
  partEmpty: (to) => to.partEmpty(TO, OpCode.DELETE),
  partPath: (to) => to.partPath(TO, sliceOf("/a")),
  partPathAndStat: (to) => to.partPathAndStat(TO, sliceOf("/a"), NODE),
  partStat: (to) => to.partStat(TO, NODE),
  partData: (to) => to.partData(TO, NODE),
  partChildren: (to) => to.partChildren(TO, NODE),
  multiEnd: (to) => to.multiEnd(TO),
  event: (to) => to.event(TO, ZXID, WatchEventType.NODE_CREATED, sliceOf("/a")),
  close: (to) => to.close(TO),
};
const CALLS = Object.values(SAID);

/**
 * The bytes that the calls write of which the first ones find their connection, and the others do
 * not.
 */
function written(calls: readonly ((to: ReplySink) => void)[], found = calls.length): string {
  const writer = new JuteWriter();
  let isThere = true;
  const replies = new ReplyEncoder({
    writer: () => (isThere ? writer : undefined),
    eventWriter: () => (isThere ? writer : undefined),
    sentReadOnly: () => false,
    close: () => {},
  });
  for (const [i, say] of calls.entries()) {
    isThere = i < found;
    say(replies);
  }
  return Buffer.from(writer.bytes.subarray(0, writer.end)).toString("hex");
}

test("everything can be said on a connection that is gone, and is lost", () => {
  expect(written(CALLS, 0)).toBe("");
  for (let found = 1; found < CALLS.length; found++) {
    expect([found, written(CALLS, found)]).toEqual([found, written(CALLS.slice(0, found))]);
  }
});

test("a multi that ended on a connection that was gone leaves nothing for the next one", () => {
  const multi = [SAID.multiBegin, SAID.partPath, SAID.partStat, SAID.multiEnd];
  const whole = written(multi);
  const writer = new JuteWriter();
  for (let found = 0; found <= multi.length; found++) {
    let isThere = true;
    const replies = new ReplyEncoder({
      writer: () => (isThere ? writer : undefined),
      eventWriter: () => undefined,
      sentReadOnly: () => false,
      close: () => {},
    });
    for (const [i, say] of multi.entries()) {
      isThere = i < found;
      say(replies);
    }
    isThere = true;
    writer.end = 0;
    for (const say of multi) say(replies);
    expect(Buffer.from(writer.bytes.subarray(0, writer.end)).toString("hex")).toBe(whole);
  }
});
