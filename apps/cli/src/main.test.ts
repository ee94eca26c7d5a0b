import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { freePort } from "@zooid/wire/testing/free-ports";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { FRAME_BYTES_MAX } from "./connection/connection.ts";
import { CliProcesses, CliRuns } from "./testing/cli-process.ts";
import { objects, results } from "./testing/transcript.ts";

// The command line against a server with real sockets: as a process where that matters, else within
// the test.

let server: ZooidServer;
let directory = "";
const processes = new CliProcesses(
  () => server.connectString,
  () => directory,
);
const start = processes.start.bind(processes);
const runs = new CliRuns(() => server.connectString);
const run = runs.run.bind(runs);
const script = runs.script.bind(runs);
beforeAll(async () => {
  server = await startServer({ port: 0, connectionsPerAddressMax: 0 });
  directory = mkdtempSync(join(tmpdir(), "zooid-cli-"));
});
afterEach(() => processes.kill());
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

test("results go to stdout, messages to stderr, and the status reports success or failure", async () => {
  const created = await processes.run("create", "/one", "hello");
  expect([results(created.stdout), created.stderr, created.status]).toEqual(["", "Created /one\n", 0]);
  const found = await processes.run("get", "/one");
  expect([results(found.stdout), found.stderr, found.status]).toEqual(["hello\n", "", 0]);
  const missing = await processes.run("get", "/no/such");
  expect([results(missing.stdout), missing.stderr, missing.status]).toEqual(["", "Node does not exist: /no/such\n", 1]);
});

test("an unknown command is answered with the usage and status 127", async () => {
  const { stderr, status } = await run("frobnicate");
  expect(status).toBe(127);
  expect(stderr).toMatch(/^ZooKeeper -server host:port/);
  expect(stderr).toMatch(/Command not found: Command not found frobnicate\n$/);
});

test("paths for a shell's completion are alone on stdout", async () => {
  const { stdout, stderr, status } = await run("completion", "paths", "/zook");
  expect([stdout, stderr, status]).toEqual(["/zookeeper\n", "", 0]);
});

test("what find prints is alone on stdout, for pipes", async () => {
  const { stdout, stderr, status } = await run("find", "/zookeeper", "--name", "quota");
  expect([stdout, stderr, status]).toEqual(["/zookeeper/quota\n", "", 0]);
});

test("commands are read as lines behind a byte-order mark, answers alone are printed, and the status is the first failure's", async () => {
  const lines = ["\uFEFFcreate /script x", "get /nope", "ls -R /script"];
  const { stdout, stderr, status } = await processes.script(lines);
  expect([stdout, stderr, status]).toEqual(["/script\n", "Created /script\nNode does not exist: /nope\n", 1]);
});

test("with --stop-on-error the first command that fails is the last one", async () => {
  const { stdout, stderr, status } = await script(["get /nope", "create /late"], "--stop-on-error");
  expect([stdout, stderr, status]).toEqual(["", "Node does not exist: /nope\n", 1]);
});

test("the greeting and the connection's events are printed with --verbose, and no event with --quiet", async () => {
  const verbose = await script(["ls /", "version"], "--verbose");
  expect(verbose.stdout).toContain("Welcome to ZooKeeper!");
  expect(verbose.stdout).toContain("type:None");
  const lines = ["create /quiet x", "get -w /quiet", "set /quiet y", "get /quiet"];
  expect((await script(lines, "--quiet")).stdout).toBe("x\ny\n");
});

