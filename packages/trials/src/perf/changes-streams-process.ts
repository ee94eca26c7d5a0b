/**
 * Watches subtrees, in a process of its own: with plain recursive watches, or streams of changes.
 *
 *     changes-streams-process.ts HOSTS KIND CLIENTS PER_CLIENT SUBTREES AFTER
 *
 * It sends `ready`, and answers each message with how many events or changes came.
 */
import { type Client, connect } from "@zooid/client";
import type { Zxid } from "@zooid/model";
import { subtreePath } from "./changes-streams-paths.ts";

const SESSION_MS = 30_000;

const [, , hosts = "", kind = "", ...numbers] = process.argv;
const [clientCount = 0, perClient = 0, subtrees = 0, after = 0] = numbers.map(Number);
let count = 0;

const clients: Client[] = [];
for (let i = 0; i < clientCount; i++) {
  const client = await connect(hosts, { sessionTimeoutMs: SESSION_MS });
  clients.push(client);
  for (let j = 0; j < perClient; j++) follow(client, subtreePath((i * perClient + j) % subtrees));
}
// A request behind those that arm the watches.
await Promise.all(clients.map((client) => client.exists("/")));
process.on("message", () => process.send?.({ count }));
process.send?.("ready");

function follow(client: Client, path: string): void {
  const failed = (error: unknown): void => {
    console.error(`${path}: ${String(error)}`);
    process.exit(1);
  };
  if (kind === "watches") {
    const counted = (): unknown => count++;
    client.events$(path, { mode: "persistent-recursive" }).subscribe({ next: counted, error: failed });
  } else {
    client.changes$(path, { after: after as Zxid, recursive: true }).subscribe({
      next: (item) => {
        if (item.kind === "change") count++;
        if (item.kind === "gap") failed(new Error("there is a gap"));
      },
      error: failed,
    });
  }
}
