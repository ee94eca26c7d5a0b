/**
 * A server that errs at random, by seed: every call settles, and an error states the outcome of its
 * request correctly.
 */
import { OpCode } from "@zooid/model";
import { seededRandom } from "@zooid/model/testing/seeded-random";
import { afterEach, beforeEach, expect, test } from "vitest";
import { retry } from "../calls/retry.ts";
import { createClient } from "../connect.ts";
import { isZkError } from "../errors.ts";
import { ProcessNoise } from "../testing/process-noise.ts";
import {
  answer,
  event,
  frame,
  greetingFrame,
  honestAnswer,
  type ScriptedLine,
  ScriptedServer,
  type SeenRequest,
} from "../testing/scripted-server.ts";

const CALLS = 120;
const REFUSALS = [-101, -110, -103, -102, -127, -118, -112, -119, -5, 17];

let noise: ProcessNoise;

beforeEach(() => {
  noise = new ProcessNoise();
});

afterEach(async () => {
  expect(await noise.end()).toEqual([]);
});

/** The server's handling of the requests for a path. */
interface Deeds {
  seen: number;
  done: number;
  refused: number;
}

class ErringServer {
  readonly deeds = new Map<string, Deeds>();
  readonly #random: () => number;
  isHonest = false;

  constructor(random: () => number) {
    this.#random = random;
  }

  async serve(server: ScriptedServer): Promise<void> {
    for (;;) {
      const line = await server.accept();
      const dice = this.#random();
      if (!this.isHonest && dice < 0.05) line.reset();
      else if (!this.isHonest && dice < 0.1) line.socket.end();
      else if (!this.isHonest && dice < 0.15) line.send(greetingFrame().subarray(0, 20));
      else this.#greet(line, !this.isHonest && dice < 0.3 ? { timeoutMs: 0, sessionId: 0n as never } : {});
    }
  }

  #greet(line: ScriptedLine, greeting: Parameters<ScriptedLine["greet"]>[0]): void {
    line.greet(greeting).catch(() => {});
    line.serve((request) => this.#answer(line, request));
  }

  #answer(line: ScriptedLine, request: SeenRequest): Buffer | undefined {
    if (line.socket.destroyed) return undefined;
    const deeds = this.#deedsOf(request);
    deeds.seen++;
    const dice = this.isHonest ? 1 : this.#random();
    if (dice < 0.02) return void line.reset();
    if (dice < 0.03) return void line.socket.end(honestAnswer(request).subarray(0, 9));
    if (dice < 0.04) return honestAnswer({ ...request, xid: request.xid + 1 });
    if (dice < 0.05) return answer(request);
    if (dice < 0.06) return frame((writer) => writer.int(Math.floor(this.#random() * 2 ** 31)));
    if (dice < 0.25 && request.op !== OpCode.CLOSE_SESSION) {
      deeds.refused++;
      return answer(request, { code: REFUSALS[Math.floor(this.#random() * REFUSALS.length)] ?? -1 });
    }
    deeds.done++;
    if (dice < 0.26) return Buffer.concat([honestAnswer(request), honestAnswer(request)]);
    const events = [1, 2, 3, 4, 9].filter(() => this.#random() < 0.03).map((type) => event(type, request.path));
    return Buffer.concat([...events, honestAnswer(request)]);
  }

  /** The client's own clean-up requests are not counted with the calls for the same path. */
  #deedsOf({ op, path }: SeenRequest): Deeds {
    const isCall = op === OpCode.GET_DATA || op === OpCode.SET_DATA || op === OpCode.CREATE2;
    const name = isCall ? path : `the client's own ${path}`;
    const deeds = this.deeds.get(name) ?? { seen: 0, done: 0, refused: 0 };
    this.deeds.set(name, deeds);
    return deeds;
  }
}

test.each(Array.from({ length: 20 }, (_, i) => i + 1))(
  "every call settles with its true outcome (seed %i)",
  async (seed) => {
    const random = seededRandom(seed);
    await using server = await ScriptedServer.start();
    const erring = new ErringServer(random);
    erring.serve(server).catch(() => {});
    const zk = createClient(server.hosts, {
      random: () => 0,
      connectTimeoutMs: 20,
      retry: retry.times(5),
      inFlightMax: 1 + Math.floor(random() * 40),
    });
    const streams = ["/stream/a", "/stream/b"].flatMap((path) => [
      zk.watchData$(path).subscribe({ error: () => {} }),
      zk.events$(path).subscribe({ error: () => {} }),
    ]);
    const outcomes: Promise<readonly [path: string, isWrite: boolean, isAborted: boolean, error: unknown]>[] = [];
    for (let i = 0; i < CALLS; i++) {
      const path = `/${i}`;
      const dice = random();
      const controller = new AbortController();
      const { signal } = controller;
      const isWrite = dice < 0.5;
      const isAborted = random() < 0.1;
      const call =
        dice < 0.3
          ? zk.set(path, "x", { signal })
          : dice < 0.5
            ? zk.create(path, "x", { signal })
            : dice < 0.8
              ? zk.get(path, { signal })
              : zk.get(path, { signal, watch: true }).then(({ watch }) => {
                  watch.fired.catch(() => {});
                  if (random() < 0.5) watch.remove();
                });
      outcomes.push(
        call.then(
          () => [path, isWrite, isAborted, undefined] as const,
          (error: unknown) => [path, isWrite, isAborted, error] as const,
        ),
      );
      if (isAborted) setImmediate(() => controller.abort());
      if (random() < 0.3) await new Promise((resolve) => setImmediate(resolve));
    }
    for (const [path, isWrite, isAborted, error] of await Promise.all(outcomes)) {
      const { seen, done, refused } = erring.deeds.get(path) ?? { seen: 0, done: 0, refused: 0 };
      if (error === undefined) {
        expect(done, `${path} was answered`).toBeGreaterThan(0);
        continue;
      }
      if (isAborted && !isZkError(error)) continue;
      if (!isZkError(error)) throw error;
      const said = `${path}: ${error.message}`;
      if (error.outcome === "rejected") expect(refused, said).toBeGreaterThan(0);
      // A refused request may be retried, and the retry never sent: the outcome is a refusal all
      // the same.
      if (error.outcome === "not-sent" && isWrite) expect(seen, said).toBe(refused);
      if (isWrite) expect(seen - refused, "a write with an unknown outcome is never repeated").toBeLessThanOrEqual(1);
    }
    erring.isHonest = true;
    await zk.connected();
    const last = await Promise.any(Array.from({ length: 5 }, () => zk.get("/last", { retry: retry.forever(0) })));
    expect(last.stat.dataLength).toBe(5);
    for (const stream of streams) stream.unsubscribe();
    await zk.close();
    expect(zk.watchCount).toBe(0);
    await expect.poll(() => server.openCount).toBe(0);
  },
);
