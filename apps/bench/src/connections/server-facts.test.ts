import { expect, test } from "vitest";
import { parseSrvr } from "./server-facts.ts";

const HOST = { name: "127.0.0.1", port: 2181 };

test.each([
  [
    "Zookeeper version: 3.9.5-a, built on x\nLatency min/avg/max: 0/0.0/0\nMode: follower\nNode count: 5\n",
    "3.9.5-a, built on x",
    "follower",
  ],
  ["Zookeeper version: 1\nMode: standalone\n", "1", "standalone"],
  ["This ZooKeeper instance is not currently serving requests\n", "unknown", "unknown"],
  ["Mode: king\n", "unknown", "unknown"],
  ["", "unknown", "unknown"],
])("%j", (answer, version, role) => {
  expect(parseSrvr(HOST, answer)).toEqual({ host: "127.0.0.1:2181", version, role });
});
