/**
 * A process with a client that prints the client's states and events in order. Its argument is the
 * connect string.
 */
import { connect } from "../connect.ts";

const zk = await connect(process.argv[2] ?? "", { sessionTimeoutMs: 3_000, random: () => 0 });
const say = (word: string): void => {
  process.stdout.write(`${word}\n`);
};
await zk.create("/mine", "", { mode: "ephemeral" });
zk.state$.subscribe(({ kind }) => say(kind));
zk.events$("/news").subscribe(({ type }) => say(type));
zk.watchData$("/news").subscribe((node) => say(node.exists ? Buffer.from(node.data ?? []).toString() : "gone"));
process.stdin.once("end", () => zk.close()).resume();
