import type { ServerId } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { Founding, S1, S2, S3 } from "../testing/founding.ts";

/**
 * 1. S3 runs without its volume, is synchronized, and acknowledges writes with S1.
 * 2. S3 starts with its volume again, which lacks them, and serves with S2, which was down.
 * 3. S1 returns.
 */
function partedHistories(): Founding {
  const founding = new Founding();
  const { cluster } = founding;
  const stop = (sid: ServerId): void => cluster.crash(sid, Number.POSITIVE_INFINITY);
  founding.start(S1, S2, S3);
  expect(founding.create(S1, "/of-all")).toBe("/of-all");
  cluster.unmount(S3);
  founding.start(S3);
  stop(S2);
  founding.run(10_000);
  expect(founding.create(S1, "/of-1-and-3")).toBe("/of-1-and-3");
  // In the epoch of S2 and S3 below, S1 would join them. It is in a later one.
  for (let i = 0; i < 3; i++) {
    stop(S1);
    founding.start(S1);
    founding.run(10_000);
  }
  stop(S1);
  cluster.mount(S3);
  founding.start(S2, S3);
  founding.run(10_000);
  expect(founding.create(S2, "/of-2-and-3")).toBe("/of-2-and-3");
  founding.start(S1);
  founding.run(30_000);
  return founding;
}

describe("histories that differ since a server had an old disk", () => {
  test("are named", () => {
    const founding = partedHistories();
    const named = [S1, S2, S3].flatMap((sid) => founding.noted(sid));
    expect(named.filter((kind) => /histories-differ|applied-beyond|history-not-the-leaders/.test(kind))).not.toEqual(
      [],
    );
  });

  test("do not keep a quorum with one history from service, whether the other server is there or not", () => {
    const founding = partedHistories();
    expect(founding.serving()).toEqual([S2, S3]);
    expect(founding.read(S2, "/of-2-and-3")).toBe("1");
    founding.cluster.crash(S1, Number.POSITIVE_INFINITY);
    founding.cluster.crash(S2, Number.POSITIVE_INFINITY);
    founding.start(S2);
    founding.run(30_000);
    expect(founding.serving()).toEqual([S2, S3]);
  });
});
