import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import type { Zxid } from "@zooid/model";
import { filter, firstValueFrom, type Observable, type Subscription } from "rxjs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";
import type { HistoryItem } from "../operations/past.ts";
import { fourLetterWord } from "../testing/four-letter-word.ts";
import { expireSession, Relay } from "../testing.ts";
import type { ReachedChange } from "./observe-changes.ts";

let folder = "";
let server: ZooidServer;
let target: { port: number };
let relay: Relay;
let zk: Client;
/** Connected to the server without the relay. */
let other: Client;

const start = ({ fileMs = 100 } = {}): Promise<ZooidServer> =>
  startServer({
    port: 0,
    dataDir: join(folder, "data"),
    fourLetterWords: "*",
    tickMs: 100,
    sessionTimeoutMsMax: 60_000,
    history: { retainMs: 3_600_000, fileMs },
  });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-changes-"));
  server = await start();
  target = { port: server.port };
  relay = await Relay.start(target);
  zk = await connect(`127.0.0.1:${relay.port}`);
  other = await connect(server.connectString);
  await other.create("/app");
});

afterEach(async () => {
  await Promise.all([zk.close(), other.close()]);
  await relay[Symbol.asyncDispose]();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function serverWatches(): Promise<number> {
  return Number(/Total watches:(\d+)/.exec(await fourLetterWord(server.port, "wchs"))?.[1]);
}

/** The emissions of a stream, in words. */
class Recorded implements Disposable {
  readonly lines: string[] = [];
  readonly reached: Zxid[] = [];
  readonly subscription: Subscription;
  error: unknown;
  isComplete = false;

  constructor(stream$: Observable<HistoryItem | ReachedChange>) {
    this.subscription = stream$.subscribe({
      next: (item) => {
        if (item.kind === "reached") this.reached.push(item.zxid);
        else if (item.kind === "gap") this.lines.push(`gap ${item.after}`);
        else this.lines.push(`${item.op} ${item.path} ${Buffer.from(item.data ?? "")}`);
      },
      error: (error: unknown) => {
        this.error = error;
      },
      complete: () => {
        this.isComplete = true;
      },
    });
  }

  async until(count: number): Promise<readonly string[]> {
    await vi.waitFor(() => expect(this.lines.length).toBeGreaterThanOrEqual(count), 20_000);
    return this.lines;
  }

  [Symbol.dispose](): void {
    this.subscription.unsubscribe();
  }
}

test("changes come that were, and then those that are made, in the client's chroot", async () => {
  await other.create("/app/a", "0");
  await using inApp = await connect(`${server.connectString}/app`);
  using recorded = new Recorded(inApp.changes$("/a"));
  using all = new Recorded(inApp.changes$("/", { recursive: true, pageSize: 1 }));
  await recorded.until(1);
  await other.set("/app/a", "1");
  await other.create("/app/a/below", "");
  await other.set("/app/a", "2");
  expect(await recorded.until(3)).toEqual(["CREATE2 /a 0", "SET_DATA /a 1", "SET_DATA /a 2"]);
  expect(await all.until(5)).toEqual([
    "CREATE2 / ",
    "CREATE2 /a 0",
    "SET_DATA /a 1",
    "CREATE2 /a/below ",
    "SET_DATA /a 2",
  ]);
});

test("a stream that begins where another one had reached has the changes behind it", async () => {
  using first = new Recorded(zk.changes$("/app", { recursive: true }));
  await other.create("/app/a", "0");
  await first.until(2);
  await vi.waitFor(() => expect(first.reached).not.toEqual([]), 5000);
  const after = first.reached.at(-1) ?? expect.unreachable("it has reached something");
  first.subscription.unsubscribe();
  await other.set("/app/a", "1");
  using second = new Recorded(zk.changes$("/app", { recursive: true, after }));
  expect(await second.until(1)).toEqual(["SET_DATA /app/a 1"]);
});

test("no change is lost and none comes twice, over lost connections, sessions and servers", async () => {
  using recorded = new Recorded(zk.changes$("/app", { recursive: true, pageSize: 3 }));
  const expected = ["CREATE2 /app "];
  let number = 0;
  const write = async (client: Client): Promise<void> => {
    for (let i = 0; i < 5; i++) {
      number++;
      await client.create(`/app/n${number}`, `${number}`);
      expected.push(`CREATE2 /app/n${number} ${number}`);
    }
  };
  await write(other);
  await recorded.until(expected.length);

  relay.refuse();
  relay.cut();
  await firstValueFrom(zk.state$.pipe(filter(({ kind }) => kind === "suspended")));
  await write(other);
  relay.accept();
  await write(other);
  await recorded.until(expected.length);

  await expireSession(zk);
  await write(other);
  await recorded.until(expected.length);

  await Promise.all([server.stop(), other.disconnect()]);
  server = await start();
  target.port = server.port;
  other = await connect(server.connectString);
  await write(other);
  expect(await recorded.until(expected.length)).toEqual(expected);
});

test("a stream continues where there was no connection for longer than a call waits for one", async () => {
  await server.stop();
  server = await start({ fileMs: 10_000 });
  target.port = server.port;
  await other.disconnect();
  other = await connect(server.connectString);
  await using impatient = await connect(`127.0.0.1:${relay.port}`, { waitingTimeoutMs: 50 });
  let failures = 0;
  const counted = impatient.with({
    intercept: async (call, next) => {
      try {
        return await next();
      } catch (error) {
        if (call.op === "history") failures++;
        throw error;
      }
    },
  });
  using recorded = new Recorded(counted.changes$("/app", { recursive: true }));
  await recorded.until(1);
  // The stream asks again and again until the history has the change.
  await other.create("/app/a", "");
  relay.refuse();
  relay.cut();
  await vi.waitFor(() => expect(failures).toBeGreaterThan(1), 20_000);
  expect(recorded.error).toBeUndefined();
  relay.accept();
  expect(await recorded.until(2)).toEqual(["CREATE2 /app ", "CREATE2 /app/a "]);
});

test("events that come while the history lags make no questions of their own", async () => {
  await server.stop();
  server = await start({ fileMs: 10_000 });
  target.port = server.port;
  await other.disconnect();
  other = await connect(server.connectString);
  let questions = 0;
  const counted = zk.with({
    intercept: (call, next) => {
      if (call.op === "history") questions++;
      return next();
    },
  });
  using _ = new Recorded(counted.changes$("/app", { recursive: true }));
  await vi.waitFor(() => expect(questions).toBe(1), 5000);
  const beginMs = performance.now();
  for (let i = 0; i < 300; i++) await other.set("/app", String(i));
  expect(questions).toBeLessThan(3 + (performance.now() - beginMs) / 100);
});

test("a stream leaves no watch behind, and has one however many pages it reads", async () => {
  const recorded = new Recorded(zk.changes$("/app", { recursive: true }));
  await other.create("/app/a", "0");
  await recorded.until(2);
  expect(await serverWatches()).toBe(1);
  recorded.subscription.unsubscribe();
  await zk.sync();
  expect(await serverWatches()).toBe(0);
});

test("a stream ends with its client, and fails on a server without a history and for no path", async () => {
  await using client = await connect(server.connectString);
  using recorded = new Recorded(client.changes$("/app"));
  await recorded.until(1);
  await client.close();
  expect([recorded.isComplete, recorded.error]).toEqual([true, undefined]);

  await using plain = await startServer({ port: 0 });
  await using withoutHistory = await connect(plain.connectString);
  for (const [path, code] of [
    ["/a", "UNIMPLEMENTED"],
    ["/a/", "INVALID_PATH"],
  ] as const) {
    using failed = new Recorded(withoutHistory.changes$(path));
    await vi.waitFor(() => expect(failed.error).toMatchObject({ code, op: "changes$", path }), 5000);
  }
});

test("a stream that begins before the history fails with where that begins; a gap within it comes as one", async () => {
  using whole = new Recorded(zk.changes$("/app", { recursive: true }));
  for (const name of ["a", "b", "c"]) {
    const known = whole.lines.length;
    await other.create(`/app/${name}`, "");
    // Each is in a file of its own.
    await whole.until(known + 1);
  }
  const files = join(folder, "data/archive/log");
  const names = readdirSync(files).toSorted();
  rmSync(join(files, names.at(-2) ?? ""));
  using gapped = new Recorded(zk.changes$("/app", { recursive: true }));
  expect(await gapped.until(4)).toEqual([
    ...whole.lines.slice(0, 2),
    `gap ${Number.parseInt(names.at(-2) ?? "", 16)}`,
    "CREATE2 /app/c ",
  ]);

  for (const name of names.slice(0, -2)) rmSync(join(files, name));
  using failed = new Recorded(zk.changes$("/app", { recursive: true, after: 1 as Zxid }));
  await vi.waitFor(() => expect(failed.error).toBeDefined(), 5000);
  const begins = Number.parseInt(names.at(-1) ?? "", 16);
  expect(failed.error).toMatchObject({ code: "HISTORY_GONE", op: "changes$", reach: { first: begins + 1 } });
});
