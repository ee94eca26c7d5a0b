import { expect, test } from "vitest";
import { checksOf, parseMetrics } from "./admin-facts.ts";
import { adminBases } from "./ensemble-facts.ts";

test("lines of checks are read, those of another form are skipped", () => {
  const text =
    "[+]running ok\n[+]storage ok: little room\n[-]data failed: a: b\n[-]odd failed\nhealthz check failed\n[?]x ok\n";
  expect(checksOf(text)).toEqual([
    { name: "running", fault: undefined },
    { name: "storage", fault: undefined },
    { name: "data", fault: "a: b" },
    { name: "odd", fault: "it says no more" },
  ]);
});

test("samples of metrics are read with their labels", () => {
  const text = '# HELP a b\n# TYPE a gauge\na 1\na{x="1",y="z"} 2.5\nb NaN\nc{le="+Inf"} 3 1700\n!\n';
  expect([...parseMetrics(text)]).toEqual([
    [
      "a",
      [
        { labels: {}, value: 1 },
        { labels: { x: "1", y: "z" }, value: 2.5 },
      ],
    ],
    ["c", [{ labels: { le: "+Inf" }, value: 3 }]],
  ]);
});

test("a star stands for each server's host, once for each", () => {
  const bases = adminBases(["https://*:8443", "http://other:1/x"], ["zk1:2181", "zk1:2182", "[::1]:2181"]);
  expect(bases.map(String)).toEqual(["https://zk1:8443/", "https://[::1]:8443/", "http://other:1/x/"]);
});
