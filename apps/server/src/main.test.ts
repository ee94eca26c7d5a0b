import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

// The process itself, as an operator starts it.

const BIN = fileURLToPath(new URL("../bin/zooid-server", import.meta.url));
const DEADLINE_MS = 20_000;

let directory = "";
const running: ServerProcess[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-main-"));
});
afterEach(async () => {
  for (const one of running.splice(0)) {
    one.kill("SIGKILL");
    await one.ended();
  }
  rmSync(directory, { recursive: true, force: true });
});

class ServerProcess {
  output = "";
  errors = "";
  readonly #child: ChildProcess;
  readonly #ended: Promise<readonly [status: number | null, signal: string | null]>;

  constructor(argv: readonly string[], command: readonly [string, ...string[]] = [BIN]) {
    const [program, ...before] = command;
    this.#child = spawn(program, [...before, ...argv], { cwd: directory, stdio: ["ignore", "pipe", "pipe"] });
    this.#child.stdout?.on("data", (chunk) => {
      this.output += chunk;
    });
    this.#child.stderr?.on("data", (chunk) => {
      this.errors += chunk;
    });
    this.#ended = once(this.#child, "close").then(([status, signal]) => [status, signal] as const);
    running.push(this);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  ended(): Promise<readonly [status: number | null, signal: string | null]> {
    return this.#ended;
  }

  /** The port, once the line that says it is ready came. */
  async ready(): Promise<number> {
    const deadline = Date.now() + DEADLINE_MS;
    for (;;) {
      const port = /serves ZooKeeper clients on [^ ]*:(\d+),/.exec(this.output)?.[1];
      if (port !== undefined) return Number(port);
      if (Date.now() > deadline || this.#child.exitCode !== null) {
        throw new Error(`not ready: ${this.output}${this.errors}`);
      }
      await Promise.race([once(this.#child.stdout ?? this.#child, "data"), this.#ended]);
    }
  }
}

const PORTS = ["--port", "0", "--set", "admin.serverPort=0"];

/** Starts a server on ports of the system's choice. */
function start(...argv: string[]): ServerProcess {
  return new ServerProcess([...PORTS, "--data", join(directory, "data"), ...argv]);
}

/** Starts a server that may have so many files open. */
function startWithFiles(count: number, ...argv: string[]): ServerProcess {
  const shell = ["sh", "-c", `ulimit -n ${count}; exec "$0" "$@"`, BIN] as const;
  return new ServerProcess([...PORTS, "--data", join(directory, "data"), ...argv], [...shell]);
}

async function ask(port: number, word: string): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1" });
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  socket.end(word);
  await once(socket, "close");
  return answer;
}

/** Every file below a directory with its content, to see what has changed. A note of who held it does not count. */
function contentOf(path: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const name of readdirSync(path, { recursive: true, encoding: "utf8" })) {
    const file = join(path, name);
    if (name.endsWith("zooid.pid")) continue;
    files.set(
      name,
      statSync(file).isFile() ? createHash("sha256").update(readFileSync(file)).digest("hex") : "directory",
    );
  }
  return files;
}

test("one line says that it is ready, on which port and with what data; it serves, and stops with status 0", async () => {
  const server = start("--set", "4lw.commands.whitelist=ruok");
  const port = await server.ready();
  const [line] = server.output.trim().split("\n").slice(-1);
  expect(JSON.parse(line ?? "")).toMatchObject({
    msg: expect.stringContaining(`data in ${join(directory, "data")} (`),
  });
  expect(await ask(port, "ruok")).toBe("imok");
  server.kill("SIGTERM");
  expect(await server.ended()).toEqual([0, null]);
  expect(server.output).toContain("SIGTERM: stopping");
  expect(server.errors).toBe("");
});

