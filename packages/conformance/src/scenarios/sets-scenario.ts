/**
 * `SetPartitioner` of `@zooid/recipes` and kazoo's divide one set: each comes and goes, and nothing
 * is two's at a time.
 *
 *     sets-scenario.ts PYTHON PARTITIONER.PY HOST:PORT       prints one line for each step
 */
import { connect, text } from "@zooid/client";
import { SetPartitioner } from "@zooid/recipes";
import { filter, firstValueFrom, timeout } from "rxjs";
import { PeerProcess } from "../servers/peer-process.ts";

const [python = "", program = "", address = ""] = process.argv.slice(2);
const PATH = "/sets/shards";
const ITEMS = ["1", "2", "3", "4", "5"];
const DEADLINE_MS = 30_000;

const zk = await connect(address, { sessionTimeoutMs: 30_000 });

function say(who: string, what: string, answer: unknown): void {
  console.log(`${who.padEnd(6)} ${what}: ${answer}`);
}

function startKazoo(): PeerProcess {
  return new PeerProcess(python, [program, address, PATH, "kazoo", ITEMS.join()]);
}

/** Waits until kazoo has just these. */
async function kazooHas(share: string): Promise<string> {
  for (;;) {
    const now = await kazoo.answer();
    if (now === share || now === "failed" || now === "undefined") return now;
  }
}

/** Waits until we have just these. */
async function weHave(share: string): Promise<string> {
  const isIt = (now: readonly string[]): boolean => now.join() === share;
  const now = await firstValueFrom(ours.share$.pipe(filter(isIt), timeout({ first: DEADLINE_MS })));
  return now.join();
}

let kazoo = startKazoo();
say("kazoo", "has alone", await kazooHas("1,2,3,4,5"));
const ours = new SetPartitioner(zk, PATH, { items: ITEMS, id: "zooid", quietMs: 1_000, work: () => {} });
say("kazoo", "has when zooid has come", await kazooHas("1,3,5"));
say("zooid", "has", await weHave("2,4"));
const { names } = await zk.children(`${PATH}/party`);
say("both", "are there", names.map((name) => name.replace(/^[0-9a-f]{32}-/, "")).sort());
for (const item of ITEMS) {
  const path = `${PATH}/locks/${item}`;
  const { names } = await zk.children(path);
  // kazoo's hold nothing.
  const holders = await Promise.all(names.map(async (name) => text.decode((await zk.get(`${path}/${name}`)).data)));
  const plain = names.map((name) => name.replace(/^[0-9a-f]{32}/, "UUID").replace(/\d{10}$/, "NUMBER"));
  say(holders.join() === "" ? "kazoo" : holders.join(), `has the lock of ${item}`, plain);
}
await kazoo.kill();
say("zooid", "has when kazoo has died", await weHave("1,2,3,4,5"));
kazoo = startKazoo();
say("kazoo", "has when it is back", await kazooHas("1,3,5"));
say("zooid", "has", await weHave("2,4"));
await ours.close();
say("kazoo", "has when zooid has left", await kazooHas("1,2,3,4,5"));
await kazoo.kill();
await zk.close();
