import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ErrorCode, OpCode } from "@zooid/model";
import { create, RawClient, read, setData } from "@zooid/wire/testing/raw-client";
import { expect, test } from "vitest";
import { startTestServer } from "../testing/server.ts";
import { parseWhitelist } from "./word-names.ts";

const WORDS = [
  ...["ruok", "isro", "srvr", "stat", "mntr", "cons", "conf", "envi", "wchs", "wchc", "wchp", "dump", "dirs", "hash"],
  ...["gtmk", "stmk", "crst", "srst"],
];
const NOT_LISTED = /^(\w{4}) is not executed because it is not in the whitelist\.\n$/;

async function say(port: number, word: string): Promise<string> {
  await using client = await RawClient.open(port);
  client.send(Buffer.from(word));
  if (word === "stmk") client.send(Buffer.of(0, 0, 0, 0, 0, 0, 1, 50));
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

test.each(WORDS.filter((word) => word !== "hash"))(
  "%s is answered when it is listed, and the connection closed",
  async (word) => {
    await using zk = await startTestServer({ fourLetterWords: "*" });
    const answer = await say(zk.port, word);
    expect(answer).not.toBe("");
    expect(answer).not.toMatch(NOT_LISTED);
    expect(zk.lines).toEqual([]);
  },
);

test("srvr alone is answered where nothing is listed; other known words are refused by name", async () => {
  await using zk = await startTestServer();
  for (const word of WORDS) {
    if (word === "srvr") expect(await say(zk.port, word)).toMatch(/^Zookeeper version: 3\.9\.5/);
    else expect(await say(zk.port, word)).toMatch(NOT_LISTED);
  }
});

test("a mask after its word, in any number of packets, is set and shown from then on", async () => {
  await using zk = await startTestServer({ fourLetterWords: "*" });
  expect(await say(zk.port, "gtmk")).toBe("306");
  await using client = await RawClient.open(zk.port);
  for (const part of ["st", "mk\x80", "\0\0\0\0\0\0", "\x02"]) {
    await new Promise((resolve) => client.socket.write(Buffer.from(part, "latin1"), resolve));
  }
  expect((await client.rest()).toString()).toBe("-9223372036854775806");
  expect(await say(zk.port, "gtmk")).toBe("-9223372036854775806");
});

test("a mask after a word that is not listed is not waited for", async () => {
  await using zk = await startTestServer();
  await using client = await RawClient.open(zk.port);
  client.send(Buffer.from("stmk"));
  expect((await client.rest()).toString()).toMatch(NOT_LISTED);
});

test("a mask that never comes is not waited for longer than a connect request", async () => {
  await using zk = await startTestServer({ fourLetterWords: "*", sessionlessTimeoutMs: 1 });
  await using client = await RawClient.open(zk.port);
  client.send(Buffer.from("stmk\0"));
  expect(await client.rest()).toHaveLength(0);
});

test("watches are listed by session and by path, whatever bytes the path has", async () => {
  await using zk = await startTestServer({ fourLetterWords: "*" });
  await using client = await RawClient.open(zk.port);
  const { sessionId } = await client.handshake();
  const sid = `0x${sessionId.toString(16)}`;
  await client.ask(OpCode.EXISTS, read("/a", true));
  await client.ask(OpCode.EXISTS, read("/b\n\x1b[2J\u202e", true));
  await client.ask(OpCode.GET_CHILDREN, read("/", true));
  const paths = ["/a", "/b\\u000a\\u001b[2J\\u202e"];
  expect((await say(zk.port, "wchc")).split("\n").sort()).toEqual(["", "", ...paths.map((p) => `\t${p}`), sid].sort());
  expect(await say(zk.port, "wchp")).toContain(`${paths[1]}\n\t${sid}\n`);
  expect((await say(zk.port, "wchp")).split("\n")).toHaveLength(6);
});

test("the bytes of notifications are counted", async () => {
  await using zk = await startTestServer({ fourLetterWords: "*" });
  await using client = await RawClient.withSession(zk.port);
  await client.ask(OpCode.EXISTS, read("/four", true));
  expect(await say(zk.port, "mntr")).toContain("zk_watch_bytes\t0\n");
  await client.ask(OpCode.CREATE, create("/four", "x"));
  const shown = await say(zk.port, "mntr");
  expect(shown).toContain("zk_watch_bytes\t37\n");
  expect(shown).toContain("zk_cnt_node_created_watch_count\t1\n");
});

test("limits and usage of quotas are summed by the first name of the path, and refusals counted", async () => {
  await using zk = await startTestServer({ fourLetterWords: "*", enforceQuota: true });
  await using client = await RawClient.withSession(zk.port);
  const quota = async (path: string, limits: string): Promise<void> => {
    const at = `/zookeeper/quota${path}`;
    await client.ask(OpCode.CREATE, create(at));
    await client.ask(OpCode.CREATE, create(`${at}/zookeeper_limits`, limits));
    await client.ask(OpCode.CREATE, create(`${at}/zookeeper_stats`, "count=0,bytes=0"));
  };
  for (const [path, data] of Object.entries({ "/two": "", "/two/a": "123", "/two/b": "", "/both": "1" })) {
    await client.ask(OpCode.CREATE, create(path, data));
  }
  await client.ask(OpCode.CREATE, create("/zookeeper/quota/two"));
  await quota("/two/a", "count=3,bytes=4");
  await quota("/two/b", "count=30,bytes=40");
  await quota("/both", "count=5,bytes=1000=;byteHardLimit=2000;countHardLimit=10");
  const tooLong = setData("/both", "x".repeat(2001));
  for (let i = 0; i < 2; i++) expect((await client.ask(OpCode.SET_DATA, tooLong)).code).toBe(ErrorCode.QUOTA_EXCEEDED);
  const shown = (await say(zk.port, "mntr")).split("\n").filter((line) => line.includes("_quota_"));
  expect(shown.sort()).toEqual([
    "zk_both_quota_bytes_limit_per_namespace\t2000",
    "zk_both_quota_bytes_usage_per_namespace\t1",
    "zk_both_quota_count_limit_per_namespace\t10",
    "zk_both_quota_count_usage_per_namespace\t1",
    "zk_both_quota_exceeded_error_per_namespace\t2",
    "zk_two_quota_bytes_limit_per_namespace\t44",
    "zk_two_quota_bytes_usage_per_namespace\t3",
    "zk_two_quota_count_limit_per_namespace\t33",
    "zk_two_quota_count_usage_per_namespace\t2",
  ]);
});

test("refusals are counted by their kind", async () => {
  await using zk = await startTestServer({ fourLetterWords: "*" });
  await using client = await RawClient.open(zk.port);
  client.send(Buffer.from("GET / HTTP/1.1\r\n\r\n"));
  await client.rest();
  expect(await say(zk.port, "mntr")).toContain("zk_http_zooid_refusals_total\t1\n");
});

test("hash shows the digest at every 128th zxid", async () => {
  await using zk = await startTestServer({ fourLetterWords: "*" });
  expect(await say(zk.port, "hash")).toBe("");
  await using client = await RawClient.withSession(zk.port);
  for (let i = 0; i < 130; i++) await client.ask(OpCode.CREATE, create(`/n${i}`, "x"));
  expect(await say(zk.port, "hash")).toMatch(/^100000080: -?\d+\n$/);
});

test("mntr has every name that Apache's has, and quantiles of request times", async () => {
  await using zk = await startTestServer({ fourLetterWords: "*" });
  await using client = await RawClient.withSession(zk.port);
  await client.ask(OpCode.CREATE, create("/a", "x"));
  for (let i = 0; i < 5; i++) await client.ask(OpCode.EXISTS, read("/a"));
  const lines = (await say(zk.port, "mntr")).trimEnd().split("\n");
  const shown = new Map(lines.map((line) => line.split("\t") as [string, string]));
  expect(lines.slice(0, 2)).toEqual([expect.stringMatching(/^zk_version\t3\.9\.5-/), "zk_server_state\tstandalone"]);
  expect(shown.size).toBe(lines.length);
  const names = readFileSync(join(import.meta.dirname, "apache-mntr-names.txt"), "utf8")
    .trim()
    .split("\n");
  expect(names.filter((name) => !shown.has(name))).toEqual([]);
  expect([shown.get("zk_cnt_readlatency"), shown.get("zk_cnt_updatelatency")]).toEqual(["5", "2"]);
  expect(shown.get("zk_avg_latency")).toMatch(/^\d+\.\d+$/);
  expect(Number(shown.get("zk_bytes_received_count"))).toBeGreaterThan(100);
  expect(Number(shown.get("zk_response_bytes"))).toBeGreaterThan(100);
});

test("each average in mntr is its sum by its count, between the least and the most", async () => {
  await using zk = await startTestServer({ fourLetterWords: "*" });
  await using client = await RawClient.withSession(zk.port);
  await client.ask(OpCode.CREATE, create("/a", "x".repeat(500)));
  for (let i = 0; i < 5; i++) await client.ask(OpCode.GET_DATA, read("/a"));
  const lines = (await say(zk.port, "mntr")).trimEnd().split("\n");
  const shown = new Map(lines.map((line) => line.split("\t") as [string, string]));
  const figure = (name: string): number => Number(shown.get(name));
  const counted = [...shown.keys()].flatMap((name) => /^zk_cnt_(.+)$/.exec(name)?.[1] ?? []);
  expect(counted.filter((name) => figure(`zk_cnt_${name}`) > 0).length).toBeGreaterThan(1);
  for (const name of counted) {
    const [sum, count, average] = [figure(`zk_sum_${name}`), figure(`zk_cnt_${name}`), figure(`zk_avg_${name}`)];
    expect([name, average]).toEqual([name, count === 0 ? 0 : expect.closeTo(sum / count, 3)]);
    if (!shown.has(`zk_min_${name}`)) continue;
    expect(average).toBeGreaterThanOrEqual(figure(`zk_min_${name}`));
    expect(average).toBeLessThanOrEqual(figure(`zk_max_${name}`));
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

test("the telnet interrupt closes the connection without an answer", async () => {
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

test("the words list sessions, ephemerals and watches", async () => {
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

test("srst and crst reset the counters", async () => {
  await using zk = await startTestServer({ fourLetterWords: "*" });
  await using client = await RawClient.withSession(zk.port);
  for (let i = 0; i < 5; i++) await client.ask(OpCode.EXISTS, read("/"));
  expect(await say(zk.port, "srvr")).toContain("Received: 7\nSent: 6\n");
  expect(await say(zk.port, "srst")).toBe("Server stats reset.\n");
  expect(await say(zk.port, "crst")).toBe("Connection stats reset.\n");
  expect(await say(zk.port, "srvr")).toContain("Received: 2\nSent: 2\n");
  expect(await say(zk.port, "cons")).toContain("recved=0,sent=0");
});

test("each line of conf and envi is a name and its value", async () => {
  await using zk = await startTestServer({ fourLetterWords: "*" });
  const [title, ...environment] = (await say(zk.port, "envi")).trimEnd().split("\n");
  expect(title).toBe("Environment:");
  expect(environment.length).toBeGreaterThan(5);
  const configuration = (await say(zk.port, "conf")).trimEnd().split("\n");
  expect(configuration).toEqual(expect.arrayContaining([`clientPort=${zk.port}`, "maxClientCnxns=60"]));
  for (const line of [...environment, ...configuration]) expect(line).toMatch(/^[\w.-]+=/);
});

const REPORTS = ["srvr", "cons", "dump", "conf", "envi", "mntr", "dirs", "wchs", "wchc", "wchp"] as const;
test.each(REPORTS)("the report %s of a server has the kinds of lines of its word's answer", async (word) => {
  await using zk = await startTestServer({ fourLetterWords: "*" });
  await using client = await RawClient.withSession(zk.port);
  await client.ask(OpCode.EXISTS, read("/absent", true));
  // The connection that asks for a word is among those that its answer lists.
  const kinds = (answer: string): ReadonlySet<string> =>
    new Set(answer.split("\n").map((line) => line.replaceAll(/0x[0-9a-f]+|\d+(\.\d+)?/g, "0").replace(/\[0\].*/, "")));
  expect(kinds(await zk.report(word))).toEqual(kinds(await say(zk.port, word)));
});
