import { expect, test } from "vitest";
import { otherServers } from "./same-server.ts";

test.each<[readonly string[], readonly string[], readonly string[]]>([
  [["127.0.0.1:2181"], ["localhost:2181"], []],
  [["[::1]:2181", "127.0.0.1:2182"], ["localhost:2181"], ["127.0.0.1:2182"]],
  [["127.0.0.1:2181", "localhost:2181"], [], ["127.0.0.1:2181"]],
  [["no.such.host.invalid:1"], ["no.such.host.invalid:1"], []],
  [["no.such.host.invalid:1"], ["no.such.host.invalid:2"], ["no.such.host.invalid:1"]],
])("of %j beside %j, %j are other servers", async (servers, known, others) => {
  expect(await otherServers(servers, known)).toEqual(others);
});
