import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { describe, expect, test } from "vitest";
import { BIN, eachInDirectory, ServerProcess, start } from "../testing/server-process.ts";
import { ExitStatus } from "./exit-status.ts";

// Each way in which the process ends, with its last words, on each kind of output.

const directory = eachInDirectory();

/** A setting that is warned of: the last words come behind all warnings. */
const WARNED = "snapCount=1";
const PORTS = ["--port", "0", "--set", "admin.serverPort=0", "--set", WARNED, "--data", "data"];

interface Ending {
  readonly status: number;
  /** Arguments behind those of every server, or a whole command line. */
  readonly argv?: readonly string[];
  readonly command?: readonly string[];
  /** Makes what the end is about. */
  readonly arrange?: () => Promise<AsyncDisposable | undefined> | undefined;
  readonly sentence: RegExp;
}

const ENDINGS: Readonly<Record<keyof typeof ExitStatus, Ending>> = {
  OK: { status: 0, command: ["--version"], sentence: /^zooid-server \d\S* on Node\.js \d\S*$/ },
  UNEXPECTED: {
    status: 1,
    command: ["status", "--port", "1", "--set", "admin.enableServer=false"],
    sentence: /^Error contacting service\. It is probably not running\.|connect ECONNREFUSED/,
  },
  CONFIG: {
    status: 2,
    argv: ["--set", "maxCnxns=-7"],
    sentence: /^maxCnxns \(--set\) is a whole number from 0 to \d+, found -7$/,
  },
  DATA_IN_USE: {
    status: 3,
    arrange: async () => {
      const first = start();
      await first.ready();
      return { [Symbol.asyncDispose]: () => stopped(first) };
    },
    sentence: /^\S+data is in use by process \d+/,
  },
  TARGET: {
    status: 4,
    command: ["backup", "list", "nowhere"],
    sentence: /^zooid-server: \S+nowhere does not exist: no directory is there; make it, or mount its disk$/,
  },
  PORT: {
    status: 5,
    arrange: async () => {
      const taken = createServer().listen(0, "127.0.0.1");
      await once(taken, "listening");
      const address = taken.address();
      if (address === null || typeof address === "string") throw new Error("a port is bound");
      writeFileSync(join(directory(), "zoo.cfg"), `dataDir=data\nclientPort=${address.port}\n${WARNED}\n`);
      return {
        async [Symbol.asyncDispose]() {
          taken.close();
          await once(taken, "close");
        },
      };
    },
    command: ["zoo.cfg", "--set", "admin.serverPort=0", "--address", "127.0.0.1"],
    sentence: /^port \d+ on 127\.0\.0\.1 is taken by another process, .*clientPort in \S+zoo\.cfg/,
  },
  REFUSED: {
    status: 6,
    arrange: () => withData(() => {}),
    command: ["recover", "--data", "data", "--as-member", "1=127.0.0.1:1:2;3"],
    sentence: /^zooid-server: \S/,
  },
  DATA_UNREADABLE: {
    status: 7,
    arrange: () => {
      writeFileSync(join(directory(), "data"), "mine");
      return undefined;
    },
    sentence: /^the data directory cannot be used: |^\S+data cannot be used: /,
  },
  STORAGE_FAILED: {
    status: 20,
    arrange: () =>
      withData((data) => {
        // The index of a log cannot be opened where a directory has its name.
        for (const name of readdirSync(data).filter((each) => /^log-.*-shm$/.test(each))) {
          rmSync(join(data, name));
          mkdirSync(join(data, name));
        }
      }),
    sentence: /^\S+data could not be written: /,
  },
  DATA_DAMAGED: {
    status: 21,
    arrange: () =>
      withData((data) => {
        const bytes = readFileSync(join(data, "state-1.db"));
        const at = bytes.indexOf("quota");
        bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
        writeFileSync(join(data, "state-1.db"), bytes);
      }),
    sentence: /^\S+state-1\.db is damaged at .*; nothing was changed; run "mv /,
  },
  DATA_FOREIGN: {
    status: 22,
    arrange: () => {
      mkdirSync(join(directory(), "data", "version-2"), { recursive: true });
      writeFileSync(join(directory(), "data", "version-2", "snapshot.0"), "ZKSN");
      return undefined;
    },
    sentence: /^\S+data is not this server's: .*; nothing was changed; to take the data over/,
  },
  DATA_NEWER: {
    status: 23,
    arrange: () =>
      withData((data) => {
        const mark = new DatabaseSync(join(data, "log.db"));
        mark.exec("UPDATE store SET format = 99, level = 9, since = '9.0.0'; PRAGMA user_version = 99");
        mark.close();
      }),
    sentence:
      /^\S+log\.db has format 99 of feature level 9, which version 9\.0\.0 and later know, this version knows formats up to \d+; nothing was changed$/,
  },
};

