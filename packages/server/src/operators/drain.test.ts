import { type ConnectionRef, OpCode } from "@zooid/model";
import { RawClient, read } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ClientConnection } from "../clients/client-connection.ts";
import { ask } from "../testing/http.ts";
import { startTestServer } from "../testing/server.ts";
import { Drain, type DrainedDriver } from "./drain.ts";

/** A connection that a drain may close. */
class Connection implements Pick<ClientConnection, "isClosing" | "ref" | "close" | "flush"> {
  readonly ref: ConnectionRef;
  isClosing = false;
  isFlushed = false;
  unansweredCount = 0;

  constructor(ref: ConnectionRef) {
    this.ref = ref;
  }

  close(): void {
    this.isClosing = true;
  }

  flush(): void {
    this.isFlushed = this.isClosing;
  }
}

class Stand {
  readonly connections: Connection[] = [];
  readonly said: string[] = [];
  readonly transfers: object[] = [];
  isLeading = false;
  mayLead = false;
  readonly driver: DrainedDriver = {
    isDraining: false,
    connections: () => this.connections,
    replica: Object.defineProperty(
      {
        isLeading: false,
        unansweredOf: (ref: number) => this.connections.find((each) => each.ref === ref)?.unansweredCount ?? 0,
        zab: { learners: () => [{ mayLead: this.mayLead }] },
      },
      "isLeading",
      { get: () => this.isLeading },
    ),
    transferLeadership: (options) => {
      this.transfers.push(options);
      return Promise.resolve(undefined);
    },
  };
  readonly drain = new Drain({ driver: () => this.driver, info: (text) => this.said.push(text) });

  constructor(count: number) {
    this.connect(count);
  }

  connect(count: number): void {
    for (let i = 0; i < count; i++) this.connections.push(new Connection(this.connections.length as ConnectionRef));
  }

  get openCount(): number {
    return this.connections.filter(({ isClosing }) => !isClosing).length;
  }
}

