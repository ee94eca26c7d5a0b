import { once } from "node:events";
import { copyFileSync, cpSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import { counterOf } from "@zooid/model";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { CHECKPOINTS_FULL_FILE } from "../disk/test-break.ts";
import { ReaderLeases } from "../segments/reader-leases.ts";
import { openStore } from "../sqlite.ts";
import { RecordingHandler } from "../testing/append-batches.ts";
import { promised } from "../testing/promised-log.ts";
import { settled } from "../testing/state-history.ts";
import { loaded, Oracle } from "../testing/state-oracle.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { startWorker } from "../threads/start-worker.ts";
import type { RebuildStep, StateCommand, StateReport, StateThreadData } from "./state-messages.ts";
import type { CheckpointMark } from "./state-store.ts";

const NO_LAG = { checkpointBytes: 2 ** 40, checkpointMs: 2 ** 31 - 1 };
const MARKED = 10;

/**
 * The log has 40 transactions, and marks at the tenth of each ten, which no state file has yet.
 */
let original: TemporaryDirectory;
let place: TemporaryDirectory;
let directory: string;
let stateFile: string;
let marks: readonly StateCommand[];
let markBytes: readonly number[];
beforeAll(async () => {
  original = new TemporaryDirectory();
  await using store = await openStore({
    directory: join(original.path, "data"),
    sid: 1,
    takeEpoch: true,
    handler: new RecordingHandler(),
    ...NO_LAG,
  });
  expect(store.log.durable.stateFile).toBe("state-1.db");
  const oracle = new Oracle(1, loaded(store));
  const found: CheckpointMark[] = [];
  for (let i = 0; i < 4; i++) {
    for (let step = 0; step < MARKED; step++) oracle.step();
    const { bytes, end } = oracle.encoder.take();
    promised(store.log).append({ generation: 1, bytes, start: 0, end, committed: oracle.zxid });
    await settled(store);
    const { zxid, chain } = store.log.durable.tail;
    found.push({ zxid, chain, digestHigh: 1, digestLow: 2, bytes: end });
  }
  marks = found.map((mark) => ({ kind: "mark", mark }));
  markBytes = found.map(({ bytes }) => bytes);
});
afterAll(() => original[Symbol.dispose]());
beforeEach(() => {
  place = new TemporaryDirectory();
  directory = join(place.path, "data");
  stateFile = join(directory, "state-1.db");
  cpSync(join(original.path, "data"), directory, { recursive: true });
});
afterEach(() => place[Symbol.dispose]());

/** A state thread that is asked by its port alone. */
class Asked implements AsyncDisposable {
  readonly #port: MessagePort;
  readonly #worker: Worker;
  readonly #exit: Promise<unknown>;
  readonly #reports: string[] = [];
  #reported = Promise.withResolvers<void>();

  constructor(options: Partial<StateThreadData> = {}) {
    const { port1, port2 } = new MessageChannel();
    const leases = new ReaderLeases();
    leases.newest = 1;
    const data: StateThreadData = {
      stateFile,
      logDirectory: directory,
      leases: leases.memory,
      port: port2,
      testBreak: undefined,
      decoderModule: "@zooid/wire/txn",
      ...NO_LAG,
      ...options,
    };
    this.#port = port1.on("message", (report: StateReport) => {
      this.#reports.push(textOf(report));
      this.#reported.resolve();
      this.#reported = Promise.withResolvers();
    });
    this.#worker = startWorker({ name: "state/state-thread", data, transfer: [port2], heapMib: 48 });
    this.#exit = once(this.#worker, "exit");
  }

  /** The reports on commands, and on those before them. */
  async after(...commands: readonly (StateCommand | undefined)[]): Promise<readonly string[]> {
    // The last one changes nothing here, and is answered at once.
    this.send(...commands, rebuild({ kind: "abandon" }));
    return (await this.until("rebuilt")).slice(0, -1);
  }

  send(...commands: readonly (StateCommand | undefined)[]): void {
    for (const command of commands) if (command !== undefined) this.#port.postMessage(command);
  }

  async until(report: string): Promise<readonly string[]> {
    while (!this.#reports.includes(report)) await this.#reported.promise;
    return this.#reports.splice(0, this.#reports.indexOf(report) + 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.send({ kind: "close" });
    expect(await this.#exit).toEqual([0]);
    this.#port.close();
  }
}

function textOf(report: StateReport): string {
  switch (report.kind) {
    case "checkpointed":
      return `checkpointed ${counterOf(report.checkpoint.meta.applied.zxid)}`;
    case "flushed":
      return `flushed ${report.id}`;
    case "room-changed":
      return report.missing === undefined ? "room" : "no room";
    default:
      return report.kind;
  }
}

const flush = (id: number): StateCommand => ({ kind: "flush", id });
const stand = (isCheckpointed: boolean): StateCommand => ({ kind: "stand-still", isCheckpointed });
const RESUME: StateCommand = { kind: "resume" };
const rebuild = (step: RebuildStep): StateCommand => ({ kind: "rebuild", step });

test("without a lag nothing is checkpointed but what is asked for", async () => {
  await using thread = new Asked();
  expect(await thread.after(flush(1))).toEqual(["flushed 1"]);
  expect(await thread.after(marks[0])).toEqual([]);
  expect(await thread.after(flush(2))).toEqual(["checkpointed 10", "flushed 2"]);
  expect(await thread.after(marks[1], marks[2], flush(3), flush(4))).toEqual([
    "checkpointed 30",
    "flushed 3",
    "flushed 4",
  ]);
  expect(await thread.after(stand(true))).toEqual(["standing"]);
  expect(await thread.after(RESUME)).toEqual([]);
  expect(await thread.after(marks[3], stand(true))).toEqual(["checkpointed 40", "standing"]);
});

test("callers do not wait for what is marked after they asked", async () => {
  await using thread = new Asked();
  expect(await thread.after(marks[0], stand(true), marks[1])).toEqual(["checkpointed 10", "standing"]);
  expect(await thread.after(RESUME)).toEqual([]);
  expect(await thread.after(flush(1), marks[2])).toEqual(["checkpointed 20", "flushed 1"]);
  expect(await thread.after(stand(false), flush(2))).toEqual(["standing"]);
  expect(await thread.after(RESUME, marks[3])).toEqual(["checkpointed 30", "flushed 2"]);
  expect(await thread.after(flush(3))).toEqual(["checkpointed 40", "flushed 3"]);
});

test("a file that stands still is not changed, and a flush is answered once it may be", async () => {
  await using thread = new Asked();
  expect(await thread.after(marks[0], stand(false))).toEqual(["standing"]);
  expect(await thread.after(flush(1), marks[1], flush(2))).toEqual([]);
  expect(await thread.after(RESUME)).toEqual(["checkpointed 20", "flushed 1", "flushed 2"]);
  expect(await thread.after(stand(true), flush(3))).toEqual(["standing"]);
  expect(await thread.after(RESUME)).toEqual(["flushed 3"]);
  expect(await thread.after(stand(false), marks[2], RESUME)).toEqual(["standing"]);
  expect(await thread.after(stand(false), flush(4))).toEqual(["standing"]);
  expect(await thread.after(marks[3])).toEqual([]);
  expect(await thread.after(RESUME)).toEqual(["checkpointed 40", "flushed 4"]);
});

test("a lag is checkpointed at once, of a file that stands still when it may be changed", async () => {
  await using thread = new Asked({ checkpointBytes: 1 });
  expect(await thread.after(marks[0])).toEqual(["checkpointed 10"]);
  expect(await thread.after(stand(true), marks[1])).toEqual(["standing"]);
  expect(await thread.after(marks[2])).toEqual([]);
  expect(await thread.after(RESUME)).toEqual(["checkpointed 30"]);
  expect(await thread.after(marks[3])).toEqual(["checkpointed 40"]);
});

test("a lag below the bytes that begin a checkpoint waits for more", async () => {
  const [first = 0, second = 0] = markBytes;
  await using thread = new Asked({ checkpointBytes: first + second });
  expect(await thread.after(marks[0])).toEqual([]);
  expect(await thread.after(marks[1])).toEqual(["checkpointed 20"]);
  expect(await thread.after(marks[2])).toEqual([]);
  expect(await thread.after(flush(1))).toEqual(["checkpointed 30", "flushed 1"]);
});

test("a checkpoint has no more bytes of the log than it may, but one mark at least", async () => {
  await using thread = new Asked();
  const sized = marks.map((command, i): StateCommand => {
    const bytes = [200, 50, 7, 300][i] ?? 0;
    return command.kind === "mark" ? { ...command, mark: { ...command.mark, bytes: bytes * 2 ** 20 } } : command;
  });
  expect(await thread.after(...sized, flush(1))).toEqual([
    "checkpointed 20",
    "checkpointed 30",
    "checkpointed 40",
    "flushed 1",
  ]);
});

test("the lag of another file begins with what is marked for it", async () => {
  const other = join(directory, "other.db");
  copyFileSync(stateFile, other);
  const [first = 0, second = 0] = markBytes;
  await using thread = new Asked({ checkpointBytes: first + second });
  expect(await thread.after(marks[0], { kind: "adopt", stateFile: other })).toEqual(["adopted"]);
  expect(await thread.after(marks[0])).toEqual([]);
  expect(await thread.after(marks[1])).toEqual(["checkpointed 20"]);
});

test("after a time every lag is checkpointed, but not while the file stands still", async () => {
  await using thread = new Asked({ checkpointMs: 10 });
  thread.send(marks[0]);
  expect(await thread.until("checkpointed 10")).toEqual(["checkpointed 10"]);
  thread.send(marks[1], stand(false));
  const before = await thread.until("standing");
  const found: string[] = [];
  for (const startMs = performance.now(); performance.now() < startMs + 30; ) found.push(...(await thread.after()));
  expect(found).toEqual([]);
  thread.send(RESUME);
  if (before.length === 1) await thread.until("checkpointed 20");
});

test("another file has none of the marks of the one before, and none of its lack of room", async () => {
  const others = ["other-1.db", "other-2.db", "other-3.db"].map((name) => join(directory, name));
  for (const other of others) copyFileSync(stateFile, other);
  const [adopt1, adopt2, adopt3] = others.map((other) => ({ kind: "adopt", stateFile: other }) as const);
  const fullFile = join(directory, CHECKPOINTS_FULL_FILE);
  await using thread = new Asked({ testBreak: "full-by-files" });
  expect(await thread.after(marks[0], flush(1))).toEqual(["checkpointed 10", "flushed 1"]);
  expect(await thread.after(marks[1], adopt1)).toEqual(["adopted"]);
  expect([stateFile, ...others].map((file) => existsSync(file))).toEqual([false, true, true, true]);
  expect(await thread.after(flush(2))).toEqual(["flushed 2"]);
  expect(await thread.after(marks[0], stand(false), flush(3), adopt2, flush(4))).toEqual(["standing", "adopted"]);
  expect(await thread.after(RESUME)).toEqual(["flushed 3", "flushed 4"]);
  writeFileSync(fullFile, "");
  expect(await thread.after(marks[0], flush(5))).toEqual(["no room"]);
  expect(await thread.after(adopt3)).toEqual(["room", "flushed 5", "adopted"]);
  rmSync(fullFile);
  expect(await thread.after(marks[0], marks[1], flush(6))).toEqual(["checkpointed 20", "flushed 6"]);
});

test("without room a flush waits and a file stands where it is, and both have an end once there is room", async () => {
  const fullFile = join(directory, CHECKPOINTS_FULL_FILE);
  await using thread = new Asked({ testBreak: "full-by-files" });
  writeFileSync(fullFile, "");
  expect(await thread.after(marks[0], flush(1))).toEqual(["no room"]);
  expect(await thread.after(stand(true), marks[1])).toEqual(["standing"]);
  expect(await thread.after(RESUME)).toEqual([]);
  rmSync(fullFile);
  expect(await thread.after(flush(2))).toEqual([
    "checkpointed 10",
    "checkpointed 20",
    "room",
    "flushed 1",
    "flushed 2",
  ]);
  expect(await thread.after(marks[2], marks[3], flush(3))).toEqual(["checkpointed 40", "flushed 3"]);
});

test("a step of a rebuild is refused before it begins, and after it was abandoned or another file adopted", async () => {
  const other = join(directory, "other.db");
  copyFileSync(stateFile, other);
  const slice = rebuild({ kind: "slice", slice: { acls: [], sessions: [], rows: [] } });
  await using thread = new Asked();
  expect(await thread.after(stand(false), slice)).toEqual(["standing", "not-rebuilt"]);
  for (const end of [rebuild({ kind: "abandon" }), { kind: "adopt", stateFile: other } as const]) {
    thread.send(rebuild({ kind: "begin" }));
    expect(await thread.until("rebuilt")).toEqual(["rebuilt"]);
    thread.send(slice);
    expect(await thread.until("rebuilt")).toEqual(["rebuilt"]);
    thread.send(end, slice);
    expect(await thread.until("not-rebuilt")).toEqual([end.kind === "adopt" ? "adopted" : "rebuilt", "not-rebuilt"]);
    expect(readdirSync(directory).filter((name) => name.endsWith(".new"))).toEqual([]);
  }
  expect(await thread.after(marks[0], RESUME, flush(1))).toEqual(["checkpointed 10", "flushed 1"]);
});
