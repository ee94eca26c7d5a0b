/**
 * Another client of the server under attack, on a thread of its own and from an address of its own:
 * one connection pings without a pause, another writes a node, and session after session is opened.
 * All continue as long as the attack does.
 */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { OpCode } from "@zooid/model";
import { create, RawClient, request, setData } from "@zooid/wire/testing/raw-client";
import type { ServerWork, VictimMessage, VictimPlace } from "./victim.ts";

const PING_EVERY_MS = 4;
const WRITE_EVERY_MS = 50;
const SESSION_EVERY_MS = 100;
const PING_XID = -2;
/** Not the attacker's: what one address has used up is no matter of another's. */
const ADDRESS = "127.0.0.9";

const { port, pids } = workerData as VictimPlace;
let isOver = false;
const pingMs: number[] = [];
let writeCount = 0;
const writeMs: number[] = [];
const sessionMs: number[] = [];
const refusals: string[] = [];
const cpuMs: Record<keyof ServerWork, number[]> = { ping: [], set: [], session: [] };

const tell = (message: VictimMessage): void => parentPort?.postMessage(message);
parentPort?.once("message", () => {
  isOver = true;
});

/** Requests that are not over at the end count with the time until then. */
const pending = new Map<number[], number>();

async function timed<T>(times: number[], cpuTimes: number[], work: () => Promise<T>): Promise<T> {
  const cpuBefore = mainThreadsMs();
  const startMs = performance.now();
  pending.set(times, startMs);
  const result = await work();
  times.push(performance.now() - startMs);
  pending.delete(times);
  cpuTimes.push(Math.max(...mainThreadsMs().map((ms, i) => ms - (cpuBefore[i] ?? 0))));
  return result;
}

/** How long the main thread of each server has been on a core. */
function mainThreadsMs(): readonly number[] {
  return pids.map((pid) => {
    try {
      return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
    } catch {
      return 0;
    }
  });
}

async function ping(client: RawClient): Promise<void> {
  const frame = request(PING_XID, OpCode.PING);
  while (!isOver) {
    await timed(pingMs, cpuMs.ping, async () => {
      client.send(frame);
      await client.reply();
    });
    await delay(PING_EVERY_MS);
  }
}

async function write(client: RawClient): Promise<void> {
  const path = `/victim-${port}`;
  await client.ask(OpCode.CREATE, create(path));
  tell("ready");
  while (!isOver) {
    const { code } = await timed(writeMs, cpuMs.set, () => client.ask(OpCode.SET_DATA, setData(path, "mine")));
    if (code === 0) writeCount++;
    else refusals.push(`code ${code}`);
    await delay(WRITE_EVERY_MS);
  }
}

/** Opens session after session. */
async function open(): Promise<void> {
  while (!isOver) {
    const client = await timed(sessionMs, cpuMs.session, () =>
      RawClient.withSession(port, { timeoutMs: 10_000 }, ADDRESS),
    );
    await client[Symbol.asyncDispose]();
    await delay(SESSION_EVERY_MS);
  }
}

try {
  const pinging = await RawClient.withSession(port, { timeoutMs: 40_000 }, ADDRESS);
  const writing = await RawClient.withSession(port, { timeoutMs: 40_000 }, ADDRESS);
  const noted = (what: string) => (error: unknown) => void refusals.push(`${what}: ${(error as Error).message}`);
  await Promise.race([
    Promise.all([
      ping(pinging).catch(noted("ping")),
      write(writing).catch(noted("write")),
      open().catch(noted("session")),
    ]),
    // A write that waits for a quorum does not keep the report back.
    (async () => {
      while (!isOver) await delay(10);
      await delay(200);
    })(),
  ]);
  for (const [times, startMs] of pending) times.push(performance.now() - startMs);
  await pinging[Symbol.asyncDispose]();
  await writing[Symbol.asyncDispose]();
} catch (error) {
  refusals.push((error as Error).message);
}
tell({ cpuMs, pingMs, writeMs, sessionMs, writeCount, refusals });
