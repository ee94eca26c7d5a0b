import { type ConnectionRef, type ReplySink, sliceOf, type Zxid } from "@zooid/model";
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
