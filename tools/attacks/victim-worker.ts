/**
 * Another client of the server under attack, on a thread of its own: one connection pings without a pause, another writes a node of its
 * own from another address, and from there session after session is opened. All go on as long as the attack does.
 */
import { setTimeout as delay } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { OpCode } from "@zooid/model";
import { create, RawClient, request, setData } from "../../packages/wire/src/testing/raw-client.ts";
import type { VictimMessage, VictimPlace } from "./victim.ts";

const PING_EVERY_MS = 4;
const WRITE_EVERY_MS = 50;
const SESSION_EVERY_MS = 100;
const PING_XID = -2;
/** Not the attacker's: what one address has used up is no matter of another's. */
const ADDRESS = "127.0.0.9";

const { port } = workerData as VictimPlace;
let isOver = false;
const pingMs: number[] = [];
let writeCount = 0;
const writeMs: number[] = [];
const sessionMs: number[] = [];
const refusals: string[] = [];

const tell = (message: VictimMessage): void => parentPort?.postMessage(message);
parentPort?.once("message", () => {
  isOver = true;
});

/** What is not over at the end counts with the time until then. */
const pending = new Map<number[], number>();

async function timed<T>(times: number[], work: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  pending.set(times, startMs);
  const result = await work();
  times.push(performance.now() - startMs);
  pending.delete(times);
  return result;
}

async function ping(client: RawClient): Promise<void> {
  const frame = request(PING_XID, OpCode.PING);
  while (!isOver) {
    const startMs = performance.now();
    client.send(frame);
    await client.reply();
    pingMs.push(performance.now() - startMs);
    await delay(PING_EVERY_MS);
  }
}

async function write(client: RawClient): Promise<void> {
  const path = `/victim-${port}`;
  await client.ask(OpCode.CREATE, create(path));
  tell("ready");
  while (!isOver) {
    const { code } = await timed(writeMs, () => client.ask(OpCode.SET_DATA, setData(path, "mine")));
    if (code === 0) writeCount++;
    else refusals.push(`code ${code}`);
    await delay(WRITE_EVERY_MS);
  }
}

/** Opens session after session. */
async function open(): Promise<void> {
  while (!isOver) {
    const client = await timed(sessionMs, () => RawClient.withSession(port, { timeoutMs: 10_000 }, ADDRESS));
    await client[Symbol.asyncDispose]();
    await delay(SESSION_EVERY_MS);
  }
}

try {
  const pinging = await RawClient.withSession(port, { timeoutMs: 40_000 });
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
tell({ pingMs, writeMs, sessionMs, writeCount, refusals });
