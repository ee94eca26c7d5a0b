import { expect, test } from "vitest";
import { hostPort } from "./host-port.ts";

test.each([
  ["127.0.0.1", "127.0.0.1:2181"],
  ["zk-1.example.com", "zk-1.example.com:2181"],
  ["::", "[::]:2181"],
  ["[fe80::1%eth0]", "[fe80::1%eth0]:2181"],
])("%s and a port are %s", (host, text) => {
  expect(hostPort(host, 2181)).toBe(text);
});
