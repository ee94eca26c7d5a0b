import { composeZxid, parseMembers, type ServerId } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { memberLine } from "../seeds/draw-plan.ts";
import { Founding, S1, S2, S3 } from "../testing/founding.ts";

function stop({ cluster }: Founding, ...sids: ServerId[]): void {
  for (const sid of sids) cluster.crash(sid, Number.POSITIVE_INFINITY);
}

/**
 * 1. S3 runs without its volume, is synchronized, and acknowledges writes with S1, while S2 is
 *    down.
 * 2. All stop.
 * 3. S3 has its volume again, which lacks those writes.
 */
function withOldDisk(founding: Founding): Founding {
  const { cluster } = founding;
  founding.start(S1, S2, S3);
  expect(founding.create(S1, "/of-all")).toBe("/of-all");
  cluster.unmount(S3);
  founding.start(S3);
  founding.run(10_000);
  stop(founding, S2);
  founding.run(10_000);
  expect(founding.create(S1, "/of-1-and-3")).toBe("/of-1-and-3");
  // In the epoch of S2 and S3 below, S1 would join them. It is in a later one.
  for (let i = 0; i < 3; i++) {
    stop(founding, S1);
    founding.start(S1);
    founding.run(10_000);
  }
  stop(founding, S1);
  cluster.mount(S3);
  return founding;
}

describe("a server with an old disk under its number", () => {
  const members = parseMembers([S1, S2, S3].map((sid) => memberLine(sid, false)).join("\n"));

  test("is not counted by a server that was away when it acknowledged writes on another one", () => {
    const founding = withOldDisk(new Founding({ members }));
    founding.start(S2, S3);
    founding.run(30_000);
    expect(founding.serving()).toEqual([]);
    expect(founding.noted(S2)).toContain("learner-not-counted");
  });

  test("serves again, and is counted, once it is synchronized beside a quorum", () => {
    const founding = withOldDisk(new Founding({ members }));
    founding.start(S2, S3, S1);
    founding.run(10_000);
    expect(founding.serving()).toEqual([S1, S2, S3]);
    expect(founding.read(S3, "/of-1-and-3")).toBe("1");
    stop(founding, S1);
    founding.run(10_000);
    expect(founding.serving()).toEqual([S2, S3]);
    expect(founding.read(S2, "/of-1-and-3")).toBe("1");
  });

  test("is counted after a restart of all, by the name in the log", () => {
    const founding = withOldDisk(new Founding({ members }));
    founding.start(S2, S3, S1);
    founding.run(10_000);
    stop(founding, S1, S2, S3);
    founding.start(S2, S3);
    founding.run(10_000);
    expect(founding.serving()).toEqual([S2, S3]);
    expect(founding.read(S3, "/of-1-and-3")).toBe("1");
  });

  test("does not lead, with the larger number of the two that are there", () => {
    const founding = withOldDisk(new Founding({ members }));
    founding.start(S3, S2);
    founding.run(30_000);
    expect(founding.leaders()).toEqual([]);
    expect(founding.serving()).toEqual([]);
  });
});

test("two old disks beside a dynamic file that is newer serve nothing: files name no disks", () => {
  const members = parseMembers([S1, S2, S3].map((sid) => memberLine(sid, false)).join("\n"));
  const ensemble = { members };
  const founding = new Founding(ensemble);
  const { cluster } = founding;
  founding.start(S1, S2, S3);
  expect(founding.create(S1, "/of-all")).toBe("/of-all");
  for (const sid of [S2, S3]) {
    cluster.unmount(sid);
    founding.start(sid);
    founding.run(10_000);
  }
  expect(founding.create(S1, "/later")).toBe("/later");
  // The files are on another disk, and have what clients are shown.
  const inForce = cluster.server(S1)?.replica.zab.members.committed ?? members;
  expect([...inForce.disks.keys()]).toEqual([S2, S3]);
  ensemble.members = { ...inForce, disks: members.disks };
  stop(founding, S1, S2, S3);
  cluster.mount(S2);
  cluster.mount(S3);
  founding.start(S2, S3);
  founding.run(30_000);
  expect(founding.serving()).toEqual([]);
});

test("files of all that were edited to a newer version are used once all are there, and not before", () => {
  const members = parseMembers([S1, S2, S3].map((sid) => memberLine(sid, false)).join("\n"));
  const ensemble = { members };
  const founding = new Founding(ensemble);
  founding.start(S1, S2, S3);
  expect(founding.create(S1, "/kept")).toBe("/kept");
  const version = composeZxid(5, 0);
  ensemble.members = { ...members, version };
  stop(founding, S1, S2, S3);
  founding.start(S1, S2);
  founding.run(30_000);
  expect(founding.serving()).toEqual([]);
  founding.start(S3);
  founding.run(10_000);
  expect(founding.serving()).toEqual([S1, S2, S3]);
  expect(founding.read(S2, "/kept")).toBe("1");
  expect(founding.create(S2, "/after")).toBe("/after");
  stop(founding, S1, S2, S3);
  founding.start(S1, S2);
  founding.run(30_000);
  expect(founding.serving()).toEqual([S1, S2]);
});

/** Where no configuration was agreed on, no disk has a name, and an old one counts. */
function partedHistories(): Founding {
  const founding = withOldDisk(new Founding());
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
    stop(founding, S1, S2);
    founding.start(S2);
    founding.run(30_000);
    expect(founding.serving()).toEqual([S2, S3]);
  });
});
