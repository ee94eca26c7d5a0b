import { fork } from "node:child_process";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RecordingHandler } from "../append-batches.ts";
import { openStore } from "../sqlite.ts";
import { writeDirectoryOfFormat1 } from "../testing/log-of-format-1.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import type { DurableLog } from "../txn-log.ts";

const KILLS = 20;
const ENTRIES = 10_000;
const MODULE = join(import.meta.dirname, "../testing/open-store.ts");

/** Opens a store in another process, and kills it after `killAfterMs`; undefined: never. */
async function openAndKill(directory: string, killAfterMs: number | undefined): Promise<number> {
  const child = fork(MODULE, [directory], { execArgv: ["--conditions=@zooid/source"] });
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  child.on("exit", () => resolve());
  await new Promise((begins) => child.once("message", begins));
  const startMs = performance.now();
  if (killAfterMs !== undefined) {
    await Promise.race([ended, delay(killAfterMs)]);
    child.kill("SIGKILL");
  }
  await ended;
  return performance.now() - startMs;
}

let place: TemporaryDirectory;
let old: DurableLog;
/** How long a whole conversion takes. */
let wholeMs: number;
beforeAll(async () => {
  place = new TemporaryDirectory();
  mkdirSync(join(place.path, "template"));
  old = writeDirectoryOfFormat1(join(place.path, "template"), { floorAt: 0, count: ENTRIES });
  wholeMs = await openAndKill(copied("whole"), undefined);
});
afterAll(() => place[Symbol.dispose]());

function copied(name: string): string {
  cpSync(join(place.path, "template"), join(place.path, name), { recursive: true });
  return join(place.path, name);
}

test.each(Array.from({ length: KILLS }, (_, i) => i))(
  "a conversion that is killed at moment %i loses nothing",
  async (i) => {
    const directory = copied(String(i));
    await openAndKill(directory, (wholeMs * i) / KILLS);
    await using store = await openStore({ directory, sid: 1, handler: new RecordingHandler() });
    const { tail, floor, promise, commitHint } = old;
    expect(store.log.durable).toMatchObject({ tail, floor, promise, commitHint });
    let count = 0;
    expect(store.replay(store.state.applied.applied, () => count++)).toEqual(tail);
    expect(count).toBe(ENTRIES);
  },
);
