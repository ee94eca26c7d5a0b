import { expect, test } from "vitest";
import { MemberAddresses } from "./member-addresses.ts";

test("an address that the configuration names is a server's at once, in any form", () => {
  const addresses = new MemberAddresses(() => ["10.0.0.1", "::1"]);
  expect(["10.0.0.1", "0:0:0:0:0:0:0:1", "10.0.0.2"].map((address) => addresses.has(address))).toEqual([
    true,
    true,
    false,
  ]);
});

test("a name stands for the addresses that it had when it was last resolved", async () => {
  let zk2: readonly string[] = ["10.0.0.2", "10.0.0.3"];
  const addresses = new MemberAddresses(
    () => ["10.0.0.1", "zk2"],
    () => Promise.resolve(zk2),
  );
  await addresses.refresh();
  expect(["10.0.0.1", "10.0.0.2", "10.0.0.3"].every((address) => addresses.has(address))).toBe(true);
  zk2 = ["10.0.0.4"];
  await Promise.all([addresses.refresh(), addresses.refresh()]);
  expect(["10.0.0.1", "10.0.0.2", "10.0.0.4"].map((address) => addresses.has(address))).toEqual([true, false, true]);
});

test("an address that a server has come from is remembered, four for each server", () => {
  const addresses = new MemberAddresses(() => ["zk1"]);
  for (const address of ["a", "b", "c", "d", "a", "e"]) addresses.prove(address);
  expect(["a", "b", "c", "d", "e"].map((address) => addresses.has(address))).toEqual([true, false, true, true, true]);
});

test("servers that are listed while names are resolved have their addresses at once behind that", async () => {
  let hosts = ["zk-1"];
  const asked: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const addresses = new MemberAddresses(
    () => hosts,
    async (host) => {
      asked.push(host);
      await promise;
      return [host === "zk-1" ? "10.0.0.1" : "10.0.0.2"];
    },
  );
  const first = addresses.refresh();
  hosts = ["zk-2"];
  const rounds = [addresses.refresh(), addresses.refresh()];
  resolve();
  await Promise.all([first, ...rounds]);
  expect([addresses.has("10.0.0.1"), addresses.has("10.0.0.2")]).toEqual([false, true]);
  expect(asked).toEqual(["zk-1", "zk-2"]);
});
