import { expect, test } from "vitest";
import { atOnce, linesOf, Slices, type Steps } from "./in-slices.ts";

test("long work lets turns of the event loop pass between its slices, and others wait behind it", async () => {
  const slices = new Slices();
  const order: string[] = [];
  let turns = 0;
  const count = (): void => {
    turns++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  function* work(name: string, turnsMin: number): Steps<string> {
    while (turns < turnsMin) yield;
    order.push(name);
    return name;
  }
  const all = Promise.all([slices.run(work("long", 3)), slices.run(work("short", 0))]);
  expect(await all).toEqual(["long", "short"]);
  clearImmediate(counting);
  expect(order).toEqual(["long", "short"]);
});

test("work that fails lets the next one continue", async () => {
  function* work(fails: boolean): Steps<number> {
    yield;
    if (fails) throw new Error("defect");
    return 7;
  }
  const slices = new Slices();
  const failing = slices.run(work(true));
  const next = slices.run(work(false));
  await expect(failing).rejects.toThrow("defect");
  expect(await next).toBe(7);
  expect(atOnce(work(false))).toBe(7);
});

test.each(["", "a", "a\n", "\n", "a\nb\n\nc"])("the lines of %j are those of split", (text) => {
  expect([...linesOf(text)]).toEqual(text.split("\n"));
});