describe("a drain", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("closes connections at an even pace, the last at its time limit, and says so once", () => {
    const stand = new Stand(10);
    stand.drain.begin(1000);
    const counts = Array.from({ length: 10 }, () => {
      vi.advanceTimersByTime(100);
      return stand.openCount;
    });
    expect(counts).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    vi.advanceTimersByTime(10_000);
    expect(stand.connections.every(({ isFlushed }) => isFlushed)).toBe(true);
    expect(stand.said).toEqual([
      "draining: 10 connections will be closed within 1000 ms",
      "drained: no client is connected to this server",
    ]);
    expect(stand.drain.progress()).toEqual({ isDraining: true, connections: 0, isLeading: false });
  });

  test.each([0, 1, 49, 3_600_000])("of very many connections takes %j ms", (durationMs) => {
    const stand = new Stand(1000);
    stand.drain.begin(durationMs);
    vi.advanceTimersByTime(Math.max(0, durationMs - 1));
    expect(stand.openCount > 0).toBe(durationMs > 0);
    vi.advanceTimersByTime(51);
    expect(stand.openCount).toBe(0);
  });

  test("closes the connections that are left at the pace of the beginning where clients leave", () => {
    const stand = new Stand(10);
    stand.drain.begin(1000);
    for (const connection of stand.connections.slice(5)) connection.close();
    vi.advanceTimersByTime(500);
    expect(stand.openCount).toBe(5);
    vi.advanceTimersByTime(500);
    expect(stand.openCount).toBe(0);
  });

  test("waits for the answers to a connection's writes, at most two seconds beyond its time limit", () => {
    const stand = new Stand(2);
    const [one, other] = stand.connections;
    if (one === undefined || other === undefined) throw new Error("two connections expected");
    one.unansweredCount = 1;
    other.unansweredCount = 1;
    stand.drain.begin(0);
    vi.advanceTimersByTime(1000);
    expect(stand.openCount).toBe(2);
    one.unansweredCount = 0;
    vi.advanceTimersByTime(100);
    expect([one.isClosing, other.isClosing]).toEqual([true, false]);
    vi.advanceTimersByTime(800);
    expect(other.isClosing).toBe(false);
    vi.advanceTimersByTime(200);
    expect(other.isClosing).toBe(true);
    expect(stand.said.at(-1)).toBe("drained: no client is connected to this server");
  });

  test("that ends early leaves the connections that are open, and no timer", () => {
    const stand = new Stand(10);
    stand.drain.begin(1000);
    vi.advanceTimersByTime(500);
    const left = 5;
    expect(stand.openCount).toBe(left);
    stand.drain.end();
    expect(vi.getTimerCount()).toBe(0);
    expect([stand.drain.isOn, stand.driver.isDraining]).toEqual([false, false]);
    expect(stand.drain.progress()).toEqual({ isDraining: false, connections: left, isLeading: false });
    vi.advanceTimersByTime(10_000);
    expect(stand.openCount).toBe(left);
    stand.drain.end();
    expect(stand.said).toEqual([
      "draining: 10 connections will be closed within 1000 ms",
      "draining has ended: clients may connect again",
    ]);
  });

  test("that begins again counts its time from there, takes connections that came since, and has one timer", () => {
    const stand = new Stand(4);
    stand.drain.begin(100);
    stand.drain.end();
    stand.connect(4);
    stand.drain.begin(3_600_000);
    stand.drain.begin(1000);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(400);
    expect(stand.openCount).toBe(5);
    vi.advanceTimersByTime(600);
    expect(stand.openCount).toBe(0);
    expect(stand.said.at(-1)).toBe("drained: no client is connected to this server");
  });

  test("of a server that stops leaves no timer, and clients are still refused", () => {
    const stand = new Stand(3);
    stand.drain.begin(1000);
    stand.drain.stop();
    vi.advanceTimersByTime(10_000);
    expect([vi.getTimerCount(), stand.driver.isDraining, stand.openCount]).toEqual([0, true, 3]);
  });

  test("hands a leadership over, again every ten seconds until another server leads", () => {
    const stand = new Stand(0);
    stand.isLeading = true;
    stand.drain.begin(0);
    expect(stand.transfers).toEqual([]);
    expect(stand.said.at(-1)).toBe("drained: no client is connected to this server; it leads: no other server can");
    stand.mayLead = true;
    vi.advanceTimersByTime(9_000);
    expect(stand.transfers).toEqual([{ withinMs: 2000, keepServing: true }]);
    vi.advanceTimersByTime(2_000);
    expect(stand.transfers).toHaveLength(2);
    stand.isLeading = false;
    vi.advanceTimersByTime(20_000);
    expect(stand.transfers).toHaveLength(2);
    stand.isLeading = true;
    stand.drain.end();
    vi.advanceTimersByTime(20_000);
    expect(stand.transfers).toHaveLength(2);
  });
});

test("a server that is not drained any more keeps the clients that are left, and takes new ones", async () => {
  await using zk = await startTestServer({ admin: { port: 0 }, superDigest: "super:D/InIHSb7yEEbrWz8b9l71RjZJU=" });
  const post = (command: string): Promise<{ readonly status: number }> =>
    ask(zk.adminPort, `/commands/${command}`, {
      method: "POST",
      headers: { authorization: "digest super:test" },
    });
  const clients = await Promise.all(Array.from({ length: 3 }, () => RawClient.withSession(zk.port)));
  expect((await post("drain?durationMs=3600000")).status).toBe(200);
  await using refused = await RawClient.open(zk.port);
  await expect(refused.handshake()).rejects.toThrow();
  expect((await ask(zk.adminPort, "/readyz")).status).toBe(503);
  expect((await post("undrain")).status).toBe(200);
  expect((await ask(zk.adminPort, "/readyz")).status).toBe(200);
  for (const client of clients) expect((await client.ask(OpCode.EXISTS, read("/"))).code).toBe(0);
  await using client = await RawClient.withSession(zk.port);
  expect((await client.ask(OpCode.EXISTS, read("/"))).code).toBe(0);
  for (const each of clients) await each[Symbol.asyncDispose]();
});
