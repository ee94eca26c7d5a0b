import { expect, test } from "vitest";
import { configurationText } from "./configuration-text.ts";
import { type EnsembleServerOptions, parseEnsemble } from "./ensemble-config.ts";

function textOf(servers: readonly EnsembleServerOptions[]): string[] {
  const options = { sid: 1, servers, allowUnauthenticatedPeers: true };
  return configurationText(parseEnsemble(options, (_, value) => value, [], [])).split("\n");
}

const at = (sid: number, host: string) => ({ sid, host, quorumPort: 2888, electionPort: 3888 });

test("servers are listed by their ids, as Apache writes them", () => {
  const servers = [
    { ...at(2, "zk2.example"), isObserver: true },
    { ...at(1, "127.0.0.1"), clientAddress: { port: 2181 } },
    { ...at(3, "fd00::3"), clientAddress: { host: "::1", port: 2183 } },
  ];
  expect(textOf(servers)).toEqual([
    "server.1=127.0.0.1:2888:3888:participant;0.0.0.0:2181",
    "server.2=zk2.example:2888:3888:observer",
    "server.3=[fd00::3]:2888:3888:participant;[::1]:2183",
    "version=0",
  ]);
});

test("groups follow with the weights of all that are in them", () => {
  const servers = [
    { ...at(1, "a"), group: 7 },
    { ...at(2, "b"), group: 3, weight: 0 },
    { ...at(3, "c"), group: 7 },
    { ...at(4, "d"), isObserver: true },
  ];
  expect(textOf(servers).slice(4)).toEqual([
    "group.3=2",
    "group.7=1:3",
    "weight.1=1",
    "weight.2=0",
    "weight.3=1",
    "version=0",
  ]);
});
