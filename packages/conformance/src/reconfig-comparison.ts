/**
 * Sends the same changes of the configuration, valid and not, to an ensemble of three of Apache
 * ZooKeeper and to one of zooid-server, each with a fourth server that is about to join, and
 * compares the answers. Exit status 1 with the lines that differ.
 *
 *     npm run tool -- reconfig-comparison [--print]
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { fetchApacheJars } from "./clients.ts";
import { diffLines, printDiff } from "./diff.ts";
import { fourLetterWord, ServerProcess } from "./endpoint.ts";
import { JuteWriter } from "./jute.ts";
import { auth, digest, OP, read, Transcript, Wire } from "./wire.ts";

const SIDS = [1, 2, 3, 4, 5, 6, 7] as const;
const PORTS_PER_SERVER = 3;
const SERVING_DEADLINE_MS = 60_000;
const SUPER = "super:secret";

const { values: options } = parseArgs({ options: { print: { type: "boolean", default: false } } });
const folder = mkdtempSync(join(tmpdir(), "reconfig-comparison-"));
try {
  const theirs = await transcriptOf("apache", fetchApacheJars());
  const ours = await transcriptOf("zooid");
  if (options.print) console.log(theirs.join("\n"));
  const difference = printDiff(diffLines(theirs, ours));
  if (difference === "") console.log(`same    ${theirs.length} answers of both servers`);
  else {
    console.log(`differ  (- Apache ZooKeeper, + Zooid):\n${difference}`);
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

interface Places {
  /** `server.N=…`, with its role and without its client port. */
  bare(sid: number, role?: string): string;
  /** The same with its client port. */
  line(sid: number, role?: string): string;
}

async function transcriptOf(kind: "apache" | "zooid", jars?: string): Promise<readonly string[]> {
  const ports = await freePorts(SIDS.length * PORTS_PER_SERVER);
  const portOf = (sid: number, which: number): number => ports[(sid - 1) * PORTS_PER_SERVER + which] ?? 0;
  const bare = (sid: number, role = ":participant"): string =>
    `server.${sid}=127.0.0.1:${portOf(sid, 0)}:${portOf(sid, 1)}${role}`;
  const line = (sid: number, role?: string): string => `${bare(sid, role)};127.0.0.1:${portOf(sid, 2)}`;
  const servers = [1, 2, 3, 4].map((sid) => {
    const own = join(folder, `${kind}-${sid}`);
    mkdirSync(own);
    const listed = [1, 2, 3, ...(sid === 4 ? [4] : [])].map((other) => line(other));
    const superDigest = `DigestAuthenticationProvider.superDigest=${digest(SUPER)}`;
    const settings = [...listed, "initLimit=10", "syncLimit=5", "reconfigEnabled=true", superDigest];
    return new ServerProcess({
      ...{ kind, folder: own, settings, sid, port: portOf(sid, 2) },
      ...(jars === undefined ? {} : { jars, properties: [`-Dzookeeper.${superDigest}`] }),
    });
  });
  const lines: string[] = [];
  try {
    for (const server of servers.slice(0, 3)) await server.launch();
    for (const server of servers.slice(0, 3)) await serving(server.port);
    await servers[3]?.start();
    const follower = await followerAmong(servers.slice(0, 3).map(({ port }) => port));
    await ask(`127.0.0.1:${follower}`, { bare, line }, lines);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
  // The ports, and the versions in the order of their appearance, stand for themselves.
  const versions: string[] = [];
  return lines.map((text) =>
    ports
      .reduce(
        (said, port, i) => said.replaceAll(`:${port}`, `:P${Math.floor(i / PORTS_PER_SERVER) + 1}.${i % 3}`),
        text,
      )
      .replace(/version=([0-9a-f]+)/g, (_, version: string) => {
        if (!versions.includes(version)) versions.push(version);
        return `version=#${versions.indexOf(version)}`;
      })
      .replace(/zxid \S+ |now-\d+|\(c [^)]*\)/g, ""),
  );
}

