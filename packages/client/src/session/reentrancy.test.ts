/** Callbacks may do anything: make calls, subscribe, unsubscribe, cancel, close. */
import { getEventListeners } from "node:events";
import { ErrorCode, OpCode } from "@zooid/model";
import type { Subscription } from "rxjs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { retry } from "../calls/retry.ts";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";
import { isZkError } from "../errors.ts";
import type { ClientOptions } from "../options.ts";
import { ProcessNoise } from "../testing/process-noise.ts";
import { answer, event, honestAnswer, REFUSED, type ScriptedLine, ScriptedServer } from "../testing/scripted-server.ts";

let noise: ProcessNoise;
let server: ScriptedServer;
let zk: Client;
let line: ScriptedLine;

beforeEach(async () => {
  noise = new ProcessNoise();
  server = await ScriptedServer.start();
});

afterEach(async () => {
  await zk.close();
  expect(zk.watchCount).toBe(0);
  await expect.poll(() => server.openCount).toBe(0);
  await server[Symbol.asyncDispose]();
  expect(await noise.end()).toEqual([]);
});

async function open(options: ClientOptions = {}): Promise<void> {
  [zk, line] = await Promise.all([connect(server.hosts, { random: () => 0, ...options }), server.session()]);
}

test.each(["connected", "suspended", "lost", "closed"])(
  "close may be called by a listener of the state %s",
  async (kind) => {
    await open();
    line.serve(honestAnswer);
    const kinds: string[] = [];
    zk.state$.subscribe((state) => {
      kinds.push(state.kind);
      if (state.kind === kind) zk.close().catch(() => {});
    });
    const write = zk.set("/a", "").catch((error) => error);
    if (kind === "suspended" || kind === "lost") line.reset();
    if (kind === "lost") await (await server.session(REFUSED)).closed;
    if (kind === "closed") await zk.close();
    await expect.poll(() => kinds.at(-1)).toBe("closed");
    await write;
    expect(kinds.filter((state) => state === "closed")).toHaveLength(1);
    expect(await zk.get("/a").catch((error) => error.code)).toBe("CLIENT_CLOSED");
    const count = server.acceptedCount;
    await new Promise((resolve) => setImmediate(resolve));
    expect(server.acceptedCount, "no attempt after the end").toBe(count);
  },
);

test("a call may be made by a listener of any state", async () => {
  await open();
  line.serve(honestAnswer);
  const codes: Promise<string>[] = [];
  zk.state$.subscribe(() =>
    codes.push(
      zk.get("/a").then(
        () => "OK",
        (error) => error.code,
      ),
    ),
  );
  line.reset();
  line = await server.session();
  line.serve(honestAnswer);
  await zk.connected();
  await zk.get("/b");
  await zk.close();
  expect(await Promise.all(codes)).toEqual(["OK", "OK", "OK", "CLIENT_CLOSED"]);
});

test("a call may be made in an event, and in the value of a stream, and is sent in the same turn", async () => {
  await open();
  line.serve(honestAnswer);
  const got: Promise<unknown>[] = [];
  const events = zk.events$("/a").subscribe(() => got.push(zk.get("/in-event")));
  const values = zk.watchData$("/a").subscribe(() => got.push(zk.get("/in-value")));
  await zk.get("/a");
  line.send(event(3, "/a"));
  await expect.poll(() => got.length).toBe(2);
  await Promise.all(got);
  events.unsubscribe();
  values.unsubscribe();
});

test("close may be called in an event, in a value, and after an answer, and the rest of the chunk is processed", async () => {
  for (const where of ["event", "value", "answer"]) {
    await open();
    const closing: Promise<void>[] = [];
    const close = (): void => {
      closing.push(zk.close());
    };
    if (where === "event") zk.events$("/a").subscribe(close);
    if (where === "value") zk.watchData$("/a").subscribe(close);
    const asked = zk.get("/b");
    if (where === "answer") asked.then(close, close);
    const after = zk.get("/c");
    const requests = await line.requests(where === "answer" ? 2 : 3);
    line.send(...requests.slice(0, -2).map(honestAnswer), event(3, "/a"), ...requests.slice(-2).map(honestAnswer));
    await Promise.all([asked, after]);
    line.serve(honestAnswer);
    await expect.poll(() => closing.length).toBeGreaterThan(0);
    await Promise.all(closing);
    await line.closed;
  }
});

test("a subscriber may unsubscribe and subscribe again within a value", async () => {
  await open();
  line.serve(honestAnswer);
  const received: string[] = [];
  let first: Subscription | undefined;
  const second = zk.watchData$("/a").subscribe(() => {
    received.push("second");
    first?.unsubscribe();
    zk.watchData$("/a").subscribe(() => received.push("third"));
  });
  first = zk.watchData$("/a").subscribe(() => received.push("first"));
  await expect.poll(() => received).toEqual(["second", "third"]);
  second.unsubscribe();
  expect(zk.watchCount).toBe(1);
});

test("a watcher that is removed by another one of the same event arms no watch", async () => {
  await open();
  line.serve(honestAnswer);
  const received: string[] = [];
  let children: Subscription | undefined;
  const all = zk.events$("/a", { mode: "persistent-recursive" }).subscribe(({ type }) => {
    received.push(type);
    children?.unsubscribe();
  });
  children = zk.watchChildren$("/a").subscribe(() => received.push("children"));
  await expect.poll(() => zk.watchCount).toBe(2);
  line.send(event(2, "/a"));
  await expect.poll(() => received).toEqual(["children", "deleted"]);
  await zk.get("/b");
  await zk.get("/b");
  expect(zk.watchCount).toBe(1);
  all.unsubscribe();
});