describe("data", () => {
  test("come from standard input, from a file, or from a word with an @", async () => {
    const file = join(directory, "data.bin");
    writeFileSync(file, Uint8Array.of(0, 255, 10));
    await runs.script(["from", "stdin"], "create", "/piped", "-");
    expect((await run("--json", "get", "/piped")).stdout).toContain('"data":"from\\nstdin\\n"');
    await run("set", "/piped", `@${file}`);
    expect((await run("get", "--hex", "/piped")).stdout).toBe("00ff0a\n");
    await run("set", "/piped", "@@word");
    expect((await run("get", "/piped")).stdout).toBe("@word\n");
    await runs.script(["aGVsbG8="], "set", "-b", "/piped", "-");
    expect((await run("get", "/piped")).stdout).toBe("hello\n");
  });

  test("that cannot be had are an error, and change nothing", async () => {
    await run("create", "/kept", "kept");
    const large = join(directory, "large.bin");
    writeFileSync(large, Buffer.alloc(FRAME_BYTES_MAX + 1));
    expect((await run("set", "/kept", "@/no/such")).stderr).toContain("cannot be read");
    expect((await run("set", "/kept", `@${large}`)).stderr).toContain("bytes, and a request has at most");
    expect((await script(["set /kept -"])).stderr).toContain("name a file, as @file");
    expect((await run("get", "/kept")).stdout).toBe("kept\n");
  });
});

test.each([
  ["create", "/endless", "@/dev/zero"],
  ["set", "/", "@/dev/zero"],
  ["diff", "/", "--file", "/dev/zero"],
  ["reconfig", "-file", "/dev/zero"],
])("%s %s %s of a file without an end is refused", async (...words) => {
  const { stderr, status } = await run("-Djute.maxbuffer=100000", ...words);
  expect([stderr, status]).toEqual([expect.stringContaining("/dev/zero has more than 100000 bytes"), 1]);
});

