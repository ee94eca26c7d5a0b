import type { ServerId } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { Founding, S1, S2, S3 } from "../testing/founding.ts";

/**
 * Two of three lose their disks: whatever happens to the links of the third, no empty ensemble is
 * founded beside its data.
 */

const ALL: readonly ServerId[] = [S1, S2, S3];

/** An ensemble with data, two disks of which are lost; the links of the survivor come up late. */
function loseMajority(survivor: ServerId, lateMs: number, isDamaged: boolean): Founding {
  const founding = new Founding({ foundingWaitMs: 5000 });
  founding.start(...ALL);
  expect(founding.create(S1, "/a")).toBe("/a");
  founding.run();
  const lost = ALL.filter((sid) => sid !== survivor);
  for (const sid of ALL) founding.cluster.crash(sid, Number.POSITIVE_INFINITY);
  for (const sid of lost) founding.cluster.wipe(sid);
  if (isDamaged) founding.cluster.damage(survivor, 0.5);
  founding.cluster.isolate(survivor, lateMs);
  for (const sid of ALL) founding.cluster.start(sid);
  founding.run(lateMs + 20_000);
  return founding;
}

describe("two of three that lost their disks", () => {
  test.each(
    ALL.flatMap((survivor) =>
      [0, 40, 300, 1500, 4000].flatMap((lateMs) => [false, true].map((isDamaged) => ({ survivor, lateMs, isDamaged }))),
    ),
  )(
    "found nothing beside server $survivor, whose links come up after $lateMs ms (damaged: $isDamaged)",
    ({ survivor, lateMs, isDamaged }) => {
      const founding = loseMajority(survivor, lateMs, isDamaged);
      expect(founding.serving()).toEqual([]);
    },
  );
});
