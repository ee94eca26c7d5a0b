/**
 * The admin server's commands, which operators' scripts read, while one session holds watches and
 * an ephemeral node.
 *
 *     admin-scenario.ts HOST:PORT HOST:ADMINPORT       prints the answer of each command
 *
 * The keys of objects are printed, sorted, since Apache's are in the order of a hash table; of
 * values the type. Facts about the machine or the implementation are left out.
 */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { RawConnection } from "@zooid/wire/testing/raw-connection";
import { JuteWriter } from "../jute.ts";

const [host = "", portText = ""] = (process.argv[2] ?? "").split(":");
const [adminHost = "", adminPort = ""] = (process.argv[3] ?? "").split(":");

const session = RawConnection.to({ host, port: Number(portText) });

await exchange(new JuteWriter().int(0).long(0n).int(30_000).long(0n).buffer(Buffer.alloc(16)).bool(false).bytes());
const create = new JuteWriter().int(1).int(1).string("/ephemeral").string("").int(1).int(31);
await exchange(create.string("world").string("anyone").int(1).bytes());
await exchange(new JuteWriter().int(2).int(3).string("/ephemeral").bool(true).bytes());
await exchange(new JuteWriter().int(3).int(8).string("/").bool(true).bytes());

const list = await ask("GET", "/commands");
console.log(`the list: ${list.status}`);
for (const line of list.body.trimEnd().split("\n")) console.log(`  ${line}`);

for (const name of [
  ...["configuration", "conf", "config", "connections", "cons", "dirs", "dump", "environment", "env", "envi"],
  ...["get_trace_mask", "gtmk", "set_trace_mask", "stmk?traceMask=7", "stmk?traceMask=x", "hash"],
  ...["initial_configuration", "icfg", "is_read_only", "isro", "last_snapshot", "lsnp", "leader", "lead"],
  ...["observers", "obsr", "ruok", "server_stats", "srvr", "stats", "stat", "voting_view"],
  ...["watches", "wchc", "watches_by_path", "wchp", "watch_summary", "wchs", "zabstate", "mntr"],
  ...["connection_stat_reset", "crst", "stat_reset", "srst", "observer_connection_stat_reset", "orst"],
  ...["snapshot", "snap", "nope", "ruok/x"],
]) {
  const { status, type, body } = await ask("GET", `/commands/${name}`);
  console.log(`${name}: ${status} ${type}`);
  for (const line of shape(JSON.parse(body))) console.log(`  ${line}`);
}
console.log("other methods and paths:");
for (const [method, path] of [
  ["POST", "/commands/nope"],
  ["POST", "/commands/restore"],
  ["POST", "/commands"],
  ["PUT", "/commands/ruok"],
  ["DELETE", "/commands/ruok"],
  ["TRACE", "/commands/ruok"],
  ["HEAD", "/commands/ruok"],
  ["GET", "/"],
  ["GET", "/commands/"],
  ["GET", "//commands/ruok"],
  ["GET", "/commands/..%2fruok"],
] as const) {
  console.log(`  ${method} ${path}: ${(await ask(method, path)).status}`);
}
console.log("who may take all data away:");
for (const authorization of ["digest", "nope a:b", "x509"]) {
  const { status, body } = await ask("GET", "/commands/snapshot", { authorization });
  console.log(`  ${authorization}: ${status} ${JSON.parse(body).error}`);
}
await session[Symbol.asyncDispose]();

async function exchange(payload: Buffer): Promise<void> {
  session.sendFrame(payload);
  // Events may arrive before the answer.
  while ((await session.frame()).readInt32BE(0) === -1);
}

interface AdminAnswer {
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly body: string;
}

async function ask(method: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<AdminAnswer> {
  const sent = request({ host: adminHost, port: Number(adminPort), method, path, headers, agent: false }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let body = "";
  for await (const chunk of response.setEncoding("utf8")) body += chunk;
  return { status: response.statusCode, type: response.headers["content-type"], body };
}

/** A line for each value of an object: its keys, and its type or value. */
function shape(value: unknown, prefix = ""): readonly string[] {
  if (Array.isArray(value))
    return value.length === 0 ? [`${prefix}[]`] : value.flatMap((one) => shape(one, `${prefix}[]`));
  if (typeof value === "object" && value !== null) {
    const lines = Object.entries(value).flatMap(([key, one]) =>
      shape(one, `${prefix}.${/^-?\d+$/.test(key) ? "#" : key}`),
    );
    // A bucket of sessions may be empty.
    return lines.length === 0
      ? [`${prefix}{}`]
      : [...new Set(lines.filter((line) => !/\.#\[\]$/.test(line)))].filter(isTold).sort();
  }
  if (typeof value === "number") return [`${prefix}: number`];
  return [`${prefix}: ${isOfMachine(prefix) ? "text" : JSON.stringify(value)}`];
}

function isOfMachine(key: string): boolean {
  return /^\.((java|os|user|host|zookeeper)\.|version$|data_|initial_configuration|connections\[\]\.remote)/.test(key);
}

/** As for `mntr`, see words-scenario.ts. */
function isTold(line: string): boolean {
  return !/^\.(.*zooid_|.*_client_response_size:|.*_per_namespace:|m(in|ax)_(fsynctime|snapshottime|sync_processor_batch_size):)/.test(
    line,
  );
}
