/**
 * The clients of one server in a soak, as a process of their own: started by soak.ts with a
 * {@link SoakShare}, reports a {@link SoakState}.
 */
import { setTimeout as delay } from "node:timers/promises";
import { OpCode } from "@zooid/model";
import { read, request, setData } from "@zooid/wire/testing/raw-client";
import { chunks, range } from "./attack.ts";
import { Attacker } from "./attacker.ts";

export interface SoakShare {
  readonly port: number;
  /** Number of the server, from 0. */
  readonly index: number;
  readonly sessionCount: number;
  readonly watchesEach: number;
  readonly writesPerSecond: number;
  /** Session i's node is this and i. */
  readonly pathPrefix: string;
}

export interface SoakState {
  /** Sessions whose watches are armed. */
  armed: number;
  /** Sessions whose connection has ended. */
  lost: number;
}

const TIMEOUT_MS = 40_000;
/** One address has no more local ports than this to one server. */
const SESSIONS_PER_ADDRESS = 20_000;
const OPENED_AT_ONCE = 100;
const TICKS_PER_SECOND = 10;
/** Each session pings three times within its timeout. */
const PING_EVERY_MS = TIMEOUT_MS / 3;
const TICKS_PER_REPORT = 50;
const PING_XID = -2;

const share = JSON.parse(process.argv[2] ?? "{}") as SoakShare;
const { port, index, sessionCount, watchesEach, writesPerSecond, pathPrefix } = share;
const paths = range(sessionCount, (i) => `${pathPrefix}${i}`);
const report = (state: SoakState): void => void process.send?.(state);
process.once("disconnect", () => process.exit());

const sessions: Attacker[] = [];
/** Its writes keep its session: it is opened with the first one. */
let writer: Promise<Attacker> | undefined;
let writing = Promise.resolve();
// Sessions that are open are to live while others are opened.
const opening = open();
const ping = request(PING_XID, OpCode.PING);
let armed = 0;
let nextPing = 0;
let node = 0;
let duePings = 0;
let dueWrites = 0;
let lastTickMs = performance.now();
for (let tick = 0; ; tick++) {
  const tickMs = performance.now();
  // By the clock: a tick may come late on a busy machine.
  const elapsedMs = tickMs - lastTickMs;
  lastTickMs = tickMs;
  duePings += (sessions.length * elapsedMs) / PING_EVERY_MS;
  for (; duePings >= 1 && sessions.length > 0; duePings--, nextPing = (nextPing + 1) % sessions.length) {
    void (sessions[nextPing] as Attacker).flood([ping]);
  }
  if (armed === sessionCount) dueWrites += (writesPerSecond * elapsedMs) / 1000;
  const nodes: number[] = [];
  for (; dueWrites >= 1; dueWrites--, node = (node + 1) % sessionCount) nodes.push(node);
  if (nodes.length > 0) writing = writing.then(() => write(nodes, `${tick}`));
  if (tick % TICKS_PER_REPORT === 0) {
    report({ armed, lost: sessions.filter(({ isClosed }) => isClosed).length });
  }
  await Promise.race([opening, delay(Math.max(0, 1000 / TICKS_PER_SECOND - (performance.now() - tickMs)))]);
}

/** Opens all sessions, each with its watches. */
async function open(): Promise<never> {
  for (const group of chunks(
    range(sessionCount, (i) => i),
    OPENED_AT_ONCE,
  )) {
    const opened = group.map((session) => {
      const localAddress = `127.3.${index}.${1 + Math.floor(session / SESSIONS_PER_ADDRESS)}`;
      return Attacker.open({ port, timeoutMs: TIMEOUT_MS, localAddress });
    });
    sessions.push(...(await Promise.all(opened)));
    await Promise.all(group.map(arm));
    armed = sessions.length;
  }
  // Only a failure ends the race with the ticks.
  return new Promise(() => {});
}

/** Writes nodes, whose watches fire, and arms these again once the writes are carried out. */
async function write(nodes: readonly number[], data: string): Promise<void> {
  writer ??= Attacker.open({ port, timeoutMs: TIMEOUT_MS });
  const attacker = await writer;
  await attacker.askAll(nodes.map((at) => attacker.frame(OpCode.SET_DATA, setData(paths[at] as string, data))));
  for (const at of nodes) {
    for (let watcher = 0; watcher < watchesEach; watcher++) {
      const session = sessions[(at - watcher + sessionCount) % sessionCount] as Attacker;
      void session.flood([session.frame(OpCode.GET_DATA, read(paths[at] as string, true))]);
    }
  }
}

/** Watches the nodes of a session's neighbours, so that each node has as many watches. */
async function arm(session: number): Promise<void> {
  const attacker = sessions[session] as Attacker;
  await attacker.flood(
    range(watchesEach, (i) =>
      attacker.frame(OpCode.GET_DATA, read(paths[(session + i) % sessionCount] as string, true)),
    ),
  );
}
