import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { WITNESS_FILE } from "../directory/inspect-directory.ts";
import { openStore, type Store, type StoreOptions } from "../sqlite.ts";
import { batchOf, RecordingHandler, range, Z, zxidsOf } from "../testing/append-batches.ts";
import { newestSegment } from "../testing/newest-segment.ts";
import { promised } from "../testing/promised-log.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { parseSegmentName } from "./segment-name.ts";
import { scanWal, WAL_HEADER_BYTES } from "./wal-scan.ts";

/** The reactions of a store to a segment whose bytes have changed. */

const FRAME_HEADER_BYTES = 24;

let template: TemporaryDirectory;
let place: TemporaryDirectory;
let directory: string;
/**
 * Frames of the newest segment's WAL before its last three commits, each of one batch of two
 * entries.
 */
let framesBefore: number;

/**
 * Two segments: the first with entries 1 to 200 or more, the newest with six at least in commits of
 * two.
 */
beforeAll(async () => {
  template = new TemporaryDirectory();
  const data = join(template.path, "data");
  await using store = await open({ directory: data, segmentBytes: 64 * 1024 });
  let next = 1;
  const append = async (): Promise<void> => {
    promised(store.log).append(
      batchOf([Z(1, next), Z(1, next + 1)], { records: [Buffer.alloc(200), Buffer.alloc(200)] }),
    );
    next += 2;
    await promised(store.log).setConfigs({});
  };
  while (store.log.stats().rollCount === 0) await append();
  framesBefore = scanWal(join(data, `${newestSegment(data)}-wal`)).frameCount;
  for (let i = 0; i < 3; i++) await append();
  // The last commit is one of entries.
  promised(store.log).append(batchOf([Z(1, next)]));
});
afterAll(() => template[Symbol.dispose]());
beforeEach(() => {
  place = new TemporaryDirectory();
  directory = join(place.path, "data");
  cpSync(join(template.path, "data"), directory, { recursive: true, filter: (file) => !file.endsWith("-shm") });
});
afterEach(() => place[Symbol.dispose]());

function open(options: Partial<StoreOptions> = {}): Promise<Store> {
  return openStore({ directory, sid: 1, handler: new RecordingHandler(), ...options });
}

const walOf = (segment: string): string => join(directory, `${segment}-wal`);

function sealedSegment(): string {
  const sealed = readdirSync(directory).find((name) => parseSegmentName(name)?.sequence === 1);
  if (sealed === undefined) throw new Error("no sealed segment");
  return sealed;
}

/** Flips a bit in a page of a frame. */
function flip(wal: string, frame: number): void {
  const { pageBytes } = scanWal(wal);
  const bytes = readFileSync(wal);
  const at = WAL_HEADER_BYTES + (frame - 1) * (FRAME_HEADER_BYTES + pageBytes) + FRAME_HEADER_BYTES + 77;
  bytes[at] = (bytes[at] as number) ^ 4;
  writeFileSync(wal, bytes);
}

