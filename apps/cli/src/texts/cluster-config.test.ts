import { expect, test } from "vitest";
import { clusterConfigLine, memberAddresses, parseClusterConfig } from "./cluster-config.ts";

test("clients connect to what stands behind the semicolon; a port alone stands for every address", () => {
  const text = [
    "server.1=10.0.0.1:2888:3888:participant;10.0.0.1:2181",
    "server.2=10.0.0.2:2888:3888:participant;2182",
    "server.3=10.0.0.3:2888:3888:observer",
    "version=100000000",
  ].join("\n");
  expect(clusterConfigLine(parseClusterConfig(text))).toBe("100000000 10.0.0.1:2181,0.0.0.0:2182");
});

test("a server alone has no configuration", () => {
  expect(clusterConfigLine(parseClusterConfig(""))).toBe(" ");
});

test("members are reached at their client address, or at their own host where that is a wildcard", () => {
  const text = [
    "server.1=zk-1:2888:3888:participant;0.0.0.0:2181",
    "server.2=zk-2:2888:3888:observer;10.0.0.2:2182",
    "server.3=[fd00::3]:2888:3888:participant;[::]:2183",
    "server.4=zk-4:2888:3888:participant;2184",
    "server.5=zk-5:2888:3888:participant",
    "version=100000000",
  ];
  expect(memberAddresses(text.join("\n"))).toEqual(["zk-1:2181", "10.0.0.2:2182", "[fd00::3]:2183", "zk-4:2184"]);
});
