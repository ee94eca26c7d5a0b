import { OpCode } from "@zooid/model";
import { expect, test } from "vitest";
import { create, RawClient, read } from "../raw-client.ts";
import { startTestServer } from "../test-server.ts";
import { parseWhitelist } from "./four-letter-words.ts";

const WORDS = ["ruok", "isro", "srvr", "stat", "mntr", "cons", "conf", "envi", "wchs", "dump", "crst", "srst"];
const NOT_LISTED = /^(\w{4}) is not executed because it is not in the whitelist\.\n$/;

async function say(port: number, word: string): Promise<string> {
  await using client = await RawClient.open(port);
  client.send(Buffer.from(word));
  return (await client.rest()).toString();
}

test.each([
  [undefined, ["srvr"]],
  ["", ["srvr"]],
  ["ruok, mntr ,", ["mntr", "ruok", "srvr"]],
  ["*", [...WORDS].sort()],
])("a whitelist of %j lists %j", (text, words) => {
  expect([...parseWhitelist(text)].sort()).toEqual(words);
});

test.each(WORDS)("%s is answered when it is listed, and the connection closed", async (word) => {
  await using zk = await startTestServer({ fourLetterWords: "*" });
  const answer = await say(zk.port, word);
  expect(answer).not.toBe("");
  expect(answer).not.toMatch(NOT_LISTED);
  expect(zk.lines).toEqual([]);
});

test("srvr alone is answered where nothing is listed; other known words are refused by name", async () => {
  await using zk = await startTestServer();
  for (const word of WORDS) {
    if (word === "srvr") expect(await say(zk.port, word)).toMatch(/^Zookeeper version: 3\.9\.5/);
    else expect(await say(zk.port, word)).toMatch(NOT_LISTED);
  }
});

test("words that this server does not have are refused, listed or not", async () => {
  await using zk = await startTestServer({ fourLetterWords: "*,wchc,stmk" });
  for (const word of ["wchc", "wchp", "dirs", "gtmk", "stmk", "hash"]) {
    expect(await say(zk.port, word)).toMatch(NOT_LISTED);
  }
});

test("a word in four packets, with a line end behind it, is the same word", async () => {
  await using zk = await startTestServer({ fourLetterWords: "ruok" });
  await using client = await RawClient.open(zk.port);
  for (const byte of Buffer.from("ruok\n")) {
    await new Promise((resolve) => client.socket.write(Buffer.of(byte), resolve));
  }
  expect((await client.rest()).toString()).toBe("imok");
});

test("a peer that closed its sending side still gets the answer", async () => {
  await using zk = await startTestServer({ fourLetterWords: "ruok" });
  await using client = await RawClient.open(zk.port);
  client.socket.end("ruok");
  expect((await client.rest()).toString()).toBe("imok");
});

test("the telnet interrupt closes the connection without a word", async () => {
  await using zk = await startTestServer();
  await using client = await RawClient.open(zk.port);
  client.send(Buffer.from("\xff\xf4\xff\xfd\x06", "latin1"));
  expect(await client.rest()).toHaveLength(0);
  expect(zk.lines).toEqual([]);
});

test("a hundred at once are all answered", async () => {
  await using zk = await startTestServer({ fourLetterWords: "*", connectionsPerAddressMax: 0 });
  const answers = await Promise.all(Array.from({ length: 100 }, () => say(zk.port, "mntr")));
  for (const answer of answers) expect(answer).toContain("zk_server_state\tstandalone\n");
});

test("the words tell of sessions, ephemerals and watches", async () => {
  await using zk = await startTestServer({ fourLetterWords: "*" });
  await using client = await RawClient.open(zk.port);
  const { sessionId } = await client.handshake({ timeoutMs: 10_000 });
  await client.ask(OpCode.CREATE, create("/mine", "x", 1));
  await client.ask(OpCode.GET_DATA, read("/mine", true));
  const sid = `0x${sessionId.toString(16)}`;
  expect(await say(zk.port, "cons")).toMatch(new RegExp(`recved=3,sent=3,sid=${sid},lop=GETD,.*to=10000,lcxid=0x2,`));
  expect(await say(zk.port, "dump")).toContain(`Sessions with Ephemerals (1):\n${sid}:\n\t/mine\n`);
  expect(await say(zk.port, "wchs")).toBe("1 connections watching 1 paths\nTotal watches:1\n");
  expect(await say(zk.port, "mntr")).toMatch(/zk_ephemerals_count\t1\n.*zk_global_sessions\t1\n/s);
  expect(await say(zk.port, "srvr")).toContain("Zxid: 0x100000002\nMode: standalone\nNode count: 6\n");
});

test("srst and crst begin the counts anew", async () => {
  await using zk = await startTestServer({ fourLetterWords: "*" });
  await using client = await RawClient.withSession(zk.port);
  for (let i = 0; i < 5; i++) await client.ask(OpCode.EXISTS, read("/"));
  expect(await say(zk.port, "srvr")).toContain("Received: 6\nSent: 6\n");
  expect(await say(zk.port, "srst")).toBe("Server stats reset.\n");
  expect(await say(zk.port, "crst")).toBe("Connection stats reset.\n");
  expect(await say(zk.port, "srvr")).toContain("Received: 0\nSent: 0\n");
  expect(await say(zk.port, "cons")).toContain("recved=0,sent=0");
});
