/**
 * Sends the same changes of the configuration, valid and not, to an ensemble of three of Apache
 * ZooKeeper and to one of zooid-server, each with a fourth server that is about to join, and
 * compares the answers: first those to plain requests, then what kazoo, go-zookeeper and Curator
 * make of them. Exit status 1 with the lines that differ.
 *
 *     npm run tool -- reconfig-comparison [--print]
 */
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildReconfigClients, fetchApacheJars } from "../clients.ts";
import { printDiff } from "../diff.ts";
import { JuteWriter } from "../jute.ts";
import { PeerProcess } from "../servers/peer-process.ts";
import { toolOptions } from "../tool-options.ts";
import { auth, OP, read, Transcript, Wire } from "../wire.ts";
import { ReconfigEnsemble, SUPER } from "./reconfig-ensemble.ts";

/** Printed by the client that continues without the server that it was given. */
const END_SERVER = "end the server";

const options = toolOptions({ print: false });
using temporary = mkdtempDisposableSync(join(tmpdir(), "reconfig-comparison-"));
const folder = temporary.path;
const jars = fetchApacheJars();
const clients = buildReconfigClients();
const theirs = await transcriptOf("apache", clients, jars);
const ours = await transcriptOf("zooid", clients);
if (options.print) console.log(theirs.join("\n"));
const difference = printDiff(theirs, ours);
if (difference === "") console.log(`same    ${theirs.length} answers of both servers`);
else {
  console.log(`differ  (- Apache ZooKeeper, + Zooid):\n${difference}`);
  process.exitCode = 1;
}

async function transcriptOf(
  kind: "apache" | "zooid",
  clients: readonly (readonly string[])[],
  jars?: string,
): Promise<readonly string[]> {
  await using ensemble = await ReconfigEnsemble.create({ kind, folder, ...(jars === undefined ? {} : { jars }) });
  const voters = [1, 2, 3].map((sid) => ensemble.line(sid));
  for (const sid of [1, 2, 3]) await ensemble.launch(sid, voters);
  const modes = [await ensemble.mode(1), await ensemble.mode(2), await ensemble.mode(3)];
  await ensemble.launch(4, [...voters, ensemble.line(4)]);
  await ensemble.mode(4);
  const follower = modes.indexOf("follower") + 1;
  const lines: string[] = [];
  await ask(ensemble, follower, lines);
  for (const command of clients) await runClient(command, { ensemble, follower, lines });
  return ensemble.comparable(lines);
}

/** A program of another client, which begins with servers 1 to 3. */
async function runClient(
  [program = "", ...args]: readonly string[],
  { ensemble, follower, lines }: { readonly ensemble: ReconfigEnsemble; readonly follower: number; lines: string[] },
): Promise<void> {
  const all = [1, 2, 3, 4, 5, 6, 7].map((sid) => ensemble.line(sid));
  const client = new PeerProcess(program, [...args, ensemble.address(follower), ...all]);
  for await (const said of client.answers()) {
    if (said === END_SERVER) {
      await ensemble.server(follower).kill();
      client.tell("ended");
    } else lines.push(said);
  }
  const status = await client.exit();
  if (status !== 0) lines.push(`${program} ended with ${status}`);
}

/** Every kind of change: first those that are refused, by a client without the permission too. */
async function ask(ensemble: ReconfigEnsemble, follower: number, lines: string[]): Promise<void> {
  const bare = (sid: number): string => ensemble.bare(sid);
  const line = (sid: number, role?: string): string => ensemble.line(sid, role);
  const wire = new Wire(ensemble.address(follower), new Transcript((text) => lines.push(text)));
  await wire.handshake("session");
  const show = (): Promise<void> => wire.ask("the configuration", OP.getData, read("/zookeeper/config"));
  const change = async (what: string, of: Change): Promise<void> => {
    await wire.ask(what, OP.reconfig, bodyOf(of));
  };
  await show();
  await change("without the permission", { joining: line(4) });
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
  await change("both leave", { leaving: "4,5" });
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
