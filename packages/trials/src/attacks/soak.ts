/**
 * Holds very many sessions and watches on a server or an ensemble for a long time, while watches
 * fire and are armed again, and reports the memory of each server.
 *
 *     npm run tool -- soak [--minutes 120] [--sessions 50000] [--watches 1000000] [--writes 200]
 *         [--servers 1] [--collect-every 3]
 *
 * `--writes` nodes are written a second, each with the watches of some sessions. `--servers 3`
 * starts an ensemble and spreads the sessions over its members. Each server and its clients are a
 * process, which needs as many open files as it has sessions.
 *
 * Every `--collect-every` minutes each server collects all its garbage, and its live memory is
 * measured: between full collections, resident memory grows for an hour where nothing leaks. Live
 * memory is flat where a server's average in the last third of the samples is at most a twentieth
 * above that in the second third. Resident memory is reported beside it; it also has what lies
 * outside of the main thread's heap. Ends with status 1 where live memory is not flat, or where a
 * session is lost.
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fourLetterWord } from "@zooid/conformance/internal/servers/endpoint";
import { decimal, oneOf, toolOptions, whole } from "@zooid/conformance/internal/tool-options";
import { OpCode } from "@zooid/model";
import { create, multiBody } from "@zooid/wire/testing/raw-client";
import { memoryMib } from "../figures/process-memory.ts";
import { chunks, range } from "./attack.ts";
import { Attacker } from "./attacker.ts";
import { INSPECTED, inspectorAddress, liveMiB } from "./inspected-process.ts";
import type { SoakShare, SoakState } from "./soak-clients.ts";
import { startTarget } from "./target.ts";

const MINUTE_MS = 60_000;
const NODES_PER_MULTI = 2000;
/** The samples of each third are averaged. */
const SAMPLES_MIN = 3;
const GROWTH_MAX = 1.05;

const options = toolOptions({
  minutes: decimal(120),
  sessions: 50_000,
  watches: 1_000_000,
  writes: 200,
  servers: oneOf("1", "3"),
  collectEvery: whole(3, 1),
});
const { minutes, collectEvery } = options;
const serverCount = Number(options.servers);
if (!(minutes >= SAMPLES_MIN * collectEvery)) {
  console.error(`--minutes is ${SAMPLES_MIN} times --collect-every or more, not ${options.minutes}`);
  process.exit(2);
}
const sessionsEach = Math.ceil(options.sessions / serverCount);

const folder = mkdtempSync(join(tmpdir(), "soak-"));
const clients: ChildProcess[] = [];
try {
  await using target = await startTarget(serverCount === 1 ? "standalone" : "ensemble", folder, { env: INSPECTED });
  const inspectors = target.logs().map(inspectorAddress);
  await createNodes(target.port);
  const states = target.ports.map((port, index) => {
    const share: SoakShare = {
      port,
      index,
      sessionCount: sessionsEach,
      pathPrefix: `/n${index}-`,
      watchesEach: Math.ceil(options.watches / (sessionsEach * serverCount)),
      writesPerSecond: options.writes / serverCount,
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

  const samples: MemorySample[][] = [];
  for (let minute = 1; minute <= minutes; minute++) {
    await delay(MINUTE_MS);
    const isSample = minute % collectEvery === 0;
    // One after the other: a collection stops its server, and the others lead or follow meanwhile.
    const live: number[] = [];
    if (isSample) for (const inspector of inspectors) live.push(await liveMiB(inspector));
    const resident = target.pids.map((pid) => memoryMib(pid));
    if (isSample) samples.push(live.map((each, server) => ({ live: each, resident: resident[server] ?? Number.NaN })));
    const watches = (await Promise.all(target.ports.map(watchCount))).reduce((sum, count) => sum + count, 0);
    const liveText = isSample ? `, ${live.map((each) => each.toFixed(1)).join(", ")} MiB live` : "";
    console.log(
      `${minute} min: ${resident.join(", ")} MiB resident${liveText}; ${watches} watches; ${lost()} lost sessions`,
    );
  }
  const third = Math.floor(samples.length / 3);
  const [second, last] = [samples.slice(third, 2 * third), samples.slice(2 * third)];
  let isFlat = true;
  for (const [server] of target.pids.entries()) {
    const mean = (part: readonly MemorySample[][], kind: keyof MemorySample): number =>
      average(part.map((sample) => sample[server]?.[kind] ?? Number.NaN));
    isFlat &&= mean(last, "live") <= mean(second, "live") * GROWTH_MAX;
    const line = (["live", "resident"] as const).map(
      (kind) =>
        `${mean(second, kind).toFixed(1)} MiB ${kind} in the second third, ${mean(last, kind).toFixed(1)} in the last`,
    );
    console.log(`server ${server + 1}: ${line.join("; ")}`);
  }
  console.log(`${lost()} lost sessions; live memory is ${isFlat ? "" : "not "}flat`);
  process.exitCode = lost() > 0 || !isFlat ? 1 : 0;
} finally {
  for (const child of clients) child.kill();
  rmSync(folder, { recursive: true, force: true });
}

/** Memory of one server in MiB, after a full collection. */
interface MemorySample {
  readonly live: number;
  readonly resident: number;
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
