import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ask, contentOf, eachInDirectory, ServerProcess, start } from "./testing/server-process.ts";

// The process itself, as an operator starts it. More of it is in `main.slow.test.ts`.

const directory = eachInDirectory();

test("one line says that it is ready, on which port and with what data; it serves, and stops with status 0", async () => {
  const server = start("--set", "4lw.commands.whitelist=ruok");
  const port = await server.ready();
  const [line] = server.output.trim().split("\n").slice(-1);
  expect(JSON.parse(line ?? "")).toMatchObject({
    msg: expect.stringContaining(`data in ${join(directory(), "data")} (`),
  });
  expect(await ask(port, "ruok")).toBe("imok");
  server.kill("SIGTERM");
  expect(await server.ended()).toEqual([0, null]);
  expect(server.output).toContain("SIGTERM: stopping");
  expect(server.errors).toBe("");
});

test("SIGINT stops it as well, and what it kept is there at the next start", async () => {
  const first = start();
  await first.ready();
  first.kill("SIGINT");
  expect(await first.ended()).toEqual([0, null]);
  const second = start();
  await second.ready();
  expect(second.output).toMatch(/recovered \d+ znodes/);
});

describe("what keeps it from starting is one sentence, a status of its own, and no change on disk", () => {
  test("a port that is taken", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const address = taken.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    const server = start("--port", String(port));
    expect(await server.ended()).toEqual([5, null]);
    expect(server.errors).toMatch(/^zooid-server: port \d+ on 127\.0\.0\.1 is taken by another process; [^\n]*\n$/);
    expect([...contentOf(directory())]).toEqual([]);
    await new Promise((resolve) => taken.close(resolve));
  });

  test("a data directory in use", async () => {
    const first = start();
    await first.ready();
    const second = start();
    expect(await second.ended()).toEqual([3, null]);
    expect(second.errors).toMatch(/^zooid-server: [^\n]* is in use by process \d+[^\n]*\n$/);
  });

  test("a file with several mistakes: all of them", async () => {
    writeFileSync(join(directory(), "zoo.cfg"), "clientPort=x\ntickTime=y\ndataDir=data\nssl.ocsp=true\n");
    const server = new ServerProcess(["zoo.cfg"]);
    expect(await server.ended()).toEqual([2, null]);
    expect(server.errors.trim().split("\n")).toHaveLength(3);
    expect([...contentOf(directory()).keys()]).toEqual(["zoo.cfg"]);
  });
});

test("init-secret writes a secret for its owner alone, and never over another file", async () => {
  const first = new ServerProcess(["init-secret", "secret"]);
  expect(await first.ended()).toEqual([0, null]);
  const file = join(directory(), "secret");
  expect(first.output).toContain(`wrote a new secret to ${file}`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const content = readFileSync(file, "utf8");
  expect(content).toMatch(/^[0-9a-f]{8}:[A-Za-z0-9+/]{43}=\n$/);
  expect(first.output).not.toContain(content.slice(9, 20));
  const second = new ServerProcess(["init-secret", "secret"]);
  expect(await second.ended()).toEqual([2, null]);
  expect(second.errors).toContain("it exists, and a secret is not written over");
  expect(readFileSync(file, "utf8")).toBe(content);
});

test("status prints the mode and ends with 0 while clients are served, with 1 afterwards, and with 2 without a configuration", async () => {
  const server = start();
  const port = await server.ready();
  const asked = ["status", "--port", `${port}`, "--set", "admin.enableServer=false"];
  const found = new ServerProcess(asked);
  expect(await found.ended()).toEqual([0, null]);
  expect(found.output).toMatch(
    /^Client port found: \d+\. Client address: 127\.0\.0\.1\. Client SSL: false\.\nMode: standalone\n$/,
  );
  server.kill("SIGTERM");
  await server.ended();
  const gone = new ServerProcess(asked);
  expect(await gone.ended()).toEqual([1, null]);
  const unreadable = new ServerProcess(["status", "absent.cfg"]);
  expect(await unreadable.ended()).toEqual([2, null]);
});

test("--version and --help say it and end with status 0", async () => {
  for (const [flag, text] of [
    ["--version", /^zooid-server \S+ on Node\.js 24/],
    ["--help", /^zooid-server \[zoo\.cfg\] \[options\]/],
  ] as const) {
    const server = new ServerProcess([flag]);
    expect(await server.ended()).toEqual([0, null]);
    expect(server.output).toMatch(text);
  }
});

test("SIGHUP reads the file again, and SIGUSR1 logs how the server stands", async () => {
  const file = join(directory(), "zoo.cfg");
  const write = (words: string): void =>
    writeFileSync(file, `clientPort=0\nadmin.serverPort=0\ndataDir=data\n4lw.commands.whitelist=${words}\n`);
  write("srvr");
  const server = new ServerProcess(["zoo.cfg"]);
  const port = await server.ready();
  expect(await ask(port, "ruok")).toContain("not in the whitelist");
  write("srvr,ruok");
  server.kill("SIGHUP");
  await server.says(/reloaded log level/);
  expect(await ask(port, "ruok")).toBe("imok");
  server.kill("SIGUSR1");
  await server.says(/leading, epoch 1, zxid 0x\d+, \d+ connections/);
  server.kill("SIGTERM");
  expect(await server.ended()).toEqual([0, null]);
  expect(server.errors).toBe("");
});
