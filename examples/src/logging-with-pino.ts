/**
 * Shows a client whose log records go to pino: each attempt to connect, each state, and trouble
 * with its reason, as JSON with fields.
 *
 *     npm run example examples/src/logging-with-pino.ts [HOST:PORT]
 */
import { connect } from "@zooid/client";
import { pino } from "pino";
import { zookeeper } from "./zookeeper.ts";

const log = pino({ level: "debug", base: { service: "shop" } }, pino.destination({ sync: true }));

await using ensemble = await zookeeper();
{
  await using zk = await connect(ensemble.connectString, { logger: log });
  await zk.create("/examples/logged", "", { parents: "container", mode: "ephemeral" });
}

// No server listens on port 1: the reason is in the error, and in the records of each attempt.
await connect("127.0.0.1:1", { logger: log, startTimeoutMs: 300, connectWarningMs: 100 }).catch((error: unknown) =>
  log.error(error),
);
