/**
 * The four-letter words that operators and their tools read, while one session holds watches and an ephemeral node.
 *
 *     words-scenario.ts HOST:PORT       prints what each word answers
 *
 * Numbers, versions and dates become `#`. Lines that tell of the machine or of the implementation are left out.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { fourLetterWord } from "./endpoint.ts";
import { FrameReader, framed, JuteWriter } from "./jute.ts";

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

const session = connect({ host, port, noDelay: true });
const frames: Buffer[] = [];
const reader = new FrameReader();
reader.onFrame = (frame) => frames.push(frame);
session.on("data", (chunk: Buffer) => reader.push(chunk));

await exchange(
  session,
  new JuteWriter().int(0).long(0n).int(30_000).long(0n).buffer(Buffer.alloc(16)).bool(false).bytes(),
);
const create = new JuteWriter().int(1).int(OP.create).string("/ephemeral").string("").int(1).int(31);
await exchange(session, create.string("world").string("anyone").int(1).bytes());
await exchange(session, new JuteWriter().int(2).int(OP.exists).string("/ephemeral").bool(true).bytes());
await exchange(session, new JuteWriter().int(3).int(OP.addWatch).string("/ephemeral").int(0).bytes());
await exchange(session, new JuteWriter().int(4).int(OP.addWatch).string("/").int(1).bytes());

for (const word of [
  "ruok",
  "isro",
  "srvr",
  "stat",
  "cons",
  "wchs",
  "dump",
  "conf",
  "crst",
  "cons",
  "srst",
  "nope",
  "RUOK",
]) {
  console.log(`${word}:`);
  const answer = await fourLetterWord(port, word);
  for (const line of lines(answer)) console.log(`  ${line}`);
}
console.log("mntr, names only, of what every standalone server tells:");
const told = (await fourLetterWord(port, "mntr")).split("\n").map((line) => line.split("\t")[0] ?? "");
const expected = [
  "zk_version",
  "zk_server_state",
  "zk_ephemerals_count",
  "zk_num_alive_connections",
  "zk_avg_latency",
  "zk_min_latency",
  "zk_max_latency",
  "zk_outstanding_requests",
  "zk_znode_count",
  "zk_watch_count",
  "zk_packets_sent",
  "zk_packets_received",
  "zk_approximate_data_size",
];
for (const name of expected) console.log(`  ${name}: ${told.includes(name) ? "told" : "missing"}`);
console.log("cons, how operations are called:");
const onPath = new JuteWriter().string("/ephemeral").int(4).bytes();
for (const [name, opcode] of Object.entries(OP)) {
  if (opcode < OP.checkWatches) continue;
  await exchange(session, new JuteWriter().int(5).int(opcode).raw(onPath).bytes());
  const called = /lop=(\w+)/.exec((await fourLetterWord(port, "cons")).split("sid=").at(1) ?? "");
  console.log(`  ${name}: ${called?.[1]}`);
}
session.destroy();

async function exchange(socket: Socket, payload: Buffer): Promise<void> {
  const before = frames.length;
  socket.write(framed(payload));
  while (frames.length === before) await once(socket, "data");
}

/** Connections come in no order, and how Apache groups them at the end of a dump depends on the second. */
function lines(answer: string): readonly string[] {
  const [told = ""] = answer.split("Connections dump:");
  const all = told.split("\n").map(normalise);
  const isConnection = (line: string): boolean => line.startsWith(" /");
  const first = all.findIndex(isConnection);
  const others = all.filter((line) => !isConnection(line));
  return others.toSpliced(first === -1 ? others.length : first, 0, ...all.filter(isConnection).sort());
}

function normalise(line: string): string {
  return line
    .replace(/^Zookeeper version: .*/, "Zookeeper version: #")
    .replace(/^(dataDir|dataLogDir|dataDirSize|dataLogSize)=.*/, "$1=#")
    .replace(/127\.0\.0\.1:\d+/g, "HOST")
    .replace(/0x[0-9a-f]+/g, "#")
    .replace(/\b[A-Z][a-z]{2} [A-Z][a-z]{2} \d+ [\d:]+ \S+ \d{4}\b/g, "#")
    .replace(/\d+(\.\d+)?/g, "#")
    .replaceAll("HOST", "127.0.0.1:#");
}
