import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { batchOf, range, Z, zxidsOf } from "../append-batches.ts";
import { promised } from "../promised-log.ts";
import type { Store, StoreOptions } from "../sqlite.ts";
import { CONVERSION_STEPS, expectConverted, formatInLogFile, openConverted } from "../testing/conversion.ts";
import { writeDirectoryOfFormat1 } from "../testing/log-of-format-1.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";

// Cuts, purges, amnesia and a kill at each step of a conversion are in `convert-log.slow.test.ts`.

let place: TemporaryDirectory;
let directory: string;
beforeEach(() => {
  place = new TemporaryDirectory();
  directory = join(place.path, "data");
  mkdirSync(directory);
});
afterEach(() => place[Symbol.dispose]());

const open = (options: Partial<StoreOptions> = {}): Promise<Store> => openConverted(directory, options);
const settle = (store: Store): Promise<void> => promised(store.log).setConfigs({});

describe("a log.db from before there were segments", () => {
  test("becomes the oldest segment, and the log goes on behind it through restarts", async () => {
    const old = writeDirectoryOfFormat1(directory, { floorAt: 0, count: 30 });
    await expectConverted(directory, old, 7);
    {
      await using store = await open();
      promised(store.log).append(batchOf(range(31, 40)));
      await settle(store);
    }
    await using store = await open();
    expect(zxidsOf((await promised(store.log).read(Z(0, 0), 1 << 20)).bytes)).toEqual(range(1, 40));
    expect(zxidsOf((await promised(store.log).read(Z(1, 28), 1 << 20)).bytes)).toEqual(range(29, 40));
    expect(formatInLogFile(directory)).toBe(2);
  });

  test("of another server is refused and stays as it is", async () => {
    writeDirectoryOfFormat1(directory, { floorAt: 0, count: 30 });
    await expect(open({ sid: 2 })).rejects.toMatchObject({ code: "FOREIGN" });
    expect(formatInLogFile(directory)).toBe(1);
    expect(readdirSync(directory).filter((name) => name.startsWith("log-"))).toEqual([]);
  });
});

test("a conversion that is killed when the first segment has a WAL and no main file goes on at the next start", async () => {
  const old = writeDirectoryOfFormat1(directory, { floorAt: 10, count: 30 });
  const [, convert] = CONVERSION_STEPS.at(-1) ?? [];
  convert?.(directory);
  await expectConverted(directory, old, 7);
});

test.each(CONVERSION_STEPS.slice(1))(
  "an earlier version refuses a conversion that was killed when %s",
  (_, convert) => {
    writeDirectoryOfFormat1(directory, { floorAt: 10, count: 30 });
    convert(directory);
    expect(formatInLogFile(directory)).toBe(2);
  },
);
