import { expect, test } from "vitest";
import { parseSrvr } from "./srvr-text.ts";

const LINES = [
  "Zookeeper version: 3.9.5-b7e3b1, built on 2025-01-02 03:04 UTC",
  "Latency min/avg/max: 1/2.5/30",
  "Received: 100",
  "Sent: 101",
  "Connections: 3",
  "Outstanding: 4",
  "Zxid: 0x500000010",
  "Mode: follower",
  "Node count: 7",
];
/** Without these it is the answer of a server that does not serve, or of something else. */
const NEEDED = ["Latency min/avg/max", "Zxid", "Mode"];

test("every line is a figure", () => {
  expect(parseSrvr(`${LINES.join("\n")}\n`)).toEqual({
    version: expect.stringContaining("3.9.5"),
    role: "follower",
    zxid: "0x500000010",
    latencyMs: { min: 1, average: 2.5, max: 30 },
    received: 100,
    sent: 101,
    connections: 3,
    outstanding: 4,
    nodeCount: 7,
  });
});

test.each(LINES)("a text without the line %s", (missing) => {
  const found = parseSrvr(LINES.filter((line) => line !== missing).join("\n"));
  if (NEEDED.includes(missing.split(":")[0] ?? "")) expect(found).toBeUndefined();
  else expect(found).toMatchObject({ role: "follower" });
});

test.each(["", "This ZooKeeper instance is not currently serving requests\n", "Zxid: five\nMode: x\n"])(
  "%j has no figures",
  (text) => {
    expect(parseSrvr(text)).toBeUndefined();
  },
);

test.each(["5", "0x", "0xg", "0x5 "])("a zxid of %j is none", (zxid) => {
  const lines = LINES.map((line) => (line.startsWith("Zxid") ? `Zxid: ${zxid}|` : line));
  expect(parseSrvr(lines.join("\n"))).toBeUndefined();
});
