import type { Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { DigestHistory } from "./digest-history.ts";

test("every 128th zxid is kept, and the newest 1024 of them", () => {
  const history = new DigestHistory();
  for (let zxid = 1; zxid <= 128 * 1030; zxid++) history.note(zxid as Zxid, { digestHigh: zxid, digestLow: -zxid });
  expect(history.kept).toHaveLength(1024);
  expect(history.kept[0]).toEqual({ zxid: 7 * 128, digestHigh: 7 * 128, digestLow: -7 * 128 });
  expect(history.kept.at(-1)?.zxid).toBe(1030 * 128);
});
