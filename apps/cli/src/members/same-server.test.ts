import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { otherServers } from "./same-server.ts";

test.each<[readonly string[], readonly string[], readonly string[]]>([
  [["127.0.0.1:2181"], ["localhost:2181"], []],
  [["[::ffff:127.0.0.1]:2181", "[::ffff:7f00:1]:2181"], ["127.0.0.1:2181"], []],
  [["[::ffff:127.0.0.2]:2181"], ["127.0.0.1:2181"], ["[::ffff:127.0.0.2]:2181"]],
  [["[::1]:2181", "127.0.0.1:2182"], ["localhost:2181"], ["127.0.0.1:2182"]],
  [["127.0.0.1:2181", "localhost:2181"], [], ["127.0.0.1:2181"]],
  [["127.0.0.2:2181", "127.0.0.3:2181"], ["127.0.0.1:2181"], ["127.0.0.2:2181", "127.0.0.3:2181"]],
  [["no.such.host.invalid:1"], ["no.such.host.invalid:1"], []],
  [["no.such.host.invalid:1"], ["no.such.host.invalid:2"], ["no.such.host.invalid:1"]],
])("of %j beside %j, %j are other servers", async (servers, known, others) => {
  expect(await otherServers(servers, known)).toEqual(others);
});

test("an address of this machine's network is that of its loopback", async () => {
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const own = interfaces.filter(({ internal, family }) => !internal && family === "IPv4").map(({ address }) => address);
  const servers = own.map((address) => `${address}:2181`);
  expect(await otherServers(servers, ["127.0.0.1:2181"])).toEqual([]);
  expect(await otherServers(servers, ["127.0.0.1:2182"])).toEqual(servers.slice(0, 1));
});