test("operators are answered beside clients, and a line says where", async () => {
  const file = join(directory, "zoo.cfg");
  const className = "metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider";
  writeFileSync(file, `dataDir=${directory}/data\n${className}\nmetricsProvider.httpPort=0\n`);
  const server = new ServerProcess([file, "--port", "0", "--set", "admin.serverPort=0"]);
  await server.ready();
  const admin = /answered on (http:[^ ]*:\d+)\/commands,/.exec(server.output)?.[1];
  const metrics = /metrics are answered on port (\d+)/.exec(server.output)?.[1];
  const get = async (url: string): Promise<string> => await (await fetch(url)).text();
  expect(await get(`${admin}/readyz`)).toContain("readyz check passed");
  expect(await get(`${admin}/commands/icfg`)).toContain(`"initial_configuration" : "dataDir=${directory}`);
  expect(await get(`http://127.0.0.1:${metrics}/metrics`)).toContain("\nznode_count 5\n");
  const without = start("--data", join(directory, "other"), "--set", "admin.enableServer=false");
  await without.ready();
  expect(without.output).not.toContain("answered on");
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

test("a connection that is open does not hold up a stop", async () => {
  const server = start();
  const socket = connect({ port: await server.ready(), host: "127.0.0.1" });
  await once(socket, "connect");
  server.kill("SIGTERM");
  expect(await server.ended()).toEqual([0, null]);
  socket.destroy();
});

test("a second signal ends it at once", async () => {
  const server = start();
  await server.ready();
  server.kill("SIGTERM");
  server.kill("SIGTERM");
  const [status, signal] = await server.ended();
  // Both may arrive as one, the stop may be over before the second, and the second may meet a process that is ending already.
  expect([0, 1, "SIGTERM"]).toContain(status ?? signal);
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
    expect([...contentOf(directory)]).toEqual([]);
    await new Promise((resolve) => taken.close(resolve));
  });

  test("a data directory in use", async () => {
    const first = start();
    await first.ready();
    const second = start();
    expect(await second.ended()).toEqual([3, null]);
    expect(second.errors).toMatch(/^zooid-server: [^\n]* is in use by process \d+[^\n]*\n$/);
  });

  test("a data directory that is a file", async () => {
    writeFileSync(join(directory, "data"), "mine");
    const before = contentOf(directory);
    const server = start();
    expect(await server.ended()).toEqual([7, null]);
    expect(server.errors).toMatch(/^zooid-server: [^\n]* cannot be used: [^\n]*\n$/);
    expect(contentOf(directory)).toEqual(before);
  });

  test("a data directory that Apache ZooKeeper keeps", async () => {
    mkdirSync(join(directory, "data", "version-2"), { recursive: true });
    writeFileSync(join(directory, "data", "version-2", "snapshot.0"), "ZKSN");
    const before = contentOf(directory);
    const server = start();
    expect(await server.ended()).toEqual([22, null]);
    expect(server.errors).toMatch(/^zooid-server: [^\n]* belongs to somebody else: [^\n]*\n$/);
    expect(contentOf(directory)).toEqual(before);
  });

  test("a log that is damaged", async () => {
    const first = start();
    await first.ready();
    first.kill("SIGTERM");
    await first.ended();
    writeFileSync(join(directory, "data", "log.db"), "no database, but long enough to be one".repeat(500));
    const before = contentOf(directory);
    const server = start();
    const [status] = await server.ended();
    expect([21, 22]).toContain(status);
    expect(server.errors).toMatch(/^zooid-server: [^\n]*\n$/);
    expect(contentOf(directory)).toEqual(before);
  });

  test("a file with several mistakes: all of them", async () => {
    writeFileSync(join(directory, "zoo.cfg"), "clientPort=x\ntickTime=y\ndataDir=data\nssl.ocsp=true\n");
    const server = new ServerProcess(["zoo.cfg"]);
    expect(await server.ended()).toEqual([2, null]);
    expect(server.errors.trim().split("\n")).toHaveLength(3);
    expect([...contentOf(directory).keys()]).toEqual(["zoo.cfg"]);
  });
});

test("init-secret writes a secret for its owner alone, and never over another file", async () => {
  const first = new ServerProcess(["init-secret", "secret"]);
  expect(await first.ended()).toEqual([0, null]);
  const file = join(directory, "secret");
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

test("clients that take all files of the process are refused, and those who are there go on", async () => {
  const settings = ["maxClientCnxns=0", "4lw.commands.whitelist=*", "nio.sessionlessCnxnTimeout=60000"];
  const server = startWithFiles(160, ...settings.flatMap((setting) => ["--set", setting]));
  const port = await server.ready();
  const early = connect({ port, host: "127.0.0.1" });
  // Half a word keeps it waiting.
  early.write("ru");
  const { promise: refused, resolve: refuse } = Promise.withResolvers<void>();
  const silent = Array.from({ length: 200 }, () =>
    connect({ port, host: "127.0.0.1" }).on("error", () => {
      // A reset is how one is refused.
      refuse();
    }),
  );
  await refused;
  early.write("ok");
  const [answer] = await once(early, "data");
  expect(String(answer)).toBe("imok");
  for (const socket of silent) socket.destroy();
  server.kill("SIGTERM");
  expect(await server.ended()).toEqual([0, null]);
  expect(server.output).toContain("the limit of open files");
});
