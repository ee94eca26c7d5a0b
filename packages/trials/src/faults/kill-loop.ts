/**
 * Kills a server under load again and again, and audits what is there after each restart.
 *
 *     npm run tool -- kill-loop [--rounds 100] [--writers 12] [--seed N] [--server zooid|apache] [--keep]
 *
 * Every writer keeps a pipeline of creates, sets, deletes and transactions in flight when `kill -9`
 * comes; some rounds kill the server a second time while it starts. Each audit asks that every
 * answered write is there with its value, that nothing is there that was not asked for, that every
 * open session resumes and every closed one does not, that ephemerals follow their sessions, and
 * that zxids keep rising.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fetchApacheJars } from "@zooid/conformance/internal/clients";
import { Random } from "@zooid/conformance/internal/random";
import { ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { newSeed, oneOf, toolOptions } from "@zooid/conformance/internal/tool-options";
import { audit } from "./audit.ts";
import { folderWriters } from "./folder-writer.ts";

const options = toolOptions({
  rounds: 100,
  writers: 12,
  seed: newSeed(),
  server: oneOf("zooid", "apache"),
  keep: false,
});
const random = new Random(options.seed);
const { rounds, server: kind } = options;
const folder = mkdtempSync(join(tmpdir(), "kill-loop-"));
const server = new ServerProcess({ kind, folder, ...(kind === "apache" ? { jars: fetchApacheJars() } : {}) });
const writers = folderWriters(options, () => random.pick([1, 4, 16, 64]));
let stepCount = 0;
const counts = { passed: 0, failed: 0 };

console.log(`seed ${options.seed}, ${writers.length} writers, data in ${server.dataDir}`);
try {
  for (let round = 1; round <= rounds && counts.failed === 0; round++) await runRound(round);
} finally {
  await server.kill();
}
if (options.keep || counts.failed > 0) console.log(`data and log are kept in ${folder}`);
else rmSync(folder, { recursive: true, force: true });
console.log(`${counts.passed} passed, ${counts.failed} failed`);
if (counts.failed > 0) process.exitCode = 1;

async function runRound(round: number): Promise<void> {
  try {
    await server.start();
    for (const writer of writers) await writer.resume(server.port);
    const faults = await loadAndKill();
    if (faults.length > 0) throw new Error(faults.join("\n"));
    counts.passed++;
    console.log(`round ${round}: ${stepCount} steps so far`);
  } catch (error) {
    counts.failed++;
    console.log(`round ${round} FAILED: ${error instanceof Error ? error.message : error}\n${server.logTail()}`);
  }
}

/** Loads the server, kills it, starts it again and audits it. */
async function loadAndKill(): Promise<readonly string[]> {
  const load = Promise.allSettled(writers.map((writer) => writer.write(server.port, () => false)));
  await Promise.race([load, delay(random.between(20, 900))]);
  await server.kill();
  for (const outcome of await load) if (outcome.status === "rejected") throw outcome.reason;
  if (random.chance(0.2)) {
    await server.launch();
    await delay(random.between(0, 600));
    await server.kill();
  }
  await server.start();
  const { lengths, faults } = await audit({ port: server.port, books: writers, moment: process.hrtime.bigint() });
  for (const writer of writers) {
    writer.settle(lengths.get(writer.path) ?? 0);
    stepCount += writer.steps.length;
    writer.compact();
  }
  if (faults.length === 0) for (const writer of writers) await writer.resume(server.port);
  await server.kill();
  return faults;
}
