import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decimal, toolOptions } from "@zooid/conformance/internal/tool-options";
import { printHead, printRow } from "../figures/markdown-table.ts";
import { median, quantiles } from "../figures/quantiles.ts";
import {
  type FromMember,
  type MemberTask,
  openMember,
  type Proposed,
  type Proposing,
  type ToMember,
} from "./broadcast-member.ts";
import { joinInProcess } from "./in-process-links.ts";

/**
 * The broadcast alone: Zab over its links and the SQLite log, without clients, sessions and a tree.
 * One server proposes entries as fast as a window of unanswered ones allows; each server is a
 * process, or with `--in-process` all of them share one thread and no sockets.
 *
 * `--servers 3,5,7 --window 1000 --payload 1024 --seconds 5 --repeats 3 --data DIR --in-process`
 */
const values = toolOptions({
  servers: [3, 5, 7],
  window: 1000,
  payload: 1024,
  seconds: decimal(5),
  warmup: decimal(2),
  repeats: 3,
  data: tmpdir(),
  inProcess: false,
});

interface Broadcast {
  readonly entriesPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU of all processes for each entry. */
  readonly cpuUs: number;
}

const PROPOSING: Proposing = {
  window: values.window,
  payloadBytes: values.payload,
  warmupMs: values.warmup * 1000,
  durationMs: values.seconds * 1000,
};

async function inProcesses(servers: number, folder: string): Promise<Broadcast> {
  const children = Array.from({ length: servers }, (_, i) => {
    const task: MemberTask = { sid: i + 1, servers, directory: join(folder, String(i + 1)) };
    return fork(join(import.meta.dirname, "broadcast-member.ts"), [JSON.stringify(task)]);
  });
  try {
    const ports = await Promise.all(children.map((child) => heard(child, "listening")));
    const serving = children.map((child) => heard(child, "serving"));
    for (const child of children) tell(child, { kind: "join", ports: ports.map(({ port }) => port), leader: servers });
    await Promise.all(serving);
    const [leader] = children.slice(-1);
    if (leader === undefined) throw new Error("there is no leader to propose");
    const done = heard(leader, "done");
    tell(leader, { kind: "propose", proposing: PROPOSING });
    const { entries, seconds, latenciesMs, cpuSeconds } = await done;
    const others = children.slice(0, -1).map((child) => heard(child, "used"));
    for (const child of children) tell(child, { kind: "stop" });
    const used = (await Promise.all(others)).reduce((sum, { cpuShare }) => sum + cpuShare, 0);
    return summaryOf({ entries, seconds, latenciesMs, cpuSeconds: cpuSeconds + used * seconds });
  } finally {
    for (const child of children) if (child.exitCode === null) child.kill();
    await Promise.all(children.map((child) => (child.exitCode === null ? once(child, "exit") : undefined)));
  }
}

async function inOneProcess(servers: number, folder: string): Promise<Broadcast> {
  const members = await Promise.all(
    Array.from({ length: servers }, (_, i) =>
      openMember({ sid: i + 1, servers, directory: join(folder, String(i + 1)) }),
    ),
  );
  joinInProcess(members);
  for (const member of members) member.join(servers);
  await Promise.all(members.map((member) => member.serving));
  const leader = members.at(-1);
  if (leader === undefined) throw new Error("there is no leader to propose");
  const result = await leader.propose(PROPOSING);
  await Promise.all(members.map((member) => member.stop()));
  return summaryOf(result);
}

function summaryOf({ entries, seconds, latenciesMs, cpuSeconds }: Proposed): Broadcast {
  const { median: p50Ms, p99: p99Ms } = quantiles(latenciesMs);
  return { entriesPerSecond: entries / seconds, p50Ms, p99Ms, cpuUs: (cpuSeconds / entries) * 1e6 };
}

function tell(child: ChildProcess, message: ToMember): void {
  child.send(message);
}

/** The next message of a kind; rejects when the process ends without it. */
async function heard<K extends FromMember["kind"]>(
  child: ChildProcess,
  kind: K,
): Promise<Extract<FromMember, { kind: K }>> {
  const { promise, resolve, reject } = Promise.withResolvers<Extract<FromMember, { kind: K }>>();
  const listen = (message: FromMember): void => {
    if (message.kind === kind) resolve(message as Extract<FromMember, { kind: K }>);
  };
  const ended = (): void => reject(new Error(`a member ended before it was ${kind}`));
  child.on("message", listen).on("exit", ended);
  return promise.finally(() => child.off("message", listen).off("exit", ended));
}

console.log(
  `Entries of ${PROPOSING.payloadBytes} bytes, ${PROPOSING.window} not yet delivered at a time, ${values.seconds} s after ${values.warmup} s, ` +
    `medians of ${values.repeats}, ${values.inProcess ? "one process without sockets" : "a process for each server"}\n`,
);
printHead("servers", "entries/s", "MB/s", "commit p50 / p99 ms", "CPU µs an entry, all servers");
for (const servers of values.servers) {
  const results: Broadcast[] = [];
  for (let repeat = 0; repeat < values.repeats; repeat++) {
    using temporary = mkdtempDisposableSync(join(values.data, "broadcast-"));
    const folder = temporary.path;
    results.push(await (values.inProcess ? inOneProcess(servers, folder) : inProcesses(servers, folder)));
  }
  const of = (pick: (one: Broadcast) => number): number => median(results.map(pick));
  const rate = of((one) => one.entriesPerSecond);
  const latencies = `${of((one) => one.p50Ms).toFixed(2)} / ${of((one) => one.p99Ms).toFixed(2)}`;
  const megabytes = ((rate * PROPOSING.payloadBytes) / 1e6).toFixed(1);
  printRow(servers, Math.round(rate), megabytes, latencies, of((one) => one.cpuUs).toFixed(1));
}
