import { expect, test } from "vitest";
import { clusterConfigLine, parseClusterConfig } from "./cluster-config.ts";

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