/** Lets a server make its data, and changes them. */
async function withData(change: (data: string) => void): Promise<undefined> {
  const first = start();
  await first.ready();
  await stopped(first);
  change(join(directory(), "data"));
}

async function stopped(server: ServerProcess): Promise<void> {
  server.kill("SIGTERM");
  await server.ended();
}

test("every status has its ending here", () => {
  expect(Object.values(ENDINGS).map(({ status }) => status)).toEqual(Object.values(ExitStatus));
});

describe("the end of a process has its status, and its last words are one sentence on a terminal, a pipe and in a file:", () => {
  test.each(Object.entries(ENDINGS))("%s", async (_, { status, argv = [], command, arrange, sentence }) => {
    await using _held = await arrange?.();
    const line = [BIN, ...(command ?? [...PORTS, ...argv])];
    // A command prints its answer; a server writes its log.
    const isServer = command === undefined || command[0] === "zoo.cfg";

    const pipe = new ServerProcess([], [line[0] ?? "", ...line.slice(1)]);
    expect(await pipe.ended()).toEqual([status, null]);
    expect(lastWords(pipe.output + pipe.errors, isServer)).toMatch(sentence);
    if (isServer) expect(pipe.errors).toBe("");

    const file = new ServerProcess([], ["sh", "-c", `exec "$0" "$@" > file.log 2>&1`, ...line]);
    expect(await file.ended()).toEqual([status, null]);
    const written = readFileSync(join(directory(), "file.log"), "utf8");
    expect(lastWords(written, isServer)).toMatch(sentence);
    if (isServer && status !== ExitStatus.CONFIG) expect(written).toContain("snapCount");

    const shell = line.map((word) => `'${word}'`).join(" ");
    const terminal = new ServerProcess([], ["script", "-qec", shell, "/dev/null"]);
    expect(await terminal.ended()).toEqual([status, null]);
    const words = lastLine(plain(terminal.output)).replace(/^\[[^\]]*\] ERROR: /, "");
    expect(words).toMatch(sentence);
    for (const output of [pipe.output + pipe.errors, written, terminal.output])
      expect(output).not.toMatch(/^\s+at .*:\d+:\d+\)?\s*$/m);
  });
});

test("an output that takes no line ends neither a start nor a server", async () => {
  const [port = 0] = await freePorts(1);
  const settings = [
    "--data",
    "data",
    "--port",
    `${port}`,
    "--set",
    "admin.enableServer=false",
    "--set",
    "4lw.commands.whitelist=ruok",
  ];
  const full = (argv: readonly string[]): ServerProcess =>
    new ServerProcess([], ["sh", "-c", `exec "$0" "$@" > /dev/full`, BIN, ...argv]);
  const server = full([...settings, "--set", WARNED]);
  await expect.poll(() => say(port, "ruok")).toBe("imok");
  // Each is answered by a line of the log.
  server.kill("SIGUSR1");
  server.kill("SIGHUP");
  await expect.poll(() => say(port, "ruok")).toBe("imok");
  server.kill("SIGTERM");
  expect([await server.ended(), server.errors]).toEqual([[0, null], ""]);
  const refused = full([...settings, "--set", "maxCnxns=-7"]);
  expect([await refused.ended(), refused.errors]).toEqual([[ExitStatus.CONFIG, null], ""]);
});

/** The answer to a four-letter word; undefined where nothing answers. */
async function say(port: number, word: string): Promise<string | undefined> {
  const socket = connect(port, "127.0.0.1", () => socket.end(word));
  try {
    return (await socket.toArray()).join("");
  } catch {
    return undefined;
  }
}

/** The text of the last line of a server's log, which has the event of a failed start. */
function lastWords(output: string, isServer: boolean): string {
  const line = lastLine(output);
  if (!isServer) return line;
  const { event, msg } = JSON.parse(line) as { readonly event: string; readonly msg: string };
  expect(event).toBe("start-failed");
  return msg;
}

function lastLine(output: string): string {
  return output.trimEnd().split(/\r?\n/).at(-1) ?? "";
}

/** Without the colours of a terminal. */
function plain(output: string): string {
  return output.replace(new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g"), "");
}
