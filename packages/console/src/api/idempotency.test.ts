import { expect, test } from "vitest";
import { IdempotentAnswers, type KeptAnswer } from "./idempotency.ts";

const KEPT_MS = 600_000;
const KEPT_MAX = 1_000;
const OK: KeptAnswer = { status: 200, headers: {}, body: "ok" };

interface Ask {
  readonly answer: Promise<unknown>;
  readonly end: (outcome: KeptAnswer | Error) => Promise<void>;
  readonly hasRun: boolean;
}

function stage() {
  const clock = { nowMs: 0 };
  const answers = new IdempotentAnswers(() => clock.nowMs);
  const ask = (key: string, request = "r"): Ask => {
    const { promise, resolve, reject } = Promise.withResolvers<KeptAnswer>();
    let hasRun = false;
    const answer = answers
      .once({ key, request }, () => {
        hasRun = true;
        return promise;
      })
      .catch((error: unknown) => error);
    const end = async (outcome: KeptAnswer | Error): Promise<void> => {
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
      await answer;
    };
    return { answer, end, hasRun };
  };
  return { clock, ask };
}

test.each<readonly [string, KeptAnswer | Error, boolean]>([
  ["an answer", OK, false],
  ["a refusal", { ...OK, status: 403 }, false],
  ["the longest answer that is kept", { ...OK, body: "x".repeat(64 * 1024) }, false],
  ["a refusal for want of room", { ...OK, status: 429 }, true],
  ["a failure", { ...OK, status: 500 }, true],
  ["an error", new Error("lost"), true],
])(
  "a request that is repeated after %s waits for it, and is carried out again unless the answer was kept",
  async (_name, outcome, isRunAgain) => {
    const { clock, ask } = stage();
    const first = ask("k");
    const meanwhile = ask("k");
    clock.nowMs = 10 * KEPT_MS;
    const later = ask("k");
    expect([first.hasRun, meanwhile.hasRun, later.hasRun]).toEqual([true, false, false]);
    await first.end(outcome);
    for (const { answer } of [first, meanwhile, later]) expect(await answer).toBe(outcome);

    clock.nowMs += KEPT_MS - 1;
    const again = ask("k");
    expect(again.hasRun).toBe(isRunAgain);
    expect(ask("other").hasRun).toBe(true);
    if (isRunAgain) await again.end(OK);
    else expect(await again.answer).toBe(outcome);
  },
);

test("an answer is forgotten ten minutes after it was given, and the next one is kept as long", async () => {
  const { clock, ask } = stage();
  await ask("k").end(OK);
  for (let round = 0; round < 3; round++) {
    clock.nowMs += KEPT_MS;
    const again = ask("k");
    expect(again.hasRun).toBe(true);
    await again.end(OK);
    clock.nowMs += KEPT_MS - 1;
    expect(ask("k").hasRun).toBe(false);
    clock.nowMs++;
  }
});

test("beyond the limit the oldest answer is forgotten, and no request that runs", async () => {
  const { clock, ask } = stage();
  const running = ask("running");
  for (const key of ["old", "renewed"]) await ask(key).end(OK);
  clock.nowMs = KEPT_MS;
  for (const key of ["between", "renewed"]) await ask(key).end(OK);
  for (let i = 0; i < KEPT_MAX - 2; i++) await ask(`${i}`).end(OK);
  expect([ask("running").hasRun, ask("renewed").hasRun]).toEqual([false, false]);
  const old = ask("old");
  expect(old.hasRun).toBe(true);
  await running.end(OK);
  await old.end(OK);
});

test.each([
  [201, "The change was carried out before"],
  [409, "The change was refused before"],
])("of a longer answer the status %i is kept, and the change is not repeated", async (status, title) => {
  const { ask } = stage();
  const long: KeptAnswer = { status, headers: { ETag: '"1"' }, body: "x".repeat(64 * 1024 + 1) };
  const [first, meanwhile] = [ask("k"), ask("k")];
  await first.end(long);
  for (const { answer } of [first, meanwhile]) expect(await answer).toBe(long);
  const again = ask("k");
  expect(again.hasRun).toBe(false);
  const { body, ...rest } = (await again.answer) as KeptAnswer;
  expect(rest).toEqual({ status, headers: { ETag: '"1"' } });
  expect(JSON.parse(body)).toMatchObject({ code: "ANSWER_NOT_KEPT", status, title });
});

test("another request with the same key is refused, while the first runs and after it", async () => {
  const { clock, ask } = stage();
  const first = ask("k", "one");
  const refused = { problem: { status: 422, code: "IDEMPOTENCY_KEY_REUSED", outcome: "not-sent" } };
  expect(await ask("k", "other").answer).toMatchObject(refused);
  await first.end(OK);
  expect(await ask("k", "other").answer).toMatchObject(refused);
  expect(await ask("k", "one").answer).toBe(OK);
  clock.nowMs = KEPT_MS;
  const later = ask("k", "other");
  expect(later.hasRun).toBe(true);
  await later.end(OK);
});
