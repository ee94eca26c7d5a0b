import { expect, test } from "vitest";
import { HostList } from "./host-list.ts";

const host = (name: string) => ({ host: name, port: 1 });

test("names come in rounds, in the given order where that is wanted", () => {
  const list = new HostList({ hosts: () => [host("a"), host("b")] }, { shuffle: false, random: () => 0 });
  const names = Array.from({ length: 6 }, () => list.takeHost()?.host);
  expect(names).toEqual(["a", "b", undefined, "a", "b", undefined]);
});

test("a restarted round has the preferred hosts first, once", () => {
  const names = ["a", "b", "c"].map(host);
  const list = new HostList({ hosts: () => names }, { shuffle: false, random: () => 0 });
  list.takeHost();
  list.resolved([host("address of a")]);
  list.restart(names.slice(2));
  expect(list.takeAddress()).toBeUndefined();
  const taken = Array.from({ length: 8 }, () => list.takeHost()?.host);
  expect(taken).toEqual(["c", "a", "b", undefined, "a", "b", "c", undefined]);
});

test("each round is shuffled, and has every name once", () => {
  const names = ["a", "b", "c", "d"];
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return (seed - 1) / 2_147_483_646;
  };
  const list = new HostList({ hosts: () => names.map(host) }, { shuffle: true, random });
  const rounds = Array.from({ length: 20 }, () => {
    const round = Array.from({ length: 4 }, () => list.takeHost()?.host);
    expect(list.takeHost()).toBeUndefined();
    return round.join("");
  });
  expect(rounds.every((round) => [...round].sort().join("") === "abcd")).toBe(true);
  expect(new Set(rounds).size).toBeGreaterThan(5);
});

test("hosts that a provider adds are tried in the next round", () => {
  const hosts = [host("a")];
  const list = new HostList({ hosts: () => hosts }, { shuffle: false, random: () => 0 });
  list.takeHost();
  hosts.push(host("b"));
  const rest = [list.takeHost(), list.takeHost(), list.takeHost(), list.takeHost()].map((found) => found?.host);
  expect(rest).toEqual([undefined, "a", "b", undefined]);
});

test("the addresses of a name are taken one by one", () => {
  const list = new HostList({ hosts: () => [host("a")] }, { shuffle: false, random: () => 0 });
  list.resolved([host("1"), host("2")]);
  expect([list.takeAddress()?.host, list.takeAddress()?.host, list.takeAddress()]).toEqual(["1", "2", undefined]);
});
