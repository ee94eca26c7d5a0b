import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { FollowedApache } from "@zooid/embedded-server/testing/followed-apache";
import { ApacheType, recordOf } from "@zooid/wire/testing/apache-transactions";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ConsoleServer } from "./console-server.ts";
import { callApi } from "./testing/stage.ts";

// The console of a server that follows an Apache ensemble, and serves no clients.

const SESSION = 0x100000000000007n;

let folder: string;
let apache: FollowedApache;
let server: ZooidServer;
let page: ConsoleServer;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "follower-console-"));
  apache = await FollowedApache.start();
  server = await startServer({
    dataDir: folder,
    // A busy machine keeps a scripted leader silent.
    follow: { hosts: apache.hosts, syncTimeoutMs: 600_000, initTimeoutMs: 600_000 },
    readDoor: true,
    admin: { enabled: false },
  });
  page = new ConsoleServer({
    port: 0,
    address: "127.0.0.1",
    hosts: "127.0.0.1:8080",
    readPath: server.readPath ?? "",
    words: (_, word) => server.report(word as "srvr"),
  });
  await page.listen();
});
afterEach(async () => {
  await page[Symbol.asyncDispose]();
  await server.stop();
  await apache[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

function api(method: string, path: string, body?: unknown) {
  const given = body === undefined ? {} : { body };
  return callApi(`http://127.0.0.1:${page.port}/api/v1${path}`, method, given);
}

/** Reads a node until its text is as expected: transactions come by another way. */
async function shows(path: string, text: string): Promise<void> {
  await expect
    .poll(async () => (await api("GET", `/node?path=${path}`)).json?.data?.text, { timeout: 60_000 })
    .toBe(text);
}

test("the tree is shown as it is followed, over snapshots too, and cannot be changed", async () => {
  apache.create("/a", "one");
  const first = await apache.serveSnapshot();
  await shows("/a", "one");
  first.send(apache.set("/a", "two"), apache.create("/a/child"));
  await shows("/a", "two");
  expect(JSON.stringify((await api("GET", "/children?path=/a")).json)).toContain("child");
  expect((await api("PUT", "/node?path=/a", { data: { text: "mine" } })).status).toBe(403);
  first.socket.destroy();
  apache.set("/a", "lost");
  for (let i = 0; i < 3; i++) apache.create(`/more-${i}`);
  const second = await apache.serveSnapshot();
  await shows("/more-2", "");
  second.send(apache.set("/a", "last"));
  await shows("/a", "last");
  expect((await api("GET", "/session")).json).toMatchObject({ role: "viewer" });
});

test("its members, sessions and figures are those of one server that observes", async () => {
  apache.create("/a", "one");
  await apache.serveSnapshot();
  await shows("/a", "one");
  const { json } = await api("GET", "/ensemble");
  expect(json).toMatchObject({
    members: [
      { address: "127.0.0.1:8080", role: "observer", zxid: `0x${apache.zxid.toString(16)}`, isReachable: true },
    ],
    problems: [],
  });
  const sessions = await api("GET", "/sessions");
  expect(sessions.json).toMatchObject({ notes: [] });
});

test("a change shows in the stream of changes", async () => {
  apache.create("/a", "one");
  const link = await apache.serveSnapshot();
  await shows("/a", "one");
  const aborted = new AbortController();
  const stream = await fetch(`http://127.0.0.1:${page.port}/api/v1/events?path=/`, { signal: aborted.signal });
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const reads = async (part: string): Promise<void> => {
    while (!text.includes(part)) text += (await reader?.read())?.value ?? "";
  };
  await reads("event");
  link.send(apache.set("/a", "two"));
  await reads('"path":"/a"');
  aborted.abort();
});

test("an ephemeral node is shown with the session of Apache's that owns it", async () => {
  apache.commit(ApacheType.CREATE_SESSION, recordOf.number(8000), { session: SESSION });
  apache.create("/e", "", { session: SESSION });
  await apache.serveSnapshot();
  await shows("/e", "");
  const { json } = await api("GET", "/node?path=/e");
  expect(JSON.stringify(json)).toContain("100000000000007");
});
