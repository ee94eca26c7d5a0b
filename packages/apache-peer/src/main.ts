import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Writable } from "node:stream";
import { ArgumentError } from "@zooid/model";
import { parseCommand, USAGE, UsageError } from "./command/command-line.ts";
import { jsonLine } from "./command/json-line.ts";
import { ApachePeerError } from "./core/peer-error.ts";
import { type ApacheFollower, follow } from "./follow/apache-follower.ts";
import type { FollowEvent } from "./follow/follow-event.ts";

/** Exit statuses. */
const ExitStatus = { OK: 0, FAILED: 1, USAGE: 2 } as const;
const PRINTED: readonly FollowEvent["kind"][] = ["transaction"];
const PRINTED_WITH_NODES: readonly FollowEvent["kind"][] = [
  ...PRINTED,
  "snapshot",
  "session",
  "acl",
  "node",
  "snapshot-end",
];

process.exitCode = await main();

async function main(): Promise<number> {
  try {
    const command = parseCommand(process.argv.slice(2));
    switch (command.kind) {
      case "help":
        process.stdout.write(USAGE);
        return ExitStatus.OK;
      case "version":
        console.log(version());
        return ExitStatus.OK;
      case "follow": {
        await using follower = follow(command.hosts, command.options);
        await print(follower, command.hasNodes ? PRINTED_WITH_NODES : PRINTED);
        return ExitStatus.OK;
      }
    }
  } catch (error) {
    const isKnown = error instanceof ApachePeerError || error instanceof ArgumentError || error instanceof UsageError;
    console.error(`apache-peer: ${isKnown ? error.message : error instanceof Error ? error.stack : String(error)}`);
    return error instanceof UsageError || error instanceof ArgumentError ? ExitStatus.USAGE : ExitStatus.FAILED;
  }
}

/** Until the link fails, a signal ends it, or standard output is closed. */
async function print(follower: ApacheFollower, kinds: readonly FollowEvent["kind"][]): Promise<void> {
  const end = (): void => void follower[Symbol.asyncDispose]();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, end);
  // As `apache-peer follow … | head` does.
  process.stdout.on("error", end);
  for await (const event of follower) {
    if (!kinds.includes(event.kind)) {
      const sentence = sentenceOf(event);
      if (sentence !== undefined) console.error(`apache-peer: ${sentence}`);
    } else if (!process.stdout.write(`${jsonLine(event)}\n`) && !process.stdout.destroyed) {
      await drained(process.stdout);
    }
  }
}

/** Until there is room again, or never will be. */
async function drained(stream: Writable): Promise<void> {
  try {
    await Promise.race([once(stream, "drain"), once(stream, "close")]);
  } catch {
    // Its error ends the follower.
  }
}

function sentenceOf(event: FollowEvent): string | undefined {
  switch (event.kind) {
    case "connected":
      return `follows ${event.address.host}:${event.address.port}, epoch ${event.epoch}`;
    case "continued":
      return "continues without a gap";
    case "snapshot":
      return `a snapshot at 0x${event.zxid.toString(16)} comes first`;
    case "up-to-date":
      return "everything that was committed has come";
    case "disconnected":
      return `${event.error.message}; tries again`;
    case "no-leader":
      return `no leader found, tries again: ${event.failures.map(({ error }) => error.message).join("; ")}`;
    default:
      return undefined;
  }
}

function version(): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    readonly version: string;
  };
  return `apache-peer ${version} on Node.js ${process.versions.node}`;
}
