/** The base and the files that a state of the past is made from. */
import { rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { composeZxid, type Zxid } from "@zooid/model";
import { StoreError } from "@zooid/txn-log";
import { ArchiveFile, listArchive, listBases } from "@zooid/txn-log/sqlite";
import { ARCHIVE_START, baseOf, fileBehind, otherChainAt } from "@zooid/txn-log/testing/archive-pieces";
import { TemporaryDirectory } from "@zooid/txn-log/testing/temporary-directory";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { OfflineError } from "./offline-error.ts";
import { planRestore, type RestorePlan, type RestoreTarget } from "./restore-plan.ts";

const Z = (counter: number): Zxid => composeZxid(1, counter);

let place: TemporaryDirectory;
let archive: string;
beforeEach(() => {
  place = new TemporaryDirectory();
  archive = join(place.path, "archive");
});
afterEach(() => place[Symbol.dispose]());

/** The base and the files of a plan, by the counters of their ends. */
function shown({ base, files, zxid }: RestorePlan): readonly number[][] {
  return [[base.zxid === 0 ? 0 : base.zxid - Z(0)], files.map(({ end }) => end - Z(0)), [zxid - Z(0)]];
}

function problem(target?: RestoreTarget): string {
  try {
    planRestore(archive, target);
  } catch (error) {
    if (error instanceof OfflineError || error instanceof StoreError) return error.message;
    throw error;
  }
  return "none";
}

describe("a zxid", () => {
  beforeEach(async () => {
    let end = ARCHIVE_START;
    await baseOf(archive, end, 1000);
    for (const timeMs of [1000, 2000, 3000]) {
      end = fileBehind(archive, end, [timeMs, timeMs + 1]);
      if (timeMs === 2000) await baseOf(archive, end, 2000);
    }
  });

  test.each([
    [undefined, [[4], [6], [6]]],
    [1, [[0], [2], [1]]],
    [2, [[0], [2], [2]]],
    [3, [[0], [2, 4], [3]]],
    [4, [[4], [], [4]]],
    [5, [[4], [6], [5]]],
    [6, [[4], [6], [6]]],
  ] as const)("%j is made from the newest base that is no later, and the files behind it", (counter, plan) => {
    expect(shown(planRestore(archive, counter === undefined ? undefined : { zxid: Z(counter) }))).toEqual(plan);
  });

  test("behind the last one, or before the first base, is refused with what there is", () => {
    expect(problem({ zxid: Z(7) })).toContain("0x100000006, and not up to 0x100000007: nothing follows it");
    const [first] = listBases(join(archive, "base"));
    rmSync(first?.folder ?? "", { recursive: true });
    expect(problem({ zxid: Z(3) })).toContain("0x100000003 lies before 0x100000004, the first state in");
    expect(shown(planRestore(archive, { zxid: Z(4) }))).toEqual([[4], [], [4]]);
  });

  test("behind a gap is refused, and one before it is made", () => {
    const [first, , third] = listArchive(join(archive, "log"));
    rmSync(first?.file ?? "");
    expect(problem({ zxid: Z(3) })).toContain("up to 0x0, and not up to 0x100000003: there is a gap behind it");
    expect(shown(planRestore(archive, { zxid: Z(5) }))).toEqual([[4], [6], [5]]);
    expect(shown(planRestore(archive))).toEqual([[4], [6], [6]]);
    rmSync(third?.file ?? "");
    expect(shown(planRestore(archive, { zxid: Z(4) }))).toEqual([[4], [], [4]]);
  });

  test("the newest one behind a gap is refused, and the one before it is named and made", () => {
    const [, second] = listArchive(join(archive, "log"));
    for (const { folder } of listBases(join(archive, "base")).slice(1)) rmSync(folder, { recursive: true });
    rmSync(second?.file ?? "");
    expect(problem()).toBe(
      `${archive} has no transactions after 0x100000002 and up to 0x100000004, and no base behind that, so its last state, at 0x100000006, cannot be restored: --to 0x100000002 takes the last one before`,
    );
    expect(shown(planRestore(archive, { zxid: Z(2) }))).toEqual([[0], [2], [2]]);
  });

  test("the newest one is refused where the files behind the newest base have another history", () => {
    fileBehind(archive, otherChainAt({ zxid: Z(6) }), [4000, 4001]);
    expect(problem()).toContain(
      "has another history behind 0x100000006, and no base behind that, so its last state, at 0x100000008, cannot be",
    );
  });

  describe.each<readonly [damage: string, at: (folder: string) => string, how: (file: string) => void]>([
    ["without its manifest", (folder) => join(folder, "manifest.json"), (file) => rmSync(file)],
    ["with a manifest cut off", (folder) => join(folder, "manifest.json"), (file) => truncateSync(file, 30)],
    ["without a part", (folder) => join(folder, "0000"), (file) => rmSync(file)],
    ["with a part cut off", (folder) => join(folder, "0000"), (file) => truncateSync(file, 2)],
    ["with a part of other bytes", (folder) => join(folder, "0000"), (file) => writeFileSync(file, "chunK")],
  ])("with the newest base %s", (_, at, how) => {
    let damaged: string;
    beforeEach(() => {
      damaged = at(listBases(join(archive, "base")).at(-1)?.folder ?? "");
      how(damaged);
    });

    test.each([undefined, 6, 5, 4])("%j is made from the one before, and the damage is named", (counter) => {
      const plan = planRestore(archive, counter === undefined ? undefined : { zxid: Z(counter) });
      expect(shown(plan)).toEqual([[0], counter === 4 ? [2, 4] : [2, 4, 6], [counter ?? 6]]);
      expect(plan.warnings).toEqual([expect.stringContaining(`${damaged} is damaged`)]);
      expect(planRestore(archive, { zxid: Z(3) }).warnings).toEqual([]);
    });

    test("what the files behind the one before do not reach is refused with the damaged one", () => {
      const [, second] = listArchive(join(archive, "log"));
      truncateSync(second?.file ?? "", 30);
      for (const target of [undefined, { zxid: Z(6) }]) expect(problem(target)).toContain(`${damaged} is damaged`);
      rmSync(second?.file ?? "");
      for (const target of [undefined, { zxid: Z(4) }]) expect(problem(target)).toContain(`${damaged} is damaged`);
      expect(shown(planRestore(archive, { zxid: Z(2) }))).toEqual([[0], [2], [2]]);
    });
  });

  test("whose only base or a file of it is damaged is refused with the damaged one", () => {
    const [, second] = listArchive(join(archive, "log"));
    for (const damage of [() => truncateSync(second?.file ?? "", 30), () => writeFileSync(second?.file ?? "", "")]) {
      damage();
      expect(problem({ zxid: Z(3) })).toContain(`${second?.file} is damaged`);
    }
    const [base] = listBases(join(archive, "base"));
    const manifest = join(base?.folder ?? "", "manifest.json");
    truncateSync(manifest, 30);
    expect(problem({ zxid: Z(2) })).toContain(`${manifest} is damaged`);
  });

  test("before a damaged file is made without reading it", () => {
    const [, second, third] = listArchive(join(archive, "log"));
    for (const { folder } of listBases(join(archive, "base")).slice(1)) rmSync(folder, { recursive: true });
    truncateSync(third?.file ?? "", 30);
    expect(shown(planRestore(archive, { zxid: Z(4) }))).toEqual([[0], [2, 4], [4]]);
    expect(problem({ zxid: Z(5) })).toContain(`${third?.file} is damaged`);
    truncateSync(second?.file ?? "", 30);
    expect(shown(planRestore(archive, { zxid: Z(2) }))).toEqual([[0], [2], [2]]);
    expect(shown(planRestore(archive, { zxid: 0 as Zxid }))).toEqual([[0], [], [0 - Z(0)]]);
  });

  test("is not made from the files of another history, whatever their names", () => {
    const [, second] = listArchive(join(archive, "log"));
    rmSync(second?.file ?? "");
    fileBehind(archive, otherChainAt({ zxid: Z(2) }), [2000, 2001]);
    expect(problem({ zxid: Z(3) })).toContain("up to 0x100000002, and not up to 0x100000003");
    expect(shown(planRestore(archive, { zxid: Z(2) }))).toEqual([[0], [2], [2]]);
  });

  test("is made where another history's files lie beside those of this one", () => {
    fileBehind(archive, fileBehind(archive, ARCHIVE_START, [1, 2, 3], "other"), [4, 5], "other");
    expect(shown(planRestore(archive, { zxid: Z(3) }))).toEqual([[0], [2, 4], [3]]);
    expect(shown(planRestore(archive))).toEqual([[4], [6], [6]]);
  });

  test("is made where files overlap", () => {
    const [first, second] = listArchive(join(archive, "log"));
    rmSync(first?.file ?? "");
    rmSync(second?.file ?? "");
    const end = fileBehind(archive, ARCHIVE_START, [1000, 1001, 2000]);
    expect(end.zxid).toBe(Z(3));
    fileBehind(archive, ARCHIVE_START, [1000, 1001, 2000, 2001]);
    expect(shown(planRestore(archive, { zxid: Z(4) }))).toEqual([[4], [], [4]]);
    expect(shown(planRestore(archive, { zxid: Z(3) }))).toEqual([[0], [3], [3]]);
  });
});

describe("a time", () => {
  async function fill(...files: readonly (readonly number[])[]): Promise<void> {
    let end = ARCHIVE_START;
    await baseOf(archive, end, 0);
    for (const times of files) end = fileBehind(archive, end, times);
  }
  const at = (timeMs: number): number => planRestore(archive, { timeMs }).zxid - Z(0);

  test("is the last transaction that is stamped no later", async () => {
    await fill([1000, 1000, 2000], [2000, 3000], [4000]);
    expect([1000, 1999, 2000, 2999, 3000, 3999, 4000].map(at)).toEqual([2, 2, 4, 4, 5, 5, 6]);
    expect(problem({ timeMs: 999 })).toBe(
      `the history begins after 0x0, at ${new Date(1000).toISOString()}, and so later than ${new Date(999).toISOString()}`,
    );
    expect(problem({ timeMs: 4001 })).toBe(
      `the history ends at 0x100000006, at ${new Date(4000).toISOString()}, and so earlier than ${new Date(4001).toISOString()}`,
    );
  });

  test.each([
    ["within a file", [[1000, 2000, 3000, 1500, 2500, 4000]]],
    [
      "between files",
      [
        [1000, 2000, 3000],
        [1500, 2500, 4000],
      ],
    ],
    ["between files of one transaction each", [[1000], [2000], [3000], [1500], [2500], [4000]]],
  ])("across which a clock went back %s is refused with the first and the last such moment", async (_, files) => {
    await fill(...files);
    expect([1000, 1499, 3000, 3999, 4000].map(at)).toEqual([1, 1, 5, 5, 6]);
    const went = (timeMs: number, first: number, last: number): string =>
      `a clock went back across ${new Date(timeMs).toISOString()}: that time was first behind 0x10000000${first}, and last behind 0x10000000${last}; name one of these transactions instead`;
    expect(problem({ timeMs: 2000 })).toBe(went(2000, 2, 4));
    expect(problem({ timeMs: 2500 })).toBe(went(2500, 2, 5));
    expect(problem({ timeMs: 1500 })).toBe(went(1500, 1, 4));
  });

  test("is found where a file that has later or earlier ones is damaged, which is named", async () => {
    await fill([1000], [2000], [3000], [4000]);
    using second = new ArchiveFile(listArchive(join(archive, "log"))[1]?.file ?? "");
    await baseOf(archive, second.footer.after, 1000);
    const files = listArchive(join(archive, "log"));
    for (const damaged of [files[3], files[0]]) {
      truncateSync(damaged?.file ?? "", 30);
      expect(planRestore(archive, { timeMs: 2500 })).toMatchObject({ zxid: Z(2) });
    }
    expect(planRestore(archive, { timeMs: 2500 }).warnings).toEqual(
      [files[0], files[3]].map((damaged) => expect.stringContaining(`${damaged?.file} is damaged`)),
    );
    for (const timeMs of [999, 1000, 1999]) expect(problem({ timeMs })).toContain(`${files[0]?.file} is damaged`);
    for (const timeMs of [3000, 4000, 5000]) expect(problem({ timeMs })).toContain(`${files[3]?.file} is damaged`);
  });

  test("in a gap is refused with the gap", async () => {
    await fill([1000], [2000], [3000]);
    rmSync(listArchive(join(archive, "log"))[1]?.file ?? "");
    expect(problem({ timeMs: 2500 })).toBe(
      `the history lacks the transactions after 0x100000001 and up to 0x100000002, and ${new Date(2500).toISOString()} lies among them`,
    );
  });

  test("in an archive without transactions is refused", async () => {
    await fill();
    expect(problem({ timeMs: 5000 })).toBe("the history has no transaction to find a time in");
    expect(shown(planRestore(archive))).toEqual([[0], [], [-Z(0)]]);
  });
});
