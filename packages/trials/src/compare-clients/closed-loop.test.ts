import { expect, test } from "vitest";
import { runLoop } from "./closed-loop.ts";

test("as many requests are under way as the window says, until the last is answered", async () => {
  let underWay = 0;
  let highest = 0;
  const { count } = await runLoop({
    window: 7,
    limit: { requests: 100 },
    ask: (_index, done) => {
      highest = Math.max(highest, ++underWay);
      setImmediate(() => {
        underWay--;
        done(undefined);
      });
    },
  });
  expect([count, highest, underWay]).toEqual([100, 7, 0]);
});

test("every request has its own number", async () => {
  const indexes: number[] = [];
  await runLoop({
    window: 3,
    limit: { requests: 5 },
    ask: (index, done) => {
      indexes.push(index);
      setImmediate(() => done(undefined));
    },
  });
  expect(indexes).toEqual([0, 1, 2, 3, 4]);
});

test("a request that fails ends the measurement", async () => {
  const ask = (index: number, done: (error: unknown) => void): void => {
    setImmediate(() => done(index === 3 ? new Error("refused") : undefined));
  };
  await expect(runLoop({ window: 1, limit: { requests: 10 }, ask })).rejects.toThrow("refused");
});

test("an answer without its data ends the measurement", async () => {
  const ask = (_index: number, done: (error: unknown, bytes: number) => void): void => {
    setImmediate(() => done(undefined, 0));
  };
  await expect(runLoop({ window: 1, limit: { requests: 10 }, ask, dataBytes: 1024 })).rejects.toThrow(
    "1024 were expected",
  );
});
