/**
 * A client of the trial `kubernetes`: it writes until its input ends, then reports what it found.
 */
import { once } from "node:events";
import { connect } from "@zooid/client";
import { AnsweredCounter } from "./answered-counter.ts";

const [hosts = ""] = process.argv.slice(2);
const client = await connect(hosts, { sessionTimeoutMs: 20_000, startTimeoutMs: 60_000 });
const { sessionId } = client;
for (const path of ["/held", "/counter"]) if ((await client.exists(path)) !== null) await client.delete(path);
await client.create("/held", "", { mode: "ephemeral" });
const writes = new AnsweredCounter(client);
const writing = writes.run();
console.log("writes");
process.stdin.resume();
await once(process.stdin, "end");
writes.stop();
await writing;
const value = Number(Buffer.from((await client.get("/counter")).data ?? []).toString());
const isHeld = client.sessionId === sessionId && (await client.exists("/held")) !== null;
const { answered, gapMs } = writes;
console.log(JSON.stringify({ answered, longestGapMs: Math.round(gapMs), isLost: value < answered, isHeld }));
await client.close();
process.exit(value >= answered && isHeld ? 0 : 1);
