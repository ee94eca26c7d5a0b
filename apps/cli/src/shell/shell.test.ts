import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { Connection } from "../connection/connection.ts";
import { Interpreter } from "../interpreter.ts";
import { Output } from "../output.ts";
import { connectionTo } from "../testing/session.ts";
import { Shell } from "./shell.ts";

// A shell at a terminal of two streams, and a server with real sockets.

let server: ZooidServer;
let directory = "";
let historyFile = "";
let runCount = 0;
beforeAll(async () => {
  server = await startServer({ port: 0 });
  directory = mkdtempSync(join(tmpdir(), "zooid-shell-"));
});
beforeEach(() => {
  historyFile = join(directory, `history-${++runCount}`);
});
afterEach(() => vi.unstubAllEnvs());
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const CTRL_R = "\u0012";
const CTRL_G = "\u0007";
const LEFT = "\u001b[D";
const UP = "\u001b[A";

class Terminal implements AsyncDisposable {
  readonly #keys = new PassThrough();
  readonly #screen = new PassThrough();
  readonly #connection: Connection;
  readonly ended: Promise<void>;
  #shown = "";
  #seen = 0;
  #wake: () => void = () => undefined;

  constructor() {
    this.#screen.setEncoding("utf8").on("data", (text: string) => {
      this.#shown += text;
      this.#wake();
    });
    const shell = new Shell({ input: this.#keys, output: this.#screen, historyFile });
    const write = shell.around((text) => this.#screen.write(text));
    const output = new Output({ format: "text", stdout: write, stderr: write });
    this.#connection = connectionTo(server.connectString, output);
    this.ended = this.#run(shell, output);
  }

  type(keys: string): void {
    this.#keys.write(keys);
  }

  /** Types keys one by one: input in one piece counts as pasted, and completes nothing. */
  async types(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      const before = this.#shown.length;
      this.#keys.write(key);
      while (this.#shown.length === before) await this.#more();
    }
  }

  /** Resolves when a text has arrived since the last wait. */
  async shows(text: string): Promise<void> {
    for (;;) {
      const at = this.#shown.indexOf(text, this.#seen);
      if (at !== -1) {
        this.#seen = at + text.length;
        return;
      }
      await this.#more();
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#keys.end();
    await this.ended;
  }

  async #run(shell: Shell, output: Output): Promise<void> {
    await this.#connection.open();
    await shell.run(new Interpreter(this.#connection, output), this.#connection);
    await this.#connection.close();
  }
}

function prompt(number: number, state = "CONNECTED"): string {
  return `[zk: ${server.connectString}(${state}) ${number}] `;
}

test("the prompt shows the server, the state and the number of the line", async () => {
  await using terminal = new Terminal();
  await terminal.shows(prompt(0));
  terminal.type("create /prompt\r");
  await terminal.shows("Created /prompt\n");
  await terminal.shows(prompt(1));
  terminal.type("close\r");
  await terminal.shows(prompt(2, "CLOSED"));
  terminal.type("ls /\r");
  await terminal.shows("Not connected\n");
  terminal.type("connect\r");
  await terminal.shows("state:SyncConnected");
  await terminal.shows(prompt(4));
});

test("an event is printed above the line that is being typed, which stays", async () => {
  await using terminal = new Terminal();
  await using other = new Terminal();
  await terminal.shows(prompt(0));
  terminal.type("create /event x\r");
  await terminal.shows(prompt(1));
  terminal.type("get -w /event\r");
  await terminal.shows(prompt(2));
  terminal.type("half a li");
  await terminal.shows("half a li");
  await other.shows(prompt(0));
  other.type("set /event y\r");
  await terminal.shows("type:NodeDataChanged path:/event");
  await terminal.shows(`${prompt(2)}half a li`);
});

test("Tab completes a command, and a path by asking the server", async () => {
  await using terminal = new Terminal();
  await terminal.shows(prompt(0));
  await terminal.types("whoa", "\t", "\r");
  await terminal.shows("Auth scheme: User");
  await terminal.shows(prompt(1));
  await terminal.types("ls /zoo", "\t", "/conf", "\t", "\r");
  await terminal.shows("[]\n");
});

test("lines that are pasted, or typed while a command runs, wait for their turn", async () => {
  await using terminal = new Terminal();
  await terminal.shows(prompt(0));
  terminal.type("create /pasted\rcreate /pasted/a\rls /pasted\r");
  await terminal.shows("Created /pasted\n");
  await terminal.shows("Created /pasted/a\n");
  await terminal.shows("[a]\n");
});

test("Ctrl-C drops the line being typed, then leaves on an empty one", async () => {
  const terminal = new Terminal();
  await terminal.shows(prompt(0));
  terminal.type("create /never");
  await terminal.shows("/never");
  terminal.type(CTRL_C);
  terminal.type("stat /never\r");
  await terminal.shows("Node does not exist: /never");
  await terminal.shows(prompt(1));
  terminal.type(CTRL_C);
  await terminal.ended;
});

test("Ctrl-C cancels the command, and the shell continues", async () => {
  await using terminal = new Terminal();
  await terminal.shows(prompt(0));
  terminal.type("watch /\r");
  await terminal.shows("watching /");
  terminal.type(CTRL_C);
  await terminal.shows(prompt(1));
});

test("Ctrl-D and quit end the shell", async () => {
  const first = new Terminal();
  await first.shows(prompt(0));
  first.type(CTRL_D);
  await first.ended;
  const second = new Terminal();
  await second.shows(prompt(0));
  second.type("quit\r");
  await second.ended;
});

test("typed lines can be recalled in the next run", async () => {
  const first = new Terminal();
  await first.shows(prompt(0));
  first.type("get /zookeeper/config -s\r");
  await first.shows(prompt(1));
  first.type(CTRL_D);
  await first.ended;
  expect(readFileSync(historyFile, "utf8")).toBe("get /zookeeper/config -s\n");

  writeFileSync(historyFile, "create /from-history\nls /\n");
  await using second = new Terminal();
  await second.shows(prompt(0));
  second.type(`${UP}${UP}\r`);
  await second.shows("Created /from-history");
});

test("history and redo count the lines of this run", async () => {
  await using terminal = new Terminal();
  await terminal.shows(prompt(0));
  terminal.type("create -s /redone-\r");
  await terminal.shows("Created /redone-");
  await terminal.shows(prompt(1));
  terminal.type("redo 0\r");
  await terminal.shows("Created /redone-");
  await terminal.shows(prompt(2));
  terminal.type("history\r");
  await terminal.shows("0 - create -s /redone-\n1 - create -s /redone-\n2 - history\n");
});

test("Ctrl-R finds a line of an earlier run, and Enter runs it", async () => {
  writeFileSync(historyFile, "create /found-again x\nls /nope\n");
  await using terminal = new Terminal();
  await terminal.shows(prompt(0));
  await terminal.types(CTRL_R, "found");
  await terminal.shows("(reverse-i-search)`found': create /found-again x");
  terminal.type("\r");
  await terminal.shows("Created /found-again\n");
  await terminal.shows(prompt(1));
});

test("an arrow key edits the line found, and Ctrl-G returns to the line that was typed", async () => {
  writeFileSync(historyFile, "create /edited xy\n");
  await using terminal = new Terminal();
  await terminal.shows(prompt(0));
  terminal.type("stat /typed");
  await terminal.shows("stat /typed");
  await terminal.types(CTRL_R, "edit", CTRL_G);
  await terminal.shows(`${prompt(0)}stat /typed`);
  await terminal.types(CTRL_R, "edit", LEFT, "-", "\r");
  await terminal.shows("Created /edited\n");
  terminal.type("get /edited\r");
  await terminal.shows("x-y\n");
});

test("an event during a search is printed above it", async () => {
  writeFileSync(historyFile, "ls /somewhere\n");
  await using terminal = new Terminal();
  await using other = new Terminal();
  await terminal.shows(prompt(0));
  terminal.type("create /searched x\rget -w /searched\r");
  await terminal.shows(prompt(2));
  await terminal.types(CTRL_R, "somewh");
  await other.shows(prompt(0));
  other.type("set /searched y\r");
  await terminal.shows("type:NodeDataChanged path:/searched");
  await terminal.shows("(reverse-i-search)`somewh': ls /somewhere");
});

test("edit asks before it writes", async () => {
  vi.stubEnv("VISUAL", "sed -i s/old/new/");
  await using terminal = new Terminal();
  await terminal.shows(prompt(0));
  terminal.type("create /asked old\redit /asked\r");
  await terminal.shows("write this to /asked? [y/N] ");
  terminal.type("n\r");
  await terminal.shows("not written");
  await terminal.shows(prompt(2));
  terminal.type("edit /asked\r");
  await terminal.shows("write this to /asked? [y/N] ");
  terminal.type("y\r");
  await terminal.shows("/asked has version 1\n");
  await terminal.shows(prompt(3));
});

test("Ctrl-C at a question gives the command up", async () => {
  vi.stubEnv("VISUAL", "sed -i s/old/new/");
  await using terminal = new Terminal();
  await terminal.shows(prompt(0));
  terminal.type("create /unasked old\redit /unasked\r");
  await terminal.shows("write this to /unasked? [y/N] ");
  terminal.type(CTRL_C);
  await terminal.shows(prompt(2));
  terminal.type("get /unasked\r");
  await terminal.shows("old\n");
});
