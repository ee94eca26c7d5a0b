import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Bench, Workload } from "../bench.ts";
import { AskingConnection } from "../connections/asking-connection.ts";
import type { Host } from "../connections/hosts.ts";
import { sourceAddress } from "../connections/hosts.ts";
import { readTemplate } from "../connections/request-template.ts";
import type { Measurement } from "../results/measurement.ts";
import { nodeName } from "../tree.ts";
import { UsageError } from "../usage-error.ts";
import { waitUntil } from "../wait-until.ts";
import { onlyHosts, treeOn } from "./with-tree.ts";

const SIZES = [10_000, 100_000, 1_000_000];
const PAYLOAD_BYTES = 100;
/** Siblings, limited so that no list of children exceeds a frame. */
const PARENT_NODES = 10_000;
const POLL_MS = 10;
const DOWN_MS_MAX = 60_000;
const BACK_MS_MAX = 600_000;

/** The time without answers when the server is killed and restarted, by size of its tree. */
export const recover: Workload = {
  name: "recover",
  summary: "from a restart (--restart-command) to the first answer, by size of the tree (--sizes)",
  axis: { label: "nodes", scale: "logarithmic" },
  async *run(bench: Bench): AsyncIterable<Measurement> {
    const { config } = bench;
    const [host, ...others] = onlyHosts(bench, "recover");
    if (host === undefined || others.length > 0) throw new UsageError("recover takes one server in --hosts");
    const { restartCommand } = config;
    if (restartCommand === undefined) {
      throw new UsageError(
        "recover needs --restart-command: a shell command that kills the server, starts it again on the same port and data, and returns",
      );
    }
    const payloadBytes = config.payloadBytes ?? PAYLOAD_BYTES;
    await using tree = await treeOn(bench, [host]);
    let made = 0;
    let last = tree.path;
    for (const size of (config.sizes ?? SIZES).toSorted((a, b) => a - b)) {
      const onProgress = bench.phase(`creating up to ${size} nodes`, { count: size, unit: "nodes" });
      while (made < size) {
        const parent = await tree.create(`p-${String(made).padStart(9, "0")}`);
        const count = Math.min(PARENT_NODES, size - made);
        await tree.fill(parent, { count, payloadBytes, onProgress: (done) => onProgress(made + done) });
        made += count;
        last = `${parent}/${nodeName(count - 1)}`;
      }
      bench.phase(`restarting with ${size} nodes`);
      const { downMs, backMs } = await restart(host, restartCommand, last, config.sessionTimeoutMs, bench.signal);
      yield {
        point: `${size} nodes`,
        series: "",
        x: size,
        loop: "one connection, tried every 10 ms",
        isBlind: false,
        value: backMs,
        unit: "ms",
        better: "lower",
        latencies: {},
        lag: undefined,
        requests: 1,
        errors: {},
        generator: [],
        judgedBy: "nothing",
        figures: { "ms until the old one was gone": downMs },
        notes: [],
      };
    }
  },
};

/**
 * Runs the command and measures, from that moment, when the old server was gone and when the new
 * one answered a read of the last created node. The old one's answers do not count: a connection to
 * it is held and must break first.
 */
async function restart(
  host: Host,
  command: string,
  path: string,
  sessionTimeoutMs: number,
  signal: AbortSignal,
): Promise<{ readonly downMs: number; readonly backMs: number }> {
  const target = { host, localAddress: sourceAddress(host, 0), sessionTimeoutMs };
  const held = new AskingConnection(0, target);
  await held.open();
  const lost = held.lostByItself();
  const startMs = performance.now();
  const shell = spawn("/bin/sh", ["-c", command], { stdio: ["ignore", "ignore", "inherit"], detached: true });
  const exited = once(shell, "exit").then(([status]) => {
    if (status !== 0) throw new Error(`the restart command ended with status ${String(status)}`);
  });
  exited.catch(() => {});
  await within(lost, DOWN_MS_MAX, `the restart command did not end the server within ${DOWN_MS_MAX / 1000} s`);
  const downMs = performance.now() - startMs;
  const read = readTemplate("read", path);
  for (let i = 1; performance.now() - startMs < BACK_MS_MAX && !signal.aborted; i++) {
    const one = new AskingConnection(i, target);
    try {
      await one.open();
      await one.demand([read]);
      const backMs = performance.now() - startMs;
      await exited;
      return { downMs, backMs };
    } catch (error) {
      if (error instanceof Error && error.name === "ServerRefusal") throw error;
      await Promise.race([waitUntil(performance.now() + POLL_MS, signal), exited.then(() => new Promise(() => {}))]);
    } finally {
      one.connection.destroy();
    }
  }
  throw new Error(`no answer within ${BACK_MS_MAX / 1000} s of the restart`);
}

async function within(done: Promise<void>, ms: number, otherwise: string): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(otherwise)), ms);
  await Promise.race([done, promise]).finally(() => clearTimeout(timer));
}
