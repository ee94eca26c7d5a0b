import { expect, test } from "vitest";
import type { ClientSessionJson } from "../../../src/api/shapes.ts";
import { clientRates } from "./client-rates.ts";

const session = (id: string, received: number, establishedMs = 1): ClientSessionJson => ({
  id,
  received,
  establishedMs,
  member: "a:2181",
  address: "b:1",
  timeoutMs: 1,
  lastOperation: null,
  sent: 0,
  outstanding: 0,
  averageLatencyMs: null,
  ephemerals: null,
  watches: null,
  users: null,
  client: null,
});

test("the busiest session comes first, and one without a known beginning is left out", () => {
  const before = [session("0x1", 10), session("0x2", 10), session("0x3", 500, 1)];
  const after = [session("0x1", 20), session("0x2", 110), session("0x3", 3, 2), session("0x4", 9)];
  const rates = clientRates(before, after, 5).map(({ session: { id }, perSecond }) => `${id} ${perSecond}`);
  expect(rates).toEqual(["0x2 20", "0x1 2"]);
  expect(clientRates(before, after, 0)).toEqual([]);
});
