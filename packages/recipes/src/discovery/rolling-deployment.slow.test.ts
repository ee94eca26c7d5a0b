/** A service that rolls over as processes: two with one id at a time, under calls. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Client } from "@zooid/client";
import { expect, onTestFinished, test } from "vitest";
import { eachStaged } from "../testing/each-staged.ts";
import type { Stage } from "../testing/stage.ts";
import { ServiceDiscovery } from "./service-discovery.ts";

const PATH = "/services";
const SERVICE = fileURLToPath(new URL("../testing/rolling-service.ts", import.meta.url));
const ROLL_OVERS = 50;
/** In one of this number of roll-overs, the old process is killed instead of stopped. */
const KILL_EVERY = 10;

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

/** A process of the service, once it has registered. */
async function started(): Promise<ChildProcess> {
  const argv = ["--conditions=@zooid/source", "--no-warnings", SERVICE, stage.server.connectString, PATH];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  if (child.stdout !== null) await once(child.stdout, "data");
  return child;
}

/** The number of transactions so far. */
async function writes(): Promise<number> {
  await a.sync();
  const { mzxid } = await a.set("/marker", "");
  return mzxid % 2 ** 32;
}

test("fifty roll-overs: no call fails but those to a killed process, with few writes", {
  timeout: 600_000,
}, async () => {
  await a.create("/marker");
  const provider = new ServiceDiscovery(b, PATH).provider("api");
  await provider.ready();
  /**
   * Ports of killed processes: their instance is found until another process has taken the name.
   */
  const killed = new Set<number>();
  const failures: unknown[] = [];
  const answered = new Set<string>();
  let count = 0;
  let isOver = false;
  const call = async (): Promise<void> => {
    const instance = provider.pick();
    if (instance === undefined) {
      failures.push("no instance");
      return;
    }
    try {
      const response = await fetch(`http://127.0.0.1:${instance.port}/`);
      answered.add(await response.text());
      count++;
    } catch (error) {
      if (!killed.has(instance.port ?? 0)) failures.push(error);
    }
  };
  let current = await started();
  await expect.poll(() => provider.pick()?.port).toBeGreaterThan(0);
  const calls = (async () => {
    while (!isOver) {
      await call();
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  const before = await writes();
  for (let i = 1; i <= ROLL_OVERS; i++) {
    const old = current;
    const isKilled = i % KILL_EVERY === 0;
    if (isKilled) {
      killed.add(provider.pick()?.port ?? 0);
      old.kill("SIGKILL");
    }
    current = await started();
    if (!isKilled) old.kill("SIGTERM");
    if (old.exitCode === null && old.signalCode === null) await once(old, "exit");
    // Callers have got to the new process.
    await expect.poll(() => answered.has(`${current.pid}`), { timeout: 30_000 }).toBe(true);
  }
  const writesPerRollOver = ((await writes()) - before) / ROLL_OVERS;
  isOver = true;
  await calls;
  current.kill("SIGTERM");
  await once(current, "exit");
  expect(failures).toEqual([]);
  expect(writesPerRollOver).toBeLessThan(20);
  expect([answered.size, count > 10 * ROLL_OVERS]).toEqual([ROLL_OVERS + 1, true]);
  console.log(`${count} calls, ${writesPerRollOver} writes a roll-over`);
});