/** Every kind of change: first those that are refused, by a client without the permission too. */
async function ask(address: string, { bare, line }: Places, lines: string[]): Promise<void> {
  const wire = new Wire(address, new Transcript((text) => lines.push(text)));
  await wire.handshake("session");
  const show = (): Promise<void> => wire.ask("the configuration", OP.getData, read("/zookeeper/config"));
  const change = async (what: string, of: Change): Promise<void> => {
    await wire.ask(what, OP.reconfig, bodyOf(of));
  };
  await show();
  await change("without the permission", { joining: line(4) });
  await change("without the permission, and wrong", { joining: "server.4" });
  await wire.ask("super", OP.auth, auth("digest", SUPER), -4);
  await change("from another version", { joining: line(4), version: 7n });
  await change("no line", { joining: "server.4" });
  await change("another key", { joining: bare(4).replace("server", "servant") });
  await change("no number", { joining: line(4).replace("server.4", "server.x") });
  await change("no number at all", { joining: line(4).replace("server.4", "server") });
  await change("an empty number", { joining: line(4).replace("server.4", "server.") });
  await change("two values", { joining: line(4).replace("server.4=", "server.4=5=") });
  await change("by its number, without a client port", { joining: bare(4).replace("server.4", "4") });
  await change("without a client port", { joining: bare(4) });
  await change("without an election port", { joining: "server.4=127.0.0.1:7;2181" });
  await change("another role", { joining: line(4, ":witness") });
  await change("no number leaves", { leaving: "three" });
  await change("one leaves by its line's name", { leaving: "server.3" });
  await change("the number of one that leaves is followed by a letter", { leaving: "3x" });
  await change("too many leave", { leaving: "1,2" });
  await change("all leave", { leaving: "1,2,3" });
  await change("too many that do not run", { joining: [5, 6, 7].map((sid) => line(sid)).join(",") });
  await change("members that are none", { members: "server.1" });
  await change("members with another setting", { members: `${line(1)},${line(2)},tickTime=5` });
  await change("members that do not run", { members: [5, 6, 7].map((sid) => line(sid)).join(",") });
  await change("one member", { members: line(1) });
  await change("a group without members", { members: `${line(1)},${line(2)},group.1=1` });
  await show();
  await change("nothing", {});
  await change("an unknown one leaves", { leaving: "9" });
  await change("one joins", { joining: line(4) });
  await show();
  await change("one observes", { joining: line(4, ":observer") });
  await change("it votes again, by members", { members: [1, 2, 3, 4].map((sid) => line(sid)).join(",") });
  await change("one that does not run joins", { joining: line(5) });
  await change("it leaves, with one that is unknown", { leaving: "5, 8" });
  await change("it joins by its number alone", { joining: line(5, ":observer").replace("server.5", "5") });
  await change("it moves, behind another name", { joining: line(5).replace("server.5", "any.name.5") });
  await change("it leaves", { leaving: "5" });
  await show();
  wire.end();
}

interface Change {
  readonly joining?: string;
  readonly leaving?: string;
  readonly members?: string;
  readonly version?: bigint;
}

function bodyOf({ joining, leaving, members, version = -1n }: Change): Buffer {
  const writer = new JuteWriter();
  for (const text of [joining, leaving, members]) {
    if (text === undefined) writer.int(-1);
    else writer.string(text);
  }
  return writer.long(version).bytes();
}

async function serving(port: number): Promise<void> {
  const deadline = Date.now() + SERVING_DEADLINE_MS;
  while (!(await fourLetterWord(port, "srvr")).includes("Mode:")) {
    if (Date.now() > deadline) throw new Error(`no server serves on port ${port}`);
    await delay(50);
  }
}

async function followerAmong(ports: readonly number[]): Promise<number> {
  for (const port of ports) if ((await fourLetterWord(port, "srvr")).includes("Mode: follower")) return port;
  throw new Error("no server follows");
}