describe("a flipped bit in the newest segment", () => {
  test("before acknowledged writes is refused by file and frame, and nothing is changed", async () => {
    const wal = walOf(newestSegment(directory));
    flip(wal, framesBefore + 1);
    const before = readFileSync(wal);
    const error = { code: "DAMAGED", file: wal, place: `frame ${framesBefore + 1}, or one of the same commit` };
    await expect(open()).rejects.toMatchObject({ detail: error });
    expect(readFileSync(wal).equals(before)).toBe(true);
  });

  test.each([
    ["another case", 0x20],
    ["another letter", 1],
  ])(
    "in a table's name, which has %s then, is refused with or without a witness, and nothing is removed",
    async (_, bit) => {
      const segment = newestSegment(directory);
      const file = join(directory, segment);
      const bytes = readFileSync(file);
      // Where the page was split, the first part of it has kept a copy.
      const at = bytes.lastIndexOf("tablestorestore") + "tables".length;
      bytes[at] = (bytes[at] as number) ^ bit;
      writeFileSync(file, bytes);
      await expect(open()).rejects.toMatchObject({ detail: { code: "DAMAGED", file } });
      rmSync(join(directory, WITNESS_FILE));
      await expect(open()).rejects.toMatchObject({ detail: { code: "DAMAGED", file } });
      expect(readFileSync(file).equals(bytes)).toBe(true);
    },
  );

  test("makes an amnesiac of a server that may become one; the damaged file stays unchanged, and the log continues", async () => {
    const damaged = newestSegment(directory);
    flip(walOf(damaged), framesBefore + 1);
    const before = readFileSync(walOf(damaged));
    let tail = Z(0, 0);
    {
      await using store = await open({ allowAmnesia: true });
      ({ zxid: tail } = store.log.durable.tail);
      expect(store.log.durable.amnesiac).toBe(true);
      expect(newestSegment(directory)).not.toBe(damaged);
      promised(store.log).append(batchOf([Z(2, 1)]));
      await promised(store.log).setConfigs({});
    }
    expect(readFileSync(walOf(damaged)).equals(before)).toBe(true);
    await using store = await open();
    expect(store.log.durable).toMatchObject({ amnesiac: true, tail: { zxid: Z(2, 1) } });
    const held = zxidsOf((await promised(store.log).read(Z(0, 0), 1 << 24)).bytes);
    expect(held).toEqual([...range(1, tail - Z(1, 0)), Z(2, 1)]);
  });

  test("in the last acknowledged write looks as one that a power cut tore, and the witness distinguishes them", async () => {
    const wal = walOf(newestSegment(directory));
    flip(wal, scanWal(wal).frameCount);
    const before = readFileSync(wal);
    await expect(open()).rejects.toMatchObject({ code: "LOG_SHORTENED" });
    expect(readFileSync(wal).equals(before)).toBe(true);
    rmSync(join(directory, "witness"));
    await using store = await open();
    expect(store.log.durable.amnesiac).toBe(false);
    expect(scanWal(wal).tail).toBe("whole");
  });
});

describe("a sealed segment", () => {
  test.each([0.2, 0.9])(
    "with a flipped bit at %f of it is named when it is read, and never shows less",
    async (share) => {
      const sealed = sealedSegment();
      const { frameCount } = scanWal(walOf(sealed));
      flip(walOf(sealed), Math.round(frameCount * share));
      const reports = new RecordingHandler();
      await using store = await open({ handler: reports });
      const readAll = async (): Promise<void> => {
        for (let at = Z(0, 0); ; ) {
          const run = await promised(store.log).read(at, 1000);
          if (run.count === 0) return;
          at = run.last.zxid;
        }
      };
      await expect(readAll()).rejects.toMatchObject({ code: "damaged" });
      expect(reports.warnings).toContainEqual(expect.stringContaining(join(directory, sealed)));
      const { after } = parseSegmentName(newestSegment(directory)) as { after: ReturnType<typeof Z> };
      const found: unknown[] = [];
      store.log.chainAt(Z(1, after - Z(1, 0) - 1), (chain) => found.push(chain));
      expect(await promised(store.log).chainAt(after)).toBeDefined();
      expect(found).toEqual([]);
      expect(() => store.replay(store.state.applied.applied, () => {})).toThrow(/is damaged/);
    },
  );

  test("that is missing is refused by name", async () => {
    const sealed = sealedSegment();
    rmSync(join(directory, sealed));
    await expect(open()).rejects.toMatchObject({ detail: { code: "DAMAGED", file: join(directory, sealed) } });
  });

  test("without its WAL is named when it is read", async () => {
    rmSync(walOf(sealedSegment()));
    await using store = await open();
    await expect(promised(store.log).read(Z(0, 0), 1)).rejects.toMatchObject({ code: "damaged" });
  });
});