test("a call may be cancelled in the middle of the chunk that answers it", async () => {
  await open();
  const controller = new AbortController();
  const events = zk.events$("/a").subscribe(() => controller.abort(new Error("enough")));
  line.send(answer(await line.request()));
  const made = zk.create("/made", "", { signal: controller.signal }).catch((error) => error.message);
  const watched = zk.get("/watched", { watch: true, signal: controller.signal }).catch((error) => error.message);
  const kept = zk.get("/kept");
  const requests = await line.requests(3);
  line.send(event(3, "/a"), ...requests.map(honestAnswer));
  expect(await Promise.all([made, watched])).toEqual(["enough", "enough"]);
  await kept;
  const undoing = await line.requests(2);
  expect(undoing.map(({ op, path }) => [op, path])).toEqual([
    [OpCode.DELETE, "/made"],
    [OpCode.REMOVE_WATCHES, "/watched"],
  ]);
  line.send(...undoing.map(honestAnswer));
  line.serve(honestAnswer);
  expect(zk.watchCount).toBe(1);
  events.unsubscribe();
});

test("the handler of a cancelled call may make calls, cancel others and close", async () => {
  await open();
  line.serve(() => undefined);
  const [one, two] = [new AbortController(), new AbortController()];
  const received: string[] = [];
  one.signal.addEventListener("abort", () => {
    two.abort(new Error("two"));
    zk.get("/d").catch((error) => received.push(error.code));
    zk.close().catch(() => {});
  });
  const calls = [
    zk.get("/a", { signal: one.signal }),
    zk.get("/b", { signal: two.signal }),
    zk.get("/c", { signal: AbortSignal.any([one.signal, two.signal]) }),
  ].map((call) => call.catch((error) => received.push(error.message)));
  one.abort(new Error("one"));
  await Promise.all(calls);
  line.reset();
  await expect.poll(() => received.toSorted()).toEqual(["CLIENT_CLOSED", "one", "one", "two"]);
});

test("thousands of calls on one signal leave no listener, no warning and no call", async () => {
  await open();
  line.serve(honestAnswer);
  const controller = new AbortController();
  const signal = AbortSignal.any([controller.signal, new AbortController().signal]);
  await Promise.all(Array.from({ length: 5_000 }, () => zk.get("/a", { signal })));
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
  const given = Array.from({ length: 5_000 }, () => zk.get("/a", { signal }).catch((error) => error.message));
  controller.abort(new Error("all of them"));
  expect(new Set(await Promise.all(given))).toEqual(new Set(["all of them"]));
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("a stream that is subscribed and unsubscribed while the queue is full takes no place in it", async () => {
  await open({ inFlightMax: 1, waitingMax: 10 });
  const busy = zk.get("/busy");
  for (let i = 0; i < 100; i++) {
    zk.events$("/a").subscribe().unsubscribe();
    zk.watchData$(`/${i}`).subscribe().unsubscribe();
  }
  const waiting = Array.from({ length: 10 }, (_, i) => zk.get(`/w${i}`));
  line.serve(honestAnswer);
  await Promise.all([busy, ...waiting]);
});

test("an invalid policy, value or limit only fails its own call", async () => {
  const broken = new Error("the policy is broken");
  await open({ inFlightMax: 2 });
  const busy = [zk.get("/busy"), zk.get("/busy")];
  const policy = zk.get("/a", {
    retry: () => {
      throw broken;
    },
  });
  const nan = zk.get("/a", { retry: () => Number.NaN });
  // Values that the types forbid.
  const acl = [{ perms: 31, scheme: undefined, id: "" }] as unknown as [];
  const value = zk.create("/a", "", { acl });
  const limit = zk.get("/a", { timeoutMs: Number.NaN });
  const sane = zk.create("/sane", "", { acl: undefined } as unknown as object);
  const settled = Promise.allSettled([policy, nan, value, limit, sane]);
  line.serve((request) => (request.path === "/a" ? answer(request, { code: -127 }) : honestAnswer(request)));
  await Promise.all(busy);
  const [ofPolicy, ofNan, ofValue, ofLimit, ofSane] = await settled;
  expect(ofPolicy).toMatchObject({ reason: broken });
  expect(ofNan?.status === "rejected" && isZkError(ofNan.reason, "THROTTLED_OP")).toBe(true);
  expect(ofValue?.status === "rejected" && isZkError(ofValue.reason, "INVALID_ACL")).toBe(true);
  expect(ofLimit).toMatchObject({ reason: expect.any(RangeError) });
  expect(ofSane).toMatchObject({ status: "fulfilled" });
  await zk.get("/b");
});

test("a call that waits for a retry is rejected when the client ends", async () => {
  await open({ retry: retry.forever(60_000) });
  const reading = zk.get("/a");
  line.send(answer(await line.request(), { code: ErrorCode.THROTTLED_OP }));
  line.serve(honestAnswer);
  // The call behind it is answered: so it waits by now.
  await zk.get("/b");
  await zk.close();
  await expect(reading).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
});
