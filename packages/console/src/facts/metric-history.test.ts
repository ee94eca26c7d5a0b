import { expect, test } from "vitest";
import type { MemberJson } from "../api/shapes.ts";
import { MetricHistory } from "./metric-history.ts";

function member(sid: number | null, address: string, connections: number): MemberJson {
  return { sid, address, connections, zxid: "0x100000001", received: 0, latencyMs: null } as MemberJson;
}

/** The connections of each sample, by the member's name in the chart. */
function charted(...samples: readonly (readonly MemberJson[])[]): Readonly<Record<string, readonly (number | null)[]>> {
  const history = new MetricHistory();
  for (const [i, members] of samples.entries()) history.add(members, i * 10_000);
  const series = history.json().series.filter(({ name }) => name === "connections");
  expect(new Set(series.map(({ member: name }) => name)).size).toBe(series.length);
  return Object.fromEntries(series.map(({ member: name, values }) => [name, values]));
}

test("a server that has another name in the configuration than in the connect string has one series", () => {
  expect(charted([member(null, "localhost:2181", 1)], [member(1, "127.0.0.1:2181", 2)])).toEqual({
    "127.0.0.1:2181": [1, 2],
  });
  const listed = [member(null, "zk1:2181", 1), member(null, "zk2:2181", 2), member(null, "vip:2181", 9)];
  expect(charted(listed, [member(1, "zk1:2181", 3), member(2, "zk2:2181", 4)])).toEqual({
    "zk1:2181": [1, 3],
    "zk2:2181": [2, 4],
  });
});

test("a member whose client address moves keeps its series under the new name", () => {
  const before = [member(1, "zk1:2181", 1), member(2, "zk2:2181", 2)];
  expect(charted(before, [member(1, "zk1:2281", 3), member(2, "zk2:2181", 4)])).toEqual({
    "zk1:2281": [1, 3],
    "zk2:2181": [2, 4],
  });
});

test("a member that comes later, or does not answer, has gaps", () => {
  const silent = { ...member(2, "zk2:2181", 0), zxid: null };
  expect(charted([member(1, "zk1:2181", 1)], [member(1, "zk1:2181", 2), member(2, "zk2:2181", 7)], [silent])).toEqual({
    "zk1:2181": [1, 2, null],
    "zk2:2181": [null, 7, null],
  });
});

test("a member that takes the place of another one, by a new id or by its move, continues the series of that address", () => {
  const first = [member(1, "zk1:2181", 1), member(2, "zk2:2181", 2)];
  expect(charted(first, [member(4, "zk1:2181", 3), member(2, "zk2:2181", 4)])).toEqual({
    "zk1:2181": [1, 3],
    "zk2:2181": [2, 4],
  });
  expect(charted(first, [member(2, "zk1:2181", 5)])).toEqual({ "zk1:2181": [2, 5] });
  expect(charted(first, [member(2, "zk2:2181", 4)])).toEqual({ "zk1:2181": [1, null], "zk2:2181": [2, 4] });
});

test("the one member that the configuration names has the figures of the connect string's name, not those of one that left", () => {
  const samples = [[member(2, "zk2:2181", 5)], [member(null, "vip:2181", 6)], [member(1, "zk1:2181", 7)]];
  expect(charted(...samples)).toEqual({ "zk2:2181": [5, null, null], "zk1:2181": [null, 6, 7] });
});

test("members that have left are forgotten after an hour, and new ones have their places", () => {
  const history = new MetricHistory();
  const SAMPLES = 3_600_000 / history.intervalMs;
  const names = (): ReadonlySet<string> => new Set(history.json().series.map(({ member: name }) => name));
  let sid = 0;
  const fill = (): MemberJson[] => Array.from({ length: 100 }, () => member(++sid, `zk${sid}:2181`, 1));
  history.add(fill(), 0);
  const count = names().size;
  expect(count).toBeLessThan(100);
  const now = [member(++sid, "new:2181", 1)];
  for (let i = 1; i <= SAMPLES; i++) {
    expect(names().has("new:2181")).toBe(false);
    history.add(now, i * history.intervalMs);
  }
  history.add(now, SAMPLES * history.intervalMs);
  expect(names()).toEqual(new Set(["new:2181"]));
});
