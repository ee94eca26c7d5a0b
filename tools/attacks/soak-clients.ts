/** The clients of one server in a soak, as a process of their own: started by soak.ts with a {@link SoakShare}, reports a {@link SoakState}. */
import { setTimeout as delay } from "node:timers/promises";
import { OpCode } from "@zooid/model";
import { read, request, setData } from "../../packages/wire/src/testing/raw-client.ts";
import { chunks, range } from "./attack.ts";
import { Attacker } from "./attacker.ts";

export interface SoakShare {
  readonly port: number;
  /** Of the server, from 0. */
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
/** Each session pings once in so many ticks: three times within its timeout. */
const TICKS_PER_PING = 130;
const TICKS_PER_REPORT = 50;
const PING_XID = -2;

const share = JSON.parse(process.argv[2] ?? "{}") as SoakShare;
const { port, index, sessionCount, watchesEach, writesPerSecond, pathPrefix } = share;
const paths = range(sessionCount, (i) => `${pathPrefix}${i}`);
const report = (state: SoakState): void => void process.send?.(state);
process.once("disconnect", () => process.exit());

const writer = await Attacker.open({ port, timeoutMs: TIMEOUT_MS });
const sessions: Attacker[] = [];
for (const group of chunks(paths, OPENED_AT_ONCE)) {
  const first = sessions.length;
  const opened = group.map((_, i) => {
    const localAddress = `127.3.${index}.${1 + Math.floor((first + i) / SESSIONS_PER_ADDRESS)}`;
    return Attacker.open({ port, timeoutMs: TIMEOUT_MS, localAddress });
  });
  sessions.push(...(await Promise.all(opened)));
}
const all = range(sessionCount, (i) => i);
for (const group of chunks(all, OPENED_AT_ONCE)) await Promise.all(group.map(arm));
report({ armed: sessionCount, lost: 0 });

const ping = request(PING_XID, OpCode.PING);
const pingsPerTick = Math.ceil(sessionCount / TICKS_PER_PING);
let nextPing = 0;
let node = 0;
let due = 0;
for (let tick = 0; ; tick++) {
  const tickMs = performance.now();
  for (let i = 0; i < pingsPerTick; i++, nextPing = (nextPing + 1) % sessionCount) {
    void (sessions[nextPing] as Attacker).flood([ping]);
  }
  for (due += writesPerSecond / TICKS_PER_SECOND; due >= 1; due--, node = (node + 1) % sessionCount) {
    const path = paths[node] as string;
    void writer.flood([writer.frame(OpCode.SET_DATA, setData(path, `${tick}`))]);
    for (let watcher = 0; watcher < watchesEach; watcher++) {
      const attacker = sessions[(node - watcher + sessionCount) % sessionCount] as Attacker;
      void attacker.flood([attacker.frame(OpCode.GET_DATA, read(path, true))]);
    }
  }
  if (tick % TICKS_PER_REPORT === 0) {
    report({ armed: sessionCount, lost: [...sessions, writer].filter(({ isClosed }) => isClosed).length });
  }
  await delay(Math.max(0, 1000 / TICKS_PER_SECOND - (performance.now() - tickMs)));
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
