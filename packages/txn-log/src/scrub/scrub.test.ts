import { join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "../sqlite.ts";
import { RecordingHandler } from "../testing/append-batches.ts";
import { createNodes } from "../testing/state-history.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { threadsOf } from "../testing/threads-of.ts";

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
