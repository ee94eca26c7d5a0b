/**
 * Holds very many sessions and watches on a server or an ensemble for a long time, while watches fire and are armed again, and reports the
 * memory of each server.
 *
 *     npm run tool -- soak [--minutes 120] [--sessions 50000] [--watches 1000000] [--writes 200] [--servers 1]
 *
 * `--writes` nodes are written a second, each with the watches of some sessions. `--servers 3` starts an ensemble and spreads the sessions over its
 * members. Each server and its clients are a process, which needs as many open files as it has sessions. Memory is flat where a server's
 * average in the last third of the minutes is at most a twentieth above that in the second third. Ends with status 1 where it is not, or where
 * a session is lost.
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { OpCode } from "@zooid/model";
import { fourLetterWord } from "../../packages/conformance/src/endpoint.ts";
import { create, multiBody } from "../../packages/wire/src/testing/raw-client.ts";
import { chunks, range } from "./attack.ts";
import { Attacker } from "./attacker.ts";
import type { SoakShare, SoakState } from "./soak-clients.ts";
import { startTarget } from "./target.ts";

const MINUTE_MS = 60_000;
const NODES_PER_MULTI = 2000;

const { values: options } = parseArgs({
  options: {
    minutes: { type: "string", default: "120" },
    sessions: { type: "string", default: "50000" },
    watches: { type: "string", default: "1000000" },
    writes: { type: "string", default: "200" },
    servers: { type: "string", default: "1" },
  },
});
const serverCount = Number(options.servers);
if (serverCount !== 1 && serverCount !== 3) {
  console.error(`--servers is 1 or 3, not ${options.servers}`);
  process.exit(2);
}
const minutes = Number(options.minutes);
if (!(minutes >= 3)) {
  console.error(`--minutes is 3 or more, not ${options.minutes}: each third of them is compared`);
  process.exit(2);
}
const sessionsEach = Math.ceil(Number(options.sessions) / serverCount);

const folder = mkdtempSync(join(tmpdir(), "soak-"));
const clients: ChildProcess[] = [];
try {
  await using target = await startTarget(serverCount === 1 ? "standalone" : "ensemble", folder, []);
  await createNodes(target.port);
  const states = target.ports.map((port, index) => {
    const share: SoakShare = {
      ...{ port, index, sessionCount: sessionsEach, pathPrefix: `/n${index}-` },
      watchesEach: Math.ceil(Number(options.watches) / (sessionsEach * serverCount)),
      writesPerSecond: Number(options.writes) / serverCount,
    };
    const child = fork(new URL("./soak-clients.ts", import.meta.url), [JSON.stringify(share)]);
    clients.push(child);
    return new Promise<SoakState>((resolve, reject) => {
      const state: SoakState = { armed: 0, lost: 0 };
      child.on("message", (message: SoakState) => {
        Object.assign(state, message);
        if (state.armed === sessionsEach) resolve(state);
      });
      child.once("exit", (status) => {
        state.lost = sessionsEach;
        reject(new Error(`clients of server ${index + 1} ended with status ${status}`));
      });
    });
  });
  const all = await Promise.all(states);
  console.log(`${sessionsEach * serverCount} sessions on ${serverCount} server(s), all watches armed`);
  const lost = (): number => all.reduce((sum, state) => sum + state.lost, 0);

  const memoryMiB: number[][] = [];
  for (let minute = 1; minute <= minutes; minute++) {
    await delay(MINUTE_MS);
    memoryMiB.push(target.pids.map(residentMiB));
    const watches = (await Promise.all(target.ports.map(watchCount))).reduce((sum, count) => sum + count, 0);
    console.log(`${minute} min: ${memoryMiB.at(-1)?.join(", ")} MiB; ${watches} watches; ${lost()} lost sessions`);
  }
  const third = Math.floor(memoryMiB.length / 3);
  let isFlat = true;
  for (const [server] of target.pids.entries()) {
    const second = average(memoryMiB.slice(third, 2 * third).map((row) => row[server] ?? 0));
    const last = average(memoryMiB.slice(2 * third).map((row) => row[server] ?? 0));
    isFlat &&= last <= second * 1.05;
    console.log(
      `server ${server + 1}: ${second.toFixed(0)} MiB in the second third, ${last.toFixed(0)} MiB in the last`,
    );
  }
  console.log(`${lost()} lost sessions; memory is ${isFlat ? "" : "not "}flat`);
  process.exitCode = lost() > 0 || !isFlat ? 1 : 0;
} finally {
  for (const child of clients) child.kill();
  rmSync(folder, { recursive: true, force: true });
}

async function createNodes(port: number): Promise<void> {
  await using writer = await Attacker.open({ port });
  for (let server = 0; server < serverCount; server++) {
    const paths = range(sessionsEach, (i) => `/n${server}-${i}`);
    for (const group of chunks(paths, NODES_PER_MULTI)) {
      await writer.ask(OpCode.MULTI, multiBody(...group.map((path) => [OpCode.CREATE, create(path)] as const)));
    }
  }
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

async function watchCount(port: number): Promise<number> {
  return Number(/^Total watches:(\d+)$/m.exec(await fourLetterWord(port, "wchs"))?.[1]);
}

function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(kib) / 1024);
}
