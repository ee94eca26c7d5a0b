/**
 * kazoo, zkCli and `@zooid/client` on one server: what one does, the others see, watch and lose.
 *
 *     together-scenario.ts JARS PYTHON PEER HOST:PORT       prints one line for each step
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { connect } from "@zooid/client";
import { filter, firstValueFrom, map } from "rxjs";
import { QUIET_LOG, ZkCliCommandLine } from "../cli/zkcli-command-line.ts";

const [jars = "", python = "", peer = "", address = ""] = process.argv.slice(2);

/** clients/kazoo/peer.py. */
class KazooPeer {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers: AsyncIterator<string>;

  constructor() {
    this.#process = spawn(python, [peer, address], { stdio: ["pipe", "pipe", "inherit"] });
    this.#answers = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  async ask(...command: readonly unknown[]): Promise<string> {
    this.#process.stdin.write(`${JSON.stringify(command)}\n`);
    const { value } = await this.#answers.next();
    const answer = JSON.parse(String(value)) as { readonly ok?: unknown; readonly error?: string };
    return answer.error ?? JSON.stringify(answer.ok ?? null);
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.stdin.end();
    await ended;
  }
}

const folder = mkdtempSync(join(tmpdir(), "conformance-together-"));
writeFileSync(join(folder, "logback.xml"), QUIET_LOG);
const cli = new ZkCliCommandLine(`${folder}${delimiter}${jars}/*`, address);
await cli.run("");
// Its first event is about the session, not a node.
await cli.events(1);
const kazoo = new KazooPeer();
const zooid = await connect(address, { sessionTimeoutMs: 20_000 });

function say(who: string, what: string, answer: unknown): void {
  console.log(`${who.padEnd(6)} ${what}: ${answer}`);
}

/** Zxids and times differ from run to run. */
async function type(command: string): Promise<void> {
  const lines = await cli.run(command);
  const plain = lines.map((line) => line.replace(/0x[0-9a-f]+/g, "0x#").replace(/^([cm]time) = .*/, "$1 = #"));
  say("zkCli", command, plain.filter((line) => line !== "").join(" | "));
}

async function tell(...command: readonly unknown[]): Promise<void> {
  say("kazoo", command.join(" "), await kazoo.ask(...command));
}

async function textAt(path: string): Promise<string> {
  const { data } = await zooid.get(path);
  return data === null ? "null" : Buffer.from(data).toString();
}

// Nodes of each, read and changed by the others.
say("zooid", "create /zooid", (await zooid.create("/zooid", "from zooid")).path);
await tell("create", "/kazoo", "from kazoo");
await type("create /zkcli 'from zkCli'");
for (const path of ["/kazoo", "/zkcli"]) say("zooid", `get ${path}`, await textAt(path));
for (const path of ["/zooid", "/zkcli"]) await tell("get", path);
for (const path of ["/zooid", "/kazoo"]) await type(`get ${path}`);
say("zooid", "set /kazoo", (await zooid.set("/kazoo", "by zooid")).version);
await tell("set", "/zkcli", "by kazoo");
await type("set /zooid 'by zkCli'");
say("zooid", "get /zooid", await textAt("/zooid"));
await tell("get", "/kazoo");
await type("get -s /zkcli");

// Watches of each, fired by the others.
const data$ = zooid.watchData$("/zooid");
const changed = firstValueFrom(
  data$.pipe(
    filter((node) => node.exists && node.stat.version === 2),
    map((node) => (node.exists ? String(Buffer.from(node.data ?? [])) : "")),
  ),
);
const children = firstValueFrom(zooid.watchChildren$("/zkcli").pipe(filter((names) => names?.length === 1)));
const made = await zooid.exists("/later", { watch: true });
await tell("watch", "/kazoo");
await tell("watch_children", "/zkcli");
await type("get -w /zkcli");
await type("set /kazoo again");
await tell("event");
await tell("set", "/zooid", "again");
say("zooid", "data of /zooid", await changed);
await type("create /later");
say("zooid", "watch of /later", (await made.watch.fired).type);
say("zooid", "create /zkcli/child", (await zooid.create("/zkcli/child")).path);
await tell("event");
say("zooid", "children of /zkcli", await children);
say("zooid", "set /zkcli", (await zooid.set("/zkcli", "once more")).version);
say("zkCli", "event", (await cli.events(1))[0]?.replace(/zxid: \d+/, "zxid: #"));

// Ephemerals of each, lost with their sessions.
say(
  "zooid",
  "create -e /e-zooid",
  (await zooid.create("/e-zooid", "", { mode: "ephemeral" })).stat.ephemeralOwner !== 0n,
);
await tell("create", "/e-kazoo", "", true);
await type("create -e /e-zkcli");
await tell("children", "/");
await tell("is_mine", "/e-kazoo");
await tell("is_mine", "/e-zooid");
const kazooGone = await zooid.exists("/e-kazoo", { watch: true });
const cliGone = await zooid.exists("/e-zkcli", { watch: true });
const observer = await connect(address);
const zooidGone = await observer.exists("/e-zooid", { watch: true });
await kazoo.stop();
say("zooid", "watch of /e-kazoo", (await kazooGone.watch.fired).type);
await cli.quit();
say("zooid", "watch of /e-zkcli", (await cliGone.watch.fired).type);
await zooid.close();
say("zooid", "watch of /e-zooid", (await zooidGone.watch.fired).type);
say("zooid", "children of /", (await observer.children("/")).names.sort());
await observer.close();
rmSync(folder, { recursive: true });
