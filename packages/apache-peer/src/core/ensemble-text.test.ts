import { expect, test } from "vitest";
import { highestVoter, listedServers } from "./ensemble-text.ts";

test("servers are read from the text of NEWLEADER, whatever else stands in it", () => {
  const text = [
    "server.1=a.example:2888:3888:participant;0.0.0.0:2181",
    "server.2=[fe80::1]:2888:3888|b:2889:3889",
    "server.7=c:2888:3888:observer;2181",
    "server.x=d:1:2",
    "server.8=d",
    "version=100000003",
  ].join("\n");
  expect(listedServers(text)).toEqual([
    { sid: 1n, host: "a.example", quorumPort: 2888, isVoter: true },
    { sid: 2n, host: "fe80::1", quorumPort: 2888, isVoter: true },
    { sid: 7n, host: "c", quorumPort: 2888, isVoter: false },
  ]);
  expect(highestVoter(listedServers(text))).toBe(2n);
  expect(highestVoter(listedServers(""))).toBe(undefined);
});
