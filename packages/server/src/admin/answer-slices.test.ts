import { expect, test } from "vitest";
import { AnswerSlices } from "./answer-slices.ts";

/** Turns are taken by hand, and each piece takes a tenth of a millisecond. */
class Stage {
  readonly #due: (() => void)[] = [];
  nowMs = 0;
  wakeCount = 0;
  readonly slices: AnswerSlices = new AnswerSlices({
    now: () => this.nowMs,
    wake: () => this.wakeCount++,
    later: (callback) => this.#due.push(callback),
  });

  *pieces(count: number, text = "x"): Generator<string, void, undefined> {
    for (let i = 0; i < count; i++) {
      this.nowMs += 0.1;
      yield text;
    }
  }

  /** @returns how long the turn took; undefined when there was nothing to do */
  async turn(): Promise<number | undefined> {
    // What was resolved asks for its next slice.
    await new Promise(setImmediate);
    const startMs = this.nowMs;
    const callback = this.#due.shift();
    callback?.();
    return callback === undefined ? undefined : this.nowMs - startMs;
  }

  async allTurns(): Promise<readonly number[]> {
    const took: number[] = [];
    for (let ms = await this.turn(); ms !== undefined; ms = await this.turn()) took.push(ms);
    return took;
  }
}

test("a long answer is made in slices, each in a turn that clients' requests have too", async () => {
  const stage = new Stage();
  const answer = stage.slices.text(stage.pieces(1000));
  const took = await stage.allTurns();
  expect(await answer).toBe("x".repeat(1000));
  // 32 pieces between two looks at the clock.
  expect(Math.max(...took)).toBeLessThan(2 + 3.3);
  expect(took.length).toBeGreaterThan(20);
  expect(stage.wakeCount).toBe(took.length);
});

test("answers of several addresses share a turn", async () => {
  const stage = new Stage();
  const answers = ["a", "b", "c"].map((address) => stage.slices.answer(address, stage.pieces(200, address)));
  const texts = Promise.all(
    answers.map(async (answer) => {
      let text = "";
      for (let chunk = await answer.next(); chunk !== undefined; chunk = await answer.next()) text += chunk;
      return text;
    }),
  );
  const took = await stage.allTurns();
  expect(Math.max(...took)).toBeLessThan(2 + 3.3);
  expect(await texts).toEqual(["a".repeat(200), "b".repeat(200), "c".repeat(200)]);
});

test("an address has one answer at a time; the next begins when that is over, whether or not it was read", async () => {
  const stage = new Stage();
  const first = stage.slices.answer("10.0.0.1", stage.pieces(1000));
  const second = stage.slices.answer("10.0.0.1", stage.pieces(1, "second"));
  const gone = stage.slices.answer("10.0.0.1", stage.pieces(1, "gone"));
  const other = stage.slices.answer("10.0.0.2", stage.pieces(1, "other"));
  void first.next();
  await stage.allTurns();
  const [waiting, unwanted, free] = [second.next(), gone.next(), other.next()];
  await gone[Symbol.asyncDispose]();
  await stage.allTurns();
  expect(String(await free)).toBe("other");
  await first[Symbol.asyncDispose]();
  await stage.allTurns();
  expect(String(await waiting)).toBe("second");
  expect(await second.next()).toBeUndefined();
  await stage.allTurns();
  expect(await unwanted).toBeUndefined();
  const last = stage.slices.text(stage.pieces(1, "last"));
  await stage.allTurns();
  expect(await last).toBe("last");
});

test("chunks are made when they are asked for, and none is much longer than 64 KiB", async () => {
  const stage = new Stage();
  let made = 0;
  const answer = stage.slices.answer(
    "",
    (function* () {
      for (; made < 1000; made++) yield "y".repeat(1000);
    })(),
  );
  const first = answer.next();
  await stage.allTurns();
  expect((await first)?.length).toBeLessThan(67_000);
  expect(made).toBeLessThan(70);
});

test("an answer that fails says so to its reader, and others continue", async () => {
  const stage = new Stage();
  const failing = stage.slices.text(
    (function* () {
      yield "a";
      throw new Error("defect");
    })(),
  );
  const rejected = expect(failing).rejects.toThrow("defect");
  await stage.allTurns();
  await rejected;
  const next = stage.slices.text(["b"]);
  await stage.allTurns();
  expect(await next).toBe("b");
});
