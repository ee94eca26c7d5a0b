import { type Identity, OpCode, sliceText, type TxnHeader } from "@zooid/model";
import { TxnBatchEncoder } from "@zooid/wire/txn";
import { expect, test } from "vitest";
import { TestEnsemble, type TestMember } from "../testing/ensemble.ts";
import { TestReplica } from "../testing/replica.ts";
import { type Body, create, multi, setData } from "../testing/requests.ts";
import type { HistoryAccess } from "../tools.ts";
import { whoOf } from "./who.ts";

/** Remembers who asked for each transaction. */
class RecordingEncoder extends TxnBatchEncoder {
  readonly whos: string[];

  constructor(whos: string[] = []) {
    super();
    this.whos = whos;
  }

  override begin(header: Readonly<TxnHeader>): void {
    this.whos.push(sliceText(header.who));
    super.begin(header);
  }
}

const ip = (id: string): Identity => ({ scheme: "ip", id });

test.each<[string, readonly Identity[], string]>([
  ["an address alone", [ip("10.0.0.1")], "10.0.0.1"],
  [
    "each identity in short, and no hash",
    [
      ip("10.0.0.1"),
      { scheme: "digest", id: "alice:c2VjcmV0aGFzaA==" },
      { scheme: "sasl", id: "bob@EXAMPLE.COM" },
      { scheme: "x509", id: "CN=c, O=d" },
      { scheme: "super", id: "root:hash" },
      { scheme: "own", id: "token" },
      { scheme: "digest", id: "hashwithoutuser" },
    ],
    "10.0.0.1\ndigest:alice\nsasl:bob@EXAMPLE.COM\nx509:CN=c, O=d\nsuper\nown\ndigest:",
  ],
  ["one line each", [ip("::1"), { scheme: "x509", id: "CN=a\nadmin\u2028\u0085" }], "::1\nx509:CN=a?admin??"],
  ["no more than some characters of each", [{ scheme: "x509", id: "x".repeat(1000) }], `x509:${"x".repeat(128)}…`],
  [
    "no more than some lines",
    [ip("::1"), ...Array.from({ length: 60 }, (_, i) => ({ scheme: "sasl", id: `user-${i}-${"x".repeat(90)}` }))],
    `::1\n${Array.from({ length: 4 }, (_, i) => `sasl:user-${i}-${"x".repeat(90)}`).join("\n")}\n…`,
  ],
  ["nothing without identities", [], ""],
])("who asks has %s", (_, identities, expected) => {
  expect(sliceText(whoOf(identities))).toBe(expected);
  expect(Buffer.byteLength(expected)).toBeLessThan(700);
});

test("it is encoded once for a list of identities", () => {
  const identities = [ip("10.0.0.1")];
  expect(whoOf(identities)).toBe(whoOf(identities));
});

const HISTORY: HistoryAccess = {
  read: () => {},
  encodeRefusal: () => new Uint8Array(),
  encodeNode: () => new Uint8Array(),
  encodeChildren: () => new Uint8Array(),
  encodeChanges: () => new Uint8Array(),
};

test("transactions name who asked where a history is kept, and no client elsewhere", () => {
  for (const [tools, expected] of [
    [{ history: HISTORY }, true],
    [{}, false],
  ] as const) {
    const batcher = new RecordingEncoder();
    const zk = new TestReplica({}, { ...tools, batcher });
    const ref = zk.open("127.0.0.9");
    batcher.whos.length = 0;
    zk.ask(ref, OpCode.CREATE, create("/a"));
    zk.ask(ref, OpCode.MULTI, multi([OpCode.SET_DATA, setData("/a", "1")]));
    zk.ask(ref, OpCode.CLOSE_SESSION, () => {});
    // The end of a session names no client.
    expect(batcher.whos).toEqual(expected ? ["127.0.0.9", "127.0.0.9", ""] : ["", "", ""]);
  }
});

test("the leader names the client of a write that a follower forwards", () => {
  const batcher = new RecordingEncoder();
  const ensemble = new TestEnsemble(3, {}, {}, () => ({
    history: HISTORY,
    batcher: new RecordingEncoder(batcher.whos),
  }));
  const [follower] = ensemble.followers as [TestMember];
  const client = follower.open();
  const asAlice: Body = (writer) => {
    writer.int(0);
    writer.text("digest");
    writer.text("alice:secret");
  };
  expect(follower.ask(client, OpCode.AUTH, asAlice)).toBe("ok");
  batcher.whos.length = 0;
  expect(follower.ask(client, OpCode.CREATE, create("/a"))).toBe("path /a");
  expect(batcher.whos).toEqual([expect.stringMatching(/^127\.0\.0\.1\ndigest:alice$/)]);
});
