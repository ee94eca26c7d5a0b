import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { freePort, freePorts, type PortRange } from "./free-ports.ts";

test("ports are different, below the range of outgoing connections, and free for a server", async () => {
  const ports = await freePorts(30);
  expect(new Set(ports).size).toBe(30);
  expect(Math.max(...ports)).toBeLessThan(32_768);
  const [port = 0] = ports;
  const server = createServer().listen(port, "127.0.0.3");
  await once(server, "listening");
  expect((server.address() as AddressInfo).port).toBe(port);
  server.close();
});

test.runIf(process.platform === "linux")("two processes never get the same port", async () => {
  const range = await rangeOf(60);
  const asks = [asker(20, range), asker(20, range)];
  const ports = (await Promise.all(asks.map(portsOf))).flat();
  expect(new Set(ports).size).toBe(40);
});

test.runIf(process.platform === "linux")("ports of a killed process are free again", async () => {
  const range = await rangeOf(16);
  const other = asker(10, range);
  await portsOf(other);
  await expect(freePorts(10, range)).rejects.toThrow("fewer than 10 free ports");
  other.kill("SIGKILL");
  await once(other, "exit");
  // Those that the failed call had found stay claimed by this process.
  expect(await freePorts(5, range)).toHaveLength(5);
});

test.runIf(process.platform === "linux")("a process keeps its newest 500 claims", async () => {
  const port = await freePort();
  const range = { first: port, last: port };
  await expect(freePorts(1, range)).rejects.toThrow("fewer than 1 free ports");
  await freePorts(500);
  expect(await freePorts(1, range)).toEqual([port]);
});

/** Anywhere below the range from which others take theirs. */
async function rangeOf(count: number): Promise<PortRange> {
  const first = Math.floor((await freePort()) / 4) + 1024;
  return { first, last: first + count - 1 };
}

type Asker = ChildProcessByStdio<null, Readable, null>;

/** A process that asks for ports, and runs until it is killed. */
function asker(count: number, range: PortRange): Asker {
  const module = new URL("./free-ports.ts", import.meta.url).href;
  const script = `
    const { freePorts } = await import(${JSON.stringify(module)});
    console.log(JSON.stringify(await freePorts(${count}, ${JSON.stringify(range)})));
    setInterval(() => {}, 1000);`;
  const argv = ["--input-type=module", "--eval", script];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function portsOf({ stdout }: Asker): Promise<readonly number[]> {
  const [line] = await once(stdout, "data");
  return JSON.parse(String(line));
}
