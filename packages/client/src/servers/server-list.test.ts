import { startServer } from "@zooid/embedded-server";
import { seededRandom } from "@zooid/model/testing/seeded-random";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../connect.ts";
import { answer, createAnswer, ScriptedServer } from "../testing/scripted-server.ts";
import { Relay } from "../testing.ts";
import type { HostAddress } from "./connect-string.ts";
import { ServerList } from "./server-list.ts";

const hosts = (names: string): HostAddress[] => [...names].map((host) => ({ host, port: 2181 }));
const listOf = (names: string): ServerList => new ServerList({ hosts: hosts(names), chroot: "/" });
const texts = (names: string): string => [...names].join();

/**
 * The number of clients on each server after the change, of many that were spread evenly before.
 */
function spread(before: string, after: string): Readonly<Record<string, number>> {
  const random = seededRandom(7);
  const counts: Record<string, number> = {};
  for (let i = 0; i < 20_000; i++) {
    const current = hosts(before[i % before.length] ?? "")[0];
    const moved = listOf(before).update(texts(after), { current, random });
    const server = moved === undefined ? current : moved[Math.floor(random() * moved.length)];
    const name = server?.host ?? "";
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

test.each([
  ["abc", "abcde"],
  ["abcde", "abc"],
  ["abc", "abd"],
  ["abc", "def"],
  ["abc", "defgh"],
  ["abcd", "aef"],
  ["ab", "acde"],
])("from %s to %s the load is even", (before, after) => {
  const counts = spread(before, after);
  expect(Object.keys(counts).sort().join("")).toBe(after);
  for (const count of Object.values(counts)) expect((count * after.length) / 20_000).toBeCloseTo(1, 1);
});

test("no client moves without need, nor without a connection", () => {
  const list = listOf("abc");
  const current = hosts("a")[0];
  expect(list.update(texts("cba"), { current, random: () => 0 })).toBeUndefined();
  expect(list.update(texts("ab"), { current, random: () => 0 })).toBeUndefined();
  expect(list.update(texts("xyz"), { current: undefined, random: () => 0 })).toBeUndefined();
  expect(list.hosts()).toEqual(hosts("xyz"));
});

test("a client whose server was removed moves to another with its session", async () => {
  await using server = await startServer({ port: 0 });
  const [first, second] = await Promise.all([Relay.start(server), Relay.start(server)]);
  onTestFinished(async () => {
    await Promise.all([first[Symbol.asyncDispose](), second[Symbol.asyncDispose]()]);
  });
  await using zk = await connect(`127.0.0.1:${first.port}/app`, { random: () => 0 });
  const { sessionId } = zk;
  zk.updateServers(`127.0.0.1:${second.port}/app`);
  await expect.poll(() => [zk.server, zk.state.kind]).toEqual([`127.0.0.1:${second.port}`, "connected"]);
  expect([zk.sessionId, first.connectionCount]).toEqual([sessionId, 0]);
  expect(() => zk.updateServers("127.0.0.1:1/other")).toThrow(RangeError);
  expect(() => zk.updateServers("")).toThrow(RangeError);
});

test("servers of the option hosts are not changed", async () => {
  await using server = await startServer({ port: 0 });
  const provider = { hosts: () => [{ host: "127.0.0.1", port: server.port }] };
  await using zk = await connect("", { hosts: provider });
  expect(() => zk.updateServers("127.0.0.1:1")).toThrow(RangeError);
});

test("requests in flight are answered before a client moves, and later calls go to the next server", async () => {
  await using first = await ScriptedServer.start();
  await using second = await ScriptedServer.start();
  const [zk, line] = await Promise.all([connect(first.hosts), first.session()]);
  const [early, asked] = [zk.create("/early"), await line.request()];
  zk.updateServers(second.hosts);
  const late = zk.create("/late");
  expect([zk.state.kind, zk.server]).toEqual(["connected", first.hosts]);
  line.send(createAnswer(asked));
  expect((await early).path).toBe("/early");
  const next = await second.session();
  next.send(createAnswer(await next.request()));
  expect((await late).path).toBe("/late");
  next.serve((request) => answer(request));
  await zk.close();
});
