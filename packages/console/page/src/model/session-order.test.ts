import { expect, test } from "vitest";
import type { ClientSessionJson } from "../../../src/api/shapes.ts";
import { grouped, type Order, ordered } from "./session-order.ts";

function session(id: string, more: Partial<ClientSessionJson> = {}): ClientSessionJson {
  return {
    id,
    address: "10.0.0.1:5000",
    member: "zk1",
    establishedMs: 1_000,
    timeoutMs: 10_000,
    received: 0,
    averageLatencyMs: null,
    ephemerals: null,
    watches: null,
    users: null,
    client: null,
    ...more,
  } as ClientSessionJson;
}

const SESSIONS = [
  session("0x3", { received: 5, averageLatencyMs: 2, ephemerals: ["/a"], watches: 7 }),
  session("0x1", { received: 9, establishedMs: 500, ephemerals: ["/b", "/c"] }),
  session("0x2", { received: 5, averageLatencyMs: 7, establishedMs: null, ephemerals: [], watches: 0 }),
];

test.each<[Order, readonly string[]]>([
  ["session", ["0x1", "0x2", "0x3"]],
  ["connected", ["0x1", "0x3", "0x2"]],
  ["rate", ["0x2", "0x3", "0x1"]],
  ["requests", ["0x1", "0x2", "0x3"]],
  ["watches", ["0x3", "0x2", "0x1"]],
  ["latency", ["0x2", "0x3", "0x1"]],
  ["ephemerals", ["0x1", "0x3", "0x2"]],
])("by %s", (order, ids) => {
  const rates = new Map([
    ["0x2", 4],
    ["0x3", 0],
  ]);
  expect(ordered(SESSIONS, order, rates).map(({ id }) => id)).toEqual(ids);
});

test("by address without the port, or by member, with the largest group first", () => {
  const some = [
    session("0x1", { address: "[fe80::1]:4000" }),
    session("0x2", { address: "10.0.0.2:4000", member: "zk2" }),
    session("0x3", { address: "10.0.0.2:4001" }),
  ];
  const shown = (by: "none" | "address" | "member") =>
    grouped(some, by).map(({ name, sessions }) => [name, sessions.map(({ id }) => id).join()]);
  expect(shown("none")).toEqual([["", "0x1,0x2,0x3"]]);
  expect(shown("address")).toEqual([
    ["10.0.0.2", "0x2,0x3"],
    ["[fe80::1]", "0x1"],
  ]);
  expect(shown("member")).toEqual([
    ["zk1", "0x1,0x3"],
    ["zk2", "0x2"],
  ]);
});

test("by user, where a client with several is a group of its own, and by client", () => {
  const some = [
    session("0x1", { users: ["digest:bob", "digest:alice"], client: "TLS as CN=one" }),
    session("0x2", { users: ["digest:alice"], client: "without TLS" }),
    session("0x3", { users: ["digest:alice", "digest:bob"], client: "without TLS" }),
    session("0x4", { users: [], client: "without TLS" }),
    session("0x5"),
  ];
  const shown = (by: "user" | "client") =>
    grouped(some, by).map(({ name, sessions }) => [name, sessions.map(({ id }) => id).join()]);
  expect(shown("user")).toEqual([
    ["digest:alice, digest:bob", "0x1,0x3"],
    ["digest:alice", "0x2"],
    ["not authenticated", "0x4"],
    ["unknown", "0x5"],
  ]);
  expect(shown("client")).toEqual([
    ["without TLS", "0x2,0x3,0x4"],
    ["TLS as CN=one", "0x1"],
    ["unknown", "0x5"],
  ]);
});