test("a request that is too large for the server is refused before it is sent where the limit is known, else its size is in the error", async () => {
  const large = join(directory, "two-mebibytes.bin");
  writeFileSync(large, Buffer.alloc(2 * 1024 * 1024));
  await run("create", "/large");
  const known = await run("-Djute.maxbuffer=1048575", "set", "/large", `@${large}`);
  expect([known.stderr, known.status]).toEqual([expect.stringMatching(/has 2097152 bytes, and .* at most 1048575/), 1]);
  const unknown = await run("set", "/large", `@${large}`);
  expect(unknown.stderr).toMatch(
    /^KeeperErrorCode = ConnectionLoss for \/large \(the request has 20971\d\d bytes, and a server/,
  );
  const json = await run("--json", "set", "/large", `@${large}`);
  expect([objects(json.stdout), json.status]).toMatchObject([
    [{ error: { code: "CONNECTION_LOSS", hint: "store less in one node, or raise jute.maxbuffer at the servers" } }],
    3,
  ]);
});

test("lines of other systems are read: CRLF, a mark at the beginning, no end of the last line, and NUL in a path", async () => {
  const cli = processes.start();
  cli.child.stdin.end("\uFEFFcreate /crlf x\r\nget /crlf\r\nget /nul\u0000\r\nget /crlf");
  const { stdout, stderr, status } = await cli.ended;
  expect([stdout, status]).toEqual(["x\nx\n", 1]);
  expect(stderr).toMatch(/^Created \/crlf\nInvalid path string .*\n$/);
});

test("quit ends a script before its end", async () => {
  const { stdout } = await script(["quit", "version"]);
  expect(stdout).not.toContain("CLI version");
});

test("a watch armed by one line prints when another line changes the node", async () => {
  const { stdout } = await script(["create /watched x", "get -w /watched", "set /watched y", "get /watched"]);
  expect(stdout).toMatch(
    /\nWATCHER::\n\nWatchedEvent state:SyncConnected type:NodeDataChanged path:\/watched zxid: \d+\n/,
  );
});

test("history shows no credentials, and redo uses them", async () => {
  const { stdout } = await script(["addauth digest me:secret", "redo 0", "whoami", "history"]);
  expect(stdout).toContain("0 - addauth ***\n1 - addauth ***\n");
  expect(stdout).toContain("digest: me");
  expect(stdout).not.toContain("secret");
  const json = await script(["addauth digest me:secret", "member list --auth 'digest me:secret'", "history"], "--json");
  expect(json.stdout).toContain('"line":"member list --auth ***"');
  expect(json.stdout).not.toContain("secret");
});

describe("--json", () => {
  test("prints answers only on stdout, and events on stderr unless --quiet", async () => {
    const lines = ["create /told x", "get -w /told", "set /told y", "get /told"];
    const { stdout, stderr } = await script(lines, "--json");
    expect(objects(stdout).map(({ command }) => command)).toEqual(["create", "get", "set", "get"]);
    expect(objects(stderr)).toMatchObject([{ event: "NodeDataChanged", path: "/told" }]);
    const verbose = await script(["ls /"], "--json", "--verbose");
    expect(objects(verbose.stderr)).toMatchObject([{ event: "None", state: "SyncConnected" }]);
    expect((await script(["deleteall /told", ...lines], "--json", "--quiet")).stderr).toBe("");
  });

  test("prints one object for each command on stdout, errors too, with the finer statuses", async () => {
    const lines = [
      "create /json text",
      "create /json",
      "get /json",
      "set -v 7 /json x",
      "ls /nope",
      "get",
      "frobnicate",
    ];
    const { stdout, stderr, status } = await script(["printwatches off", ...lines], "--json");
    expect(stderr).toBe("");
    // The first failure's.
    expect(status).toBe(5);
    const found = objects(stdout).filter((object) => "command" in object);
    expect(found).toMatchObject([
      { command: "printwatches", printwatches: false },
      { command: "create", path: "/json", stat: { version: 0, dataLength: 4 } },
      { command: "create", error: { code: "NODE_EXISTS", path: "/json", hint: "write to it with set" } },
      { command: "get", path: "/json", data: "text" },
      { command: "set", error: { code: "BAD_VERSION", path: "/json" } },
      { command: "ls", error: { code: "NO_NODE", path: "/nope" } },
      { command: "get", error: { code: "USAGE" } },
      { command: "frobnicate", error: { code: "COMMAND_UNKNOWN" } },
    ]);
  });

  test("no error names classes of Java or zkCli's words, and each says what to do", async () => {
    const lines = ["ls /no/such", "ls -q /", "get -v", "create", "redo x", "gett /", "frobnicate", "addWatch -m X /"];
    const { stdout } = await script(["printwatches off", ...lines], "--json");
    const errors = objects(stdout)
      .filter((object) => "error" in object)
      .map(({ error }) => error as { readonly message: string; readonly hint: string });
    expect(errors).toHaveLength(lines.length);
    for (const { message, hint } of errors) {
      expect(message).not.toMatch(/org\.apache|KeeperErrorCode|Command not found/);
      expect(hint).not.toBe("");
      expect(hint).toEqual(expect.any(String));
    }
    expect(errors[1]).toMatchObject({ hint: "usage: ls [-s] [-w] [-R] path" });
    expect(errors[5]).toMatchObject({ hint: "the nearest is get" });
  });

  test.each([
    [0, ["ls", "/"]],
    [1, ["get", "/nope"]],
    [2, ["get", "nope"]],
    [2, ["--nope"]],
    [4, ["addauth", "nosuchscheme", "x"]],
    [5, ["create", "/zookeeper"]],
  ])("ends with %i for %j", async (expected, argv) => {
    const { stdout, status } = await run("--json", ...argv);
    expect(status).toBe(expected);
    expect(objects(stdout)).toHaveLength(1);
  });
});

describe("without a server", () => {
  test("a command fails as soon as every server has been tried", async () => {
    const port = await freePort();
    const plain = await run("-server", `127.0.0.1:${port},127.0.0.1:${port}`, "ls", "/");
    expect(plain.stderr).toBe(`KeeperErrorCode = ConnectionLoss for / (connect ECONNREFUSED 127.0.0.1:${port})\n`);
    expect(plain.status).toBe(1);
    expect((await run("-server", `127.0.0.1:${port}`, "--json", "ls", "/")).status).toBe(3);
  });

  test("one living server among dead ones is enough", async () => {
    const port = await freePort();
    const { status } = await run("-server", `127.0.0.1:${port},${server.connectString}`, "ls", "/");
    expect(status).toBe(0);
  });

  test("commands without a connection work", async () => {
    const { stdout, status } = await run("-server", `127.0.0.1:${await freePort()}`, "version");
    expect([results(stdout), status]).toEqual([expect.stringContaining("ZooKeeper CLI version: "), 0]);
  });

  test("-waitforconnection continues until the timeout", async () => {
    const argv = ["-server", `127.0.0.1:${await freePort()}`, "-timeout", "300", "-waitforconnection", "ls", "/"];
    const { stderr, status } = await run(...argv);
    expect([stderr, status]).toEqual([expect.stringMatching(/^zooid-cli: KeeperErrorCode = ConnectionLoss \(/), 1]);
  });
});

test("every byte of data survives in all formats", async () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
  const { status } = await run("create", "/binary");
  expect(status).toBe(0);
  await run("set", "-b", "/binary", bytes.toString("base64"));
  expect(results((await run("get", "-b", "/binary")).stdout)).toBe(`${bytes.toString("base64")}\n`);
  expect(results((await run("get", "--hex", "/binary")).stdout)).toBe(`${bytes.toString("hex")}\n`);
  expect(objects((await run("--json", "get", "/binary")).stdout)).toMatchObject([
    { data: bytes.toString("base64"), encoding: "base64" },
  ]);
});

test("deleteall counts first, deletes in batches, and leaves other nodes alone", async () => {
  const paths = ["/gone", ...Array.from({ length: 120 }, (_, i) => `/gone/${i}`), "/gone/7/deep", "/gone/7/deep/er"];
  await script(paths.map((path) => `create ${path}`));
  const dry = await run("deleteall", "/gone", "--dry-run");
  expect(results(dry.stdout)).toBe("123 nodes would be deleted\n");
  expect(objects((await run("--json", "deleteall", "/gone", "-b", "10")).stdout)).toMatchObject([{ deleted: 123 }]);
  expect((await run("stat", "/gone")).status).toBe(1);
  expect((await run("stat", "/zookeeper")).status).toBe(0);
});

test("a subtree that may not be deleted is zkCli's message with a status of its own, and an error in JSON", async () => {
  const plain = await run("deleteall", "/zookeeper");
  expect([plain.stderr, plain.status]).toEqual(["Failed to delete some node(s) in the subtree!\n", 1]);
  const fine = await run("--json", "deleteall", "/zookeeper");
  expect([objects(fine.stdout), fine.status]).toMatchObject([[{ error: { code: "BAD_ARGUMENTS" } }], 2]);
});

test.each([
  [[], "deleteall /zookeeper", "Failed to delete some node(s) in the subtree!"],
  [
    ["create /part", "create /part/locked x world:anyone:r"],
    "setAcl -R /part world:anyone:cdrwa",
    "KeeperErrorCode = NoAuth for /part/locked",
  ],
  [[], "setquota -n 0 /", "the num quota must be greater than zero"],
  [[], "setquota -n 5 /zookeeper/quota", "cannot set a quota under the path: /zookeeper/quota"],
  [["close"], "ls /", "Not connected"],
])("after %j, %s prints its failure, ends with 1, and stops a script", async (before, line, message) => {
  const { stdout, stderr, status } = await script([...before, line, "version"], "--stop-on-error");
  expect(stdout + stderr).toContain(message);
  expect(stdout).not.toContain("ZooKeeper CLI version");
  expect(status).toBe(1);
});

test("ls -R and tree show more siblings than are requested ahead, in order", async () => {
  const names = Array.from({ length: 70 }, (_, i) => String(i).padStart(2, "0"));
  await script(["create /wide", ...names.flatMap((name) => [`create /wide/${name}`, `create /wide/${name}/x${name}`])]);
  const expected = ["/wide", ...names.map((name) => `/wide/${name}`), ...names.map((name) => `/wide/${name}/x${name}`)];
  expect(
    results((await run("ls", "-R", "/wide")).stdout)
      .trim()
      .split("\n"),
  ).toEqual(expected);
});

test("a tree is drawn with its ephemerals, without colours if stdout is no terminal", async () => {
  const { stdout } = await script(["create /drawn", "create /drawn/a", "create -e /drawn/b", "tree /drawn"]);
  expect(results(stdout)).toContain("/drawn (2)\n├── a\n└── b *\n\n3 nodes, 1 of them ephemeral\n");
});

test("paths lie below the chroot", async () => {
  await script(["create /root", "create /root/inner x"]);
  const { stdout } = await run("-server", `${server.connectString}/root`, "ls", "-R", "/");
  expect(results(stdout)).toBe("/\n/inner\n");
  const missing = await run("-server", `${server.connectString}/root`, "get", "/root");
  expect(missing.stderr).toBe("Node does not exist: /root\n");
});

describe("watch", () => {
  test("prints events as they happen, and ends with the n-th event", async () => {
    await run("create", "/live");
    const watcher = start("--json", "watch", "-R", "--count", "2", "/live");
    await watcher.shows("watching /live");
    await script(["create /live/child", "set /live/child x"]);
    const { stdout, status } = await watcher.ended;
    expect(status).toBe(0);
    expect(objects(stdout)).toMatchObject([
      { event: "created", path: "/live/child", zxid: expect.stringMatching(/^0x/), time: expect.any(String) },
      { event: "data-changed", path: "/live/child" },
      { command: "watch", events: 2 },
    ]);
  });

  test("ends at Ctrl-C", async () => {
    const watcher = start("watch", "/");
    await watcher.shows("watching /");
    watcher.child.kill("SIGINT");
    expect((await watcher.ended).status).toBe(0);
  });
});

test("Ctrl-C closes the session: its ephemerals are gone at once", async () => {
  const cli = start();
  cli.child.stdin.write("create -e /mine\n");
  await cli.shows("Created /mine");
  cli.child.stdin.write("watch /mine\n");
  await cli.shows("watching /mine");
  cli.child.kill("SIGINT");
  await cli.ended;
  expect((await run("stat", "/mine")).status).toBe(1);
});

test("a reader that closes its end is no error", async () => {
  const cli = start("ls", "-R", "/");
  cli.child.stdout.destroy();
  const { stderr, status } = await cli.ended;
  expect([stderr, status]).toEqual(["", 0]);
});

test("-client-configuration takes what has a meaning and names what has none", async () => {
  const file = join(directory, "client.cfg");
  writeFileSync(file, "jute.maxbuffer=2048\nzookeeper.request.timeout=5\n");
  const { stderr, status } = await run("-client-configuration", file, "ls", "/");
  expect([stderr, status]).toEqual([`${file}: zookeeper.request.timeout has no effect here\n`, 0]);
});

test("--version and --help say it without a server", async () => {
  expect(await processes.run("--version")).toMatchObject({
    stdout: expect.stringMatching(/^zooid-cli \S+ on Node/),
    status: 0,
  });
  expect(await run("--help")).toMatchObject({ stdout: expect.stringMatching(/^zooid-cli \[options\]/), status: 0 });
});

describe("never a stack trace", () => {
  test.each([
    [["set", "-v", "abc", "/zookeeper", "x"]],
    [["set", "-b", "/zookeeper", "!!!"]],
    [["addWatch", "nope"]],
    [["redo", "x"]],
    [["listquota", "/"]],
    [["-timeout", "soon", "ls", "/"]],
    [["-server", "host:port", "ls", "/"]],
    [["-server", "", "ls", "/"]],
    [["-client-configuration", "/no/such/file", "ls", "/"]],
    [["reconfig", "-file", "/no/such/file"]],
    [["reconfig", "-remove", "1"]],
    [["watch", "--count", "x", "/"]],
    [["tree", "-d", "x"]],
    [["lock", "--timeout", "soon", "/x", "--", "true"]],
  ])("%j", async (argv) => {
    const { stderr, status } = await run(...argv);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^(absolute path is .*\n)?[^\n]+\n$/);
  });
});
