/**
 * Holds very many sessions and watches on a server for a long time, while watches fire and are armed again, and reports its memory.
 *
 *     npm run tool -- soak [--minutes 120] [--sessions 50000] [--watches 1000000] [--writes 200]
 *
 * `--writes` nodes are written a second, each with the watches of some sessions. Memory is flat where the last third of the minutes has no more
 * than the second third, and a twentieth. Ends with status 1 where it is not, or where a session is lost. Needs as many open files as there are
 * sessions, twice.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { OpCode } from "@zooid/model";
import { ServerProcess } from "../../packages/conformance/src/endpoint.ts";
import { create, multiBody, read, request, setData } from "../../packages/wire/src/testing/raw-client.ts";
import { chunks, range } from "./attack.ts";
import { Attacker } from "./attacker.ts";

const { values: options } = parseArgs({
  options: {
    minutes: { type: "string", default: "120" },
    sessions: { type: "string", default: "50000" },
    watches: { type: "string", default: "1000000" },
    writes: { type: "string", default: "200" },
  },
});
const sessionCount = Number(options.sessions);
const watchesEach = Math.ceil(Number(options.watches) / sessionCount);
const TIMEOUT_MS = 40_000;
/** One address has no more local ports than this to one server. */
const SESSIONS_PER_ADDRESS = 20_000;
const OPENED_AT_ONCE = 100;
const PING_XID = -2;

const folder = mkdtempSync(join(tmpdir(), "soak-"));
await using server = new (class extends ServerProcess {
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(folder, { recursive: true, force: true });
  }
})({ kind: "zooid", folder, settings: ["maxClientCnxns=0"] });
await server.start();
const { port } = server;

const writer = await Attacker.open({ port, timeoutMs: TIMEOUT_MS });
const paths = range(sessionCount, (i) => `/n${i}`);
for (const group of chunks(paths, 2000)) {
  await writer.ask(OpCode.MULTI, multiBody(...group.map((path) => [OpCode.CREATE, create(path)] as const)));
}
const sessions: Attacker[] = [];
for (const group of chunks(paths, OPENED_AT_ONCE)) {
  const opened = await Promise.all(
    group.map((_, i) => {
      const number = sessions.length + i;
      const localAddress = `127.3.0.${1 + Math.floor(number / SESSIONS_PER_ADDRESS)}`;
      return Attacker.open({ port, timeoutMs: TIMEOUT_MS, localAddress });
    }),
  );
  sessions.push(...opened);
}
console.log(`${sessions.length} sessions; arming ${watchesEach} watches each`);
/** The watches of a session: on neighbours, so that each node has as many. */
const arm = async (session: number): Promise<void> => {
  const attacker = sessions[session] as Attacker;
  await attacker.flood(
    range(watchesEach, (i) =>
      attacker.frame(OpCode.GET_DATA, read(paths[(session + i) % sessionCount] as string, true)),
    ),
  );
};
for (const group of chunks(
  range(sessionCount, (i) => i),
  OPENED_AT_ONCE,
))
  await Promise.all(group.map(arm));

const ping = request(PING_XID, OpCode.PING);
const endMs = performance.now() + Number(options.minutes) * 60_000;
const memoryMiB: number[] = [];
let lost = 0;
let next = 0;
let node = 0;
let reportMs = performance.now() + 60_000;
// Each session pings, and arms anew what has fired, about every ten seconds.
const pingsPerTick = Math.ceil(sessionCount / 100);
while (performance.now() < endMs) {
  const tickMs = performance.now();
  for (let i = 0; i < pingsPerTick; i++, next = (next + 1) % sessionCount) {
    const attacker = sessions[next] as Attacker;
    if (attacker.isClosed) lost++;
    else void attacker.flood([ping]);
  }
  for (let i = 0; i < Number(options.writes) / 10; i++, node = (node + 1) % sessionCount) {
    void writer.flood([writer.frame(OpCode.SET_DATA, setData(paths[node] as string, `${tickMs}`))]);
    for (let watcher = 0; watcher < watchesEach; watcher++) {
      const attacker = sessions[(node - watcher + sessionCount) % sessionCount] as Attacker;
      void attacker.flood([attacker.frame(OpCode.GET_DATA, read(paths[node] as string, true))]);
    }
  }
  if (performance.now() >= reportMs) {
    reportMs += 60_000;
    memoryMiB.push(residentMiB(server.pid));
    console.log(`${memoryMiB.length} min: ${memoryMiB.at(-1)} MiB; ${lost} pings of lost sessions`);
  }
  await delay(Math.max(0, 100 - (performance.now() - tickMs)));
}
const third = Math.floor(memoryMiB.length / 3);
const [second, last] = [average(memoryMiB.slice(third, 2 * third)), average(memoryMiB.slice(2 * third))];
console.log(
  `${second.toFixed(0)} MiB in the second third, ${last.toFixed(0)} MiB in the last; ${lost} pings of lost sessions`,
);
process.exitCode = lost > 0 || last > second * 1.05 ? 1 : 0;
for (const attacker of sessions) await attacker[Symbol.asyncDispose]();
await writer[Symbol.asyncDispose]();

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(kib) / 1024);
}
