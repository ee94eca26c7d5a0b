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
