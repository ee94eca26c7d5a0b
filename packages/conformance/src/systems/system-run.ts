import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { fetchApacheJars } from "../clients.ts";
import { printDiff } from "../diff.ts";
import { ServerProcess } from "../servers/endpoint.ts";
import { eachOf, toolOptions } from "../tool-options.ts";
import type { EnsembleServer } from "./system-ensemble.ts";

export interface SystemPlace {
  /** Running servers; they keep running afterwards. */
  readonly servers: readonly EnsembleServer[];
  /** For the system's processes; the caller deletes it. */
  readonly folder: string;
  readonly ports: readonly number[];
}

/** A system that keeps its state in ZooKeeper, on an ensemble whose servers die and restart. */
export interface System {
  readonly name: string;
  /** How many ports it needs. */
  readonly portCount: number;
  /** @returns what its clients saw and the nodes that are left, a line each */
  run(place: SystemPlace): Promise<readonly string[]>;
}

/** The file of a system's transcript on Apache ZooKeeper, which `--record` writes. */
export function transcriptOf({ name }: System): string {
  return resolve(import.meta.dirname, `../../transcripts/${name}.txt`);
}

/**
 * Runs a system on ensembles of three of Apache ZooKeeper and of zooid-server, by the options of
 * the command line, and compares the runs with the recorded transcript.
 */
export async function compareRuns(system: System): Promise<void> {
  const options = toolOptions({ against: eachOf(["apache", "zooid"]), record: false });
  const kinds = options.record ? (["apache"] as const) : options.against;
  const jars = fetchApacheJars();
  for (const kind of kinds) {
    const began = performance.now();
    const lines = await runOn(kind, system, jars);
    console.log(`ran     ${kind}, ${lines.length} lines, ${((performance.now() - began) / 1000).toFixed(0)} s`);
    if (options.record) writeFileSync(transcriptOf(system), `${lines.join("\n")}\n`);
    const recorded = readFileSync(transcriptOf(system), "utf8").trimEnd().split("\n");
    const difference = printDiff(recorded, lines);
    if (difference === "") console.log(`same    ${system.name} on ${kind}`);
    else console.log(`differ  ${system.name} on ${kind} (- recorded, + now):\n${difference}`);
    if (difference !== "") process.exitCode = 1;
  }
}

async function runOn(kind: "apache" | "zooid", system: System, jars: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), `${system.name}-${kind}-`));
  const ports = await freePorts(9 + system.portCount);
  const servers = [1, 2, 3].map((sid) => {
    const own = join(folder, `server-${sid}`);
    mkdirSync(own);
    const listed = [1, 2, 3].map((other) => `server.${other}=127.0.0.1:${ports[other - 1]}:${ports[other + 2]}`);
    const settings = [...listed, "initLimit=10", "syncLimit=5"];
    return new ServerProcess({ kind, folder: own, settings, sid, port: ports[sid + 5] ?? 0, jars });
  });
  try {
    for (const server of servers) await server.launch();
    return await system.run({ servers, folder, ports: ports.slice(9) });
  } catch (error) {
    for (const server of servers) console.log(server.logTail());
    throw error;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}
