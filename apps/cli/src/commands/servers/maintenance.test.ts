import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@zooid/client";
import { type ServerLog, startServer } from "@zooid/embedded-server";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Session } from "../../testing/session.ts";

const SUPER = "digest super:test";
const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";

type Server = Awaited<ReturnType<typeof startServer>>;
let zk: Server;
let admin: string;
beforeEach(async () => {
  zk = await startServer({ port: 0, admin: { port: 0 }, superDigest: SUPER_DIGEST });
  admin = `http://127.0.0.1:${zk.adminPort}`;
});
afterEach(async () => {
  delete process.env["ZOOID_ADMIN_AUTH"];
  await zk[Symbol.asyncDispose]();
});

describe("server drain", () => {
  test("ends when no client is left, and undrain lets them connect again", async () => {
    const client = await connect(zk.connectString);
    try {
      await using session = await Session.open("127.0.0.1:1");
      const drained = await session.run("server", "drain", "--duration", "100", "--admin", admin, "--auth", SUPER);
      expect(await drained.ended).toBe(0);
      expect(drained.stdout.trim().split("\n").at(-1)).toBe(
        "drained; the server leads on: no other one can, or it is alone",
      );
      process.env["ZOOID_ADMIN_AUTH"] = SUPER;
      expect((await session.run("server", "undrain", "--admin", admin)).stdout).toBe("clients may connect again\n");
      await client.connected();
    } finally {
      await client.close();
    }
  });

  test.each([
    [1, false, "1 connection will be closed"],
    [2, false, "2 connections will be closed"],
    [2, true, "2 connections will be closed, and the leadership moves to another server"],
  ])("with --dry-run, of a server with %i connections whose leading is %s", async (connections, leads, line) => {
    const port = createServer(({ url = "" }, response) => {
      const isStatus = url.includes("drain_status");
      response.statusCode = isStatus ? 200 : 400;
      response.end(
        JSON.stringify({
          command: "drain",
          num_alive_connections: connections,
          is_leader: leads,
          is_draining: false,
          error: null,
        }),
      );
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void port.close());
    await once(port, "listening");
    const at = `http://127.0.0.1:${(port.address() as AddressInfo).port}`;
    await using session = await Session.open("127.0.0.1:1");
    const found = await session.run("server", "drain", "--dry-run", "--admin", at, "--auth", SUPER);
    expect(found.stdout).toBe(`${line}\nnothing is changed: --dry-run\n`);
  });

  test("with --dry-run counts connections and closes none", async () => {
    const client = await connect(zk.connectString);
    try {
      await using session = await Session.open("127.0.0.1:1");
      const found = await session.run("server", "drain", "--dry-run", "--admin", admin, "--auth", SUPER);
      expect([await found.ended, found.stdout]).toEqual([
        0,
        "1 connection will be closed, and the leadership moves to another server\nnothing is changed: --dry-run\n",
      ]);
      await client.create("/still-connected", "");
      await using machine = await Session.open("127.0.0.1:1", "json");
      const asked = await machine.run("server", "drain", "--dry-run", "--admin", admin, "--auth", SUPER);
      expect(asked.objects).toEqual([
        { command: "server", draining: false, connections: 1, leading: true, dryRun: true },
      ]);
    } finally {
      await client.close();
    }
  });

  test.each([
    [["server", "undrain", "--dry-run", "--auth", SUPER], 2, /^--dry-run is for drain/],
    [["server", "undrain", "--wait", "--auth", SUPER], 2, /^--wait is for drain/],
    [["leader", "transfer", "--timeout", "5", "--auth", SUPER], 2, /^--timeout is for --wait/],
    [["leader", "transfer", "--dry-run", "--auth", SUPER], 1, /^the server refuses: this server is no member/],
    [["server", "drain"], 4, /^the server refuses: Auth info is missing/],
    [["server", "drain", "--auth", "digest someone:else"], 4, /^the server refuses: /],
    [
      ["server", "drain", "--auth", SUPER, "--duration", "soon"],
      2,
      /^--duration takes milliseconds from 0 to 3600000, found "soon"/,
    ],
    [["server", "drane"], 2, /^server takes drain or undrain, found "drane"/],
    [["leader", "transfer", "--auth", SUPER], 1, /^the server refuses: this server is no member of an ensemble/],
    [["leader", "transfer", "two", "--auth", SUPER], 2, /^a server is named by its number/],
  ])("%j is refused with the reason", async (words, status, reason) => {
    await using session = await Session.open("127.0.0.1:1", "json");
    const found = await session.run(...words, "--admin", admin);
    expect(await found.ended).toBe(status);
    expect(found.objects).toMatchObject([{ error: { message: expect.stringMatching(reason) } }]);
  });

  test.each([
    ["http://127.0.0.1:1", /^no answer from the admin port at http:\/\/127.0.0.1:1: /],
    ["zk-1", /^--admin: expected a URL such as/],
  ])("an admin port at %s is named in the error", async (url, reason) => {
    await using session = await Session.open("127.0.0.1:1", "json");
    const found = await session.run("server", "undrain", "--admin", url);
    expect(found.objects).toMatchObject([{ error: { message: expect.stringMatching(reason) } }]);
  });
});

describe("loglevel", () => {
  test("prints the level of a server's log, and changes it for those who may", async () => {
    const lines: string[] = [];
    const print = (text: string): void => void lines.push(text);
    const log: ServerLog = { level: "info", info: print, warn: print, error: print };
    await using other = await startServer({ port: 0, admin: { port: 0 }, superDigest: SUPER_DIGEST, log });
    const at = ["--admin", `http://127.0.0.1:${other.adminPort}`];
    await using session = await Session.open("127.0.0.1:1", "json");
    expect((await session.run("loglevel", ...at)).objects).toEqual([{ command: "loglevel", level: "info" }]);
    const refused = await session.run("loglevel", "debug", ...at);
    expect([await refused.ended, log.level]).toEqual([4, "info"]);
    const changed = await session.run("loglevel", "error", ...at, "--auth", SUPER);
    expect(changed.objects).toEqual([{ command: "loglevel", level: "error", before: "info" }]);
    expect(log.level).toBe("error");
    expect(lines.at(-1)).toBe("the log level is error, was info: an operator at 127.0.0.1 has changed it");
    await using person = await Session.open("127.0.0.1:1");
    const same = await person.run("loglevel", "error", ...at, "--auth", SUPER);
    expect(same.stdout).toBe("the log level is error already\n");
  });

  test.each([
    [["loglevel", "loud"], 2, /^loglevel takes debug, info, warn, error, found "loud"/],
    [["loglevel"], 1, /^the log of this server has no level that can be changed here/],
    [["loglevel", "debug", "--auth", SUPER], 1, /^the server refuses: the log of this server has no level/],
  ])("%j is refused with the reason", async (words, status, reason) => {
    await using session = await Session.open("127.0.0.1:1", "json");
    const found = await session.run(...words, "--admin", admin);
    expect([await found.ended, found.objects]).toMatchObject([
      status,
      [{ error: { message: expect.stringMatching(reason) } }],
    ]);
  });
});

describe("diagnose", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "zooid-diagnose-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test("writes what the server says of itself to a new file, without passwords and without data of nodes", async () => {
    const recent = (): readonly string[] => ['{"level":"warn","msg":"a line"}'];
    const print = (): void => {};
    await using other = await startServer({
      port: 0,
      admin: { port: 0 },
      superDigest: SUPER_DIGEST,
      initialConfiguration:
        "clientPort=2181\nssl.keyStore.password=canary-1\nzookeeper.DigestAuthenticationProvider.superDigest=canary-2",
      log: { info: print, warn: print, error: print, recent },
    });
    const client = await connect(other.connectString);
    await client.create("/canary-path", "canary-3");
    await client.close();
    const at = ["--admin", `http://127.0.0.1:${other.adminPort}`];
    await using session = await Session.open("127.0.0.1:1", "json");
    const [without, withLog] = [join(folder, "a.json"), join(folder, "b.json")] as const;
    expect((await session.run("diagnose", without, ...at)).objects).toEqual([
      { command: "diagnose", file: without, missing: [{ name: "log", reason: expect.stringContaining("Auth info") }] },
    ]);
    const written = await session.run("diagnose", withLog, ...at, "--auth", SUPER);
    expect(written.objects).toEqual([{ command: "diagnose", file: withLog, missing: [] }]);
    const text = readFileSync(withLog, "utf8");
    expect(JSON.parse(text)).toMatchObject({
      format: "zooid-diagnosis",
      version: 1,
      commands: { monitor: { znode_count: expect.any(Number) }, zabstate: {} },
      pages: { readyz: expect.any(String), metrics: expect.stringContaining("# TYPE") },
      log: [{ level: "warn", msg: "a line" }],
      missing: [],
    });
    expect(text).not.toMatch(/canary|D\/InIHSb7yEEbrWz8b9l71RjZJU/);
    expect(statSync(withLog).mode & 0o777).toBe(0o600);
  });

  test("leaves out passwords that an Apache server shows among its system properties", async () => {
    const apache = createServer((_, response) => {
      response.end(
        '{"zookeeper.ssl.keyStore.password":"canary","java.version":"17","initial_configuration":"a=1\\nssl.trustStore.password=canary","command":"x","error":null}',
      );
    });
    apache.listen(0, "127.0.0.1");
    await once(apache, "listening");
    try {
      const file = join(folder, "a.json");
      await using session = await Session.open("127.0.0.1:1", "json");
      const port = (apache.address() as AddressInfo).port;
      expect(await (await session.run("diagnose", file, "--admin", `http://127.0.0.1:${port}`)).ended).toBe(0);
      const { commands } = JSON.parse(readFileSync(file, "utf8"));
      expect(commands.system_properties).toMatchObject({
        "zookeeper.ssl.keyStore.password": "***",
        "java.version": "17",
      });
      expect(JSON.stringify(commands)).not.toContain("canary");
    } finally {
      apache.close();
      apache.closeAllConnections();
    }
  });

  test("writes over no file, and needs an admin port", async () => {
    const file = join(folder, "a.json");
    writeFileSync(file, "mine");
    await using session = await Session.open("127.0.0.1:1", "json");
    const kept = await session.run("diagnose", file, "--admin", admin);
    expect([await kept.ended, readFileSync(file, "utf8")]).toEqual([2, "mine"]);
    const away = await session.run("diagnose", join(folder, "b.json"), "--admin", "http://127.0.0.1:1");
    expect([await away.ended, readdirSync(folder)]).toEqual([3, ["a.json"]]);
  });
});
