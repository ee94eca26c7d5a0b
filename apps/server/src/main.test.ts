import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ExitStatus } from "./process/exit-status.ts";
import { ask, contentOf, eachInDirectory, ServerProcess, start } from "./testing/server-process.ts";

// The process itself, as an operator starts it. More of it is in `main.slow.test.ts`.

const directory = eachInDirectory();

test("one line says that it is ready, on which port and with what data; it serves, and stops with status 0", async () => {
  const server = start("--set", "4lw.commands.whitelist=ruok");
  const port = await server.ready();
  const line = server.output.split("\n").find((each) => each.includes("serves ZooKeeper clients on"));
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
  // Alone it has no members to change, and no file that lists them.
  const first = start("--set", "reconfigEnabled=true");
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
    expect(server.failures()).toEqual([
      expect.stringMatching(/^port \d+ on 127\.0\.0\.1 is taken by another process, /),
    ]);
    expect(server.errors).toBe("");
    expect([...contentOf(directory())]).toEqual([]);
    await new Promise((resolve) => taken.close(resolve));
  });

  test("two of its own ports with one number", async () => {
    writeFileSync(join(directory(), "zoo.cfg"), "dataDir=data\nclientPort=21811\nadmin.serverPort=21811\n");
    const server = new ServerProcess(["zoo.cfg"]);
    expect(await server.ended()).toEqual([ExitStatus.CONFIG, null]);
    expect(server.failures()).toEqual([
      expect.stringMatching(
        /^\S+zoo\.cfg: clientPort \(line 2\) and admin\.serverPort \(line 3\) are both 21811: each port of a server has a number of its own$/,
      ),
    ]);
  });

  test("a value that only the server judges: with its file and line", async () => {
    writeFileSync(join(directory(), "zoo.cfg"), "dataDir=data\nclientPort=0\ntickTime=-5\nmaxSessionTimeout=1\n");
    const server = new ServerProcess(["zoo.cfg"]);
    expect(await server.ended()).toEqual([ExitStatus.CONFIG, null]);
    for (const failure of server.failures()) expect(failure).toMatch(/^\S+zoo\.cfg: .*\(line [34]\)/);
    expect(server.failures().length).toBeGreaterThan(0);
  });

  test("a file with several mistakes: all of them", async () => {
    writeFileSync(join(directory(), "zoo.cfg"), "clientPort=x\ntickTime=y\ndataDir=data\nssl.ocsp=true\n");
    const server = new ServerProcess(["zoo.cfg"]);
    expect(await server.ended()).toEqual([2, null]);
    expect(server.failures()).toHaveLength(3);
    expect(server.output.trim().split("\n")).toHaveLength(3);
    expect(server.errors).toBe("");
    expect([...contentOf(directory()).keys()]).toEqual(["zoo.cfg"]);
  });
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

test("a start that waits for a name outlives SIGHUP and SIGUSR1", async () => {
  writeFileSync(join(directory(), "zoo.cfg"), "dataDir=data\nclientPort=0\nclientPortAddress=no-such-host.invalid\n");
  const server = new ServerProcess(["zoo.cfg"]);
  await server.says(/does not resolve yet/);
  server.kill("SIGHUP");
  server.kill("SIGUSR1");
  server.kill("SIGTERM");
  expect(await server.ended()).toEqual([null, "SIGTERM"]);
});

test("signals are answered whatever the level of the log, and those that came during the start behind it", async () => {
  const file = join(directory(), "zoo.cfg");
  const write = (tick: string): void =>
    writeFileSync(
      file,
      `clientPort=0\nadmin.serverPort=0\ndataDir=data\nzooid.logLevel=warn\nsnapCount=5\ntickTime=${tick}\n`,
    );
  write("500");
  const server = new ServerProcess(["zoo.cfg"]);
  // Written before the data is opened.
  await server.says(/snapCount \(line 5\) has no effect/);
  server.kill("SIGUSR1");
  await server.says(/leading, epoch 1, /);
  write("-5");
  server.kill("SIGHUP");
  await server.says(/the configuration is not reloaded: \S+zoo\.cfg: tickTime \(line 6\) is a whole number from 1/);
  write("700");
  server.kill("SIGHUP");
  await server.says(/the configuration is reloaded: tickTime is \\"700\\", was \\"500\\", from the next start on/);
  server.kill("SIGTERM");
  expect(await server.ended()).toEqual([0, null]);
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
  await server.says(/the configuration is reloaded/);
  expect(await ask(port, "ruok")).toBe("imok");
  server.kill("SIGUSR1");
  await server.says(/leading, epoch 1, zxid 0x\d+, \d+ connections?, /);
  server.kill("SIGTERM");
  expect(await server.ended()).toEqual([0, null]);
  expect(server.errors).toBe("");
});
