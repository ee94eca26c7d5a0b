/**
 * The four-letter words that operators and their tools read, while one session holds watches and an
 * ephemeral node.
 *
 *     words-scenario.ts HOST:PORT       prints the answer of each word
 *
 * Numbers, versions, dates and facts about the machine become `#`.
 */

import { RawConnection } from "@zooid/wire/testing/raw-connection";
import { JuteWriter } from "../jute.ts";
import { fourLetterWord } from "../servers/endpoint.ts";

const OP = {
  create: 1,
  exists: 3,
  checkWatches: 17,
  removeWatches: 18,
  getEphemerals: 103,
  getAllChildrenNumber: 104,
  addWatch: 106,
  whoAmI: 107,
} as const;
const [host = "", portText = ""] = (process.argv[2] ?? "").split(":");
const port = Number(portText);

const session = RawConnection.to({ host, port });

await exchange(new JuteWriter().int(0).long(0n).int(30_000).long(0n).buffer(Buffer.alloc(16)).bool(false).bytes());
const create = new JuteWriter().int(1).int(OP.create).string("/ephemeral").string("").int(1).int(31);
await exchange(create.string("world").string("anyone").int(1).bytes());
await exchange(new JuteWriter().int(2).int(OP.exists).string("/ephemeral").bool(true).bytes());
await exchange(new JuteWriter().int(3).int(OP.addWatch).string("/ephemeral").int(0).bytes());
await exchange(new JuteWriter().int(4).int(OP.addWatch).string("/").int(1).bytes());

for (const word of [
  "ruok",
  "isro",
  "srvr",
  "stat",
  "cons",
  "wchs",
  "wchc",
  "wchp",
  "dump",
  "conf",
  "dirs",
  "envi",
  "gtmk",
  "stmk\0\0\0\0\0\0\x01\x2d",
  "gtmk",
  "stmk\0\0\0\0\0\0\x01\x32",
  "hash",
  "crst",
  "cons",
  "srst",
  "nope",
  "RUOK",
]) {
  console.log(`${word.slice(0, 4)}:`);
  const answer = await fourLetterWord(port, word);
  const shown = lines(answer);
  // Listings of watches are unordered.
  for (const line of /^wch[cp]/.test(word) ? shown.toSorted() : shown) console.log(`  ${line}`);
}
console.log("mntr, the names, sorted, and what kind of value:");
for (const line of (await fourLetterWord(port, "mntr")).trimEnd().split("\n").sort()) {
  const [name = "", value = ""] = line.split("\t");
  if (!isTold(name)) continue;
  console.log(
    `  ${name}: ${/^-?\d+$/.test(value) ? "whole" : /^-?\d+\.\d+(E-?\d+)?$/.test(value) ? "decimal" : "text"}`,
  );
}
console.log("mntr, values after a reset:");
const values = new Map(
  (await fourLetterWord(port, "mntr")).split("\n").map((line) => line.split("\t") as [string, string]),
);
for (const name of [
  "server_state",
  "ephemerals_count",
  "znode_count",
  "watch_count",
  "global_sessions",
  "local_sessions",
]) {
  console.log(`  zk_${name}: ${values.get(`zk_${name}`)}`);
}
console.log("cons, how operations are called:");
const onPath = new JuteWriter().string("/ephemeral").int(4).bytes();
for (const [name, opcode] of Object.entries(OP)) {
  if (opcode < OP.checkWatches) continue;
  await exchange(new JuteWriter().int(5).int(opcode).raw(onPath).bytes());
  const called = /lop=(\w+)/.exec((await fourLetterWord(port, "cons")).split("sid=").at(1) ?? "");
  console.log(`  ${name}: ${called?.[1]}`);
}
await session[Symbol.asyncDispose]();

async function exchange(payload: Buffer): Promise<void> {
  session.sendFrame(payload);
  // Events may arrive before the answer.
  while ((await session.frame()).readInt32BE(0) === -1);
}

/**
 * Ours has more; for three of Apache's see docs/operations.md; metrics with a node's name are left
 * out.
 */
function isTold(name: string): boolean {
  return !/zooid_|_client_response_size$|_per_namespace$|^zk_m(in|ax)_(fsynctime|snapshottime|sync_processor_batch_size)$/.test(
    name,
  );
}

/** Connections are unordered, and Apache's grouping at the end of a dump depends on timing. */
function lines(answer: string): readonly string[] {
  const [shown = ""] = answer.split("Connections dump:");
  const all = shown.split("\n").map(normalise);
  const isConnection = (line: string): boolean => line.startsWith(" /");
  const first = all.findIndex(isConnection);
  const others = all.filter((line) => !isConnection(line));
  return others.toSpliced(first === -1 ? others.length : first, 0, ...all.filter(isConnection).sort());
}

function normalise(line: string): string {
  return line
    .replace(/^Zookeeper version: .*/, "Zookeeper version: #")
    .replace(/^(dataDir|dataLogDir|dataDirSize|dataLogSize)=.*/, "$1=#")
    .replace(/^((?:zookeeper|host|java|os|user)\.[a-z.]+)=.*/, "$1=#")
    .replace(/127\.0\.0\.1:\d+/g, "HOST")
    .replace(/0x[0-9a-f]+/g, "#")
    .replace(/\b[A-Z][a-z]{2} [A-Z][a-z]{2} \d+ [\d:]+ \S+ \d{4}\b/g, "#")
    .replace(/\d+(\.\d+)?/g, "#")
    .replaceAll("HOST", "127.0.0.1:#");
}
