import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { type AnyCall, Call } from "./call.ts";
import { GET_DATA, SET_DATA } from "./operation.ts";
import { WaitingCalls } from "./waiting-calls.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const ignore = () => {};

function read(path: string, isOwn = false): AnyCall {
  return new Call({ operation: GET_DATA, path, shownPath: path, body: undefined, isOwn }, ignore, ignore) as AnyCall;
}

function write(bytes: number): AnyCall {
  const body = { data: new Uint8Array(bytes), version: -1 };
  return new Call({ operation: SET_DATA, path: "/a", shownPath: "/a", body }, ignore, ignore) as AnyCall;
}

const paths = (waiting: WaitingCalls) => [...waiting].map(({ path }) => path);

test("calls come out first in, first out", () => {
  const waiting = new WaitingCalls({ countMax: 10, bytesMax: 10_000 });
  for (const path of ["/1", "/2", "/3"]) waiting.push(read(path));
  waiting.unshift([read("/a"), read("/b")]);
  expect(paths(waiting)).toEqual(["/a", "/b", "/1", "/2", "/3"]);
  expect([waiting.shift()?.path, waiting.shift()?.path, waiting.count]).toEqual(["/a", "/b", 3]);
  expect(waiting.drain().map(({ path }) => path)).toEqual(["/1", "/2", "/3"]);
  expect([waiting.count, waiting.bytes, waiting.shift()]).toEqual([0, 0, undefined]);
});

test("cancelled calls free their place and their bytes", () => {
  const waiting = new WaitingCalls({ countMax: 2, bytesMax: 10_000 });
  const calls = ["/1", "/2", "/3"].map((path) => read(path));
  const [first, second, third] = calls as [AnyCall, AnyCall, AnyCall];
  waiting.push(first);
  waiting.push(second);
  expect(waiting.push(third)).toBe(false);
  waiting.remove(first);
  waiting.remove(first);
  expect(waiting.push(third)).toBe(true);
  expect(paths(waiting)).toEqual(["/2", "/3"]);
  expect(first.isWaiting).toBe(false);
  waiting.remove(second);
  expect([waiting.shift()?.path, waiting.shift()]).toEqual(["/3", undefined]);
});

test("the bytes of waiting calls are bounded too, except for the client's own", () => {
  const waiting = new WaitingCalls({ countMax: 10, bytesMax: 1_000 });
  expect([waiting.push(write(600)), waiting.push(write(600)), waiting.push(read("/a", true))]).toEqual([
    true,
    false,
    true,
  ]);
});

test("a hundred thousand cancelled calls leave no entries behind, nor memory", async () => {
  const early: WeakRef<AnyCall>[] = [];
  const waiting = new WaitingCalls({ countMax: 10, bytesMax: 10_000 });
  waiting.push(read("/first"));
  for (let i = 0; i < 100_000; i++) {
    const call = read("/x");
    waiting.push(call);
    waiting.remove(call);
    if (i < 100) early.push(new WeakRef(call));
  }
  expect(paths(waiting)).toEqual(["/first"]);
  // What was referred to weakly is kept to the end of a turn.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(early.filter((call) => call.deref() !== undefined)).toEqual([]);
});
