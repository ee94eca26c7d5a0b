import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ReaderLeases } from "../segments/reader-leases.ts";
import { openStore, type Store } from "../sqlite.ts";
import { RecordingHandler } from "../testing/append-batches.ts";
import { flipBitBefore } from "../testing/flip-bit.ts";
import { createNodes } from "../testing/state-history.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { threadsOf } from "../testing/threads-of.ts";
import { Scrub, type ScrubDamage } from "./scrub.ts";

test("a closed store has ended all of its threads, and the round of the scrub that was asked for", async () => {
  using place = new TemporaryDirectory();
  const handler = new RecordingHandler();
  const scrub = { bytesPerSecond: 1, firstMs: 2 ** 31 - 1, damaged: () => {}, healed: () => {} };
  const [round, threads] = await threadsOf(async () => {
    await using store = await openStore({
      directory: join(place.path, "data"),
      sid: 1,
      handler,
      takeEpoch: true,
      scrub,
    });
    await createNodes(store, 1, 2);
    await store.state.flush();
    return { ended: store.scrub?.round() };
  });
  expect(threads.map(({ threadId }) => threadId)).toEqual([-1, -1, -1]);
  expect(await round.ended).toMatchObject({ damaged: [] });
});

describe("what becomes of damage", () => {
  let place: TemporaryDirectory;
  let store: Store;
  let directory: string;
  let stateFile: string;
  beforeAll(async () => {
    place = new TemporaryDirectory();
    directory = join(place.path, "data");
    const options = { directory, sid: 1, handler: new RecordingHandler(), takeEpoch: true, segmentBytes: 64 * 1024 };
    store = await openStore(options);
    for (let batch = 0; batch < 20; batch++) await createNodes(store, batch * 20 + 1, (batch + 1) * 20, 300);
    await store.state.flush();
    stateFile = join(directory, store.log.durable.stateFile);
  });
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
    place[Symbol.dispose]();
  });

  interface Case {
    readonly part: ScrubDamage["part"];
    /** The answers of the store, in order; the last one is repeated. */
    readonly retire?: readonly ("retired" | "needed")[];
    readonly rewrite?: boolean;
    /** Later rounds ask again whether the segment can be retired. */
    readonly asked: readonly string[];
    readonly effects: readonly ScrubDamage["effect"][];
  }
  const cases: readonly Case[] = [
    { part: "segment", retire: ["retired"], asked: ["retire"], effects: ["retired"] },
    {
      part: "segment",
      retire: ["needed", "retired"],
      rewrite: true,
      asked: ["retire", "rewrite", "retire"],
      effects: ["retired"],
    },
    { part: "segment", retire: ["needed"], rewrite: false, asked: ["retire", "rewrite"], effects: ["needed"] },
    { part: "state", rewrite: false, asked: ["rewrite"], effects: ["needed"] },
    // The file has the same damage after the rewrite.
    { part: "state", rewrite: true, asked: ["rewrite"], effects: ["rewritten", "needed"] },
  ];
  test.each(cases)("$part: $asked, $effects", async ({ part, retire = [], rewrite = false, asked, effects }) => {
    const [file, before] =
      part === "segment"
        ? [join(directory, wals(directory)[0] ?? ""), 1000]
        : [stateFile, statSync(stateFile).size - 1000];
    const at = flipBitBefore(file, before);
    onTestFinished(() => void flipBitBefore(file, at + 1));

    const leases = new ReaderLeases();
    leases.newest = Number(/^log-(\d+)/.exec(wals(directory).at(-1) ?? "")?.[1]);
    const answers = [...retire];
    const calls: string[] = [];
    const seen: ScrubDamage["effect"][] = [];
    const scrub = new Scrub({
      options: {
        bytesPerSecond: 1024 ** 3,
        firstMs: 2 ** 31 - 1,
        damaged: (damage) => seen.push(damage.effect),
        healed: () => {},
      },
      logDirectory: directory,
      leases: leases.memory,
      stateFile,
      retire: async () => {
        calls.push("retire");
        return (answers.length > 1 ? answers.shift() : answers[0]) ?? "needed";
      },
      rewrite: async () => {
        calls.push("rewrite");
        return rewrite;
      },
    });
    onTestFinished(() => scrub.close());

    // The first one may be two: the thread begins with a round of its own.
    for (let rounds = 0; rounds < 2; rounds++) await scrub.round();
    expect(calls.slice(0, asked.length)).toEqual(asked);
    const again = part === "segment" ? ["retire"] : [];
    expect(calls.slice(asked.length).filter((call) => !again.includes(call))).toEqual([]);
    expect(seen).toEqual(effects);
    expect(scrub.status.damaged.map((damage) => damage.effect)).toEqual(effects.slice(-1));
  });
});

/** Those of the segments, oldest first; the last one is not sealed. */
function wals(directory: string): readonly string[] {
  return readdirSync(directory)
    .filter((name) => /^log-.*-wal$/.test(name))
    .sort();
}
