/**
 * Renames the host and moves each port of every server of an ensemble under load, by the commands
 * that docs/operations.md has for it, in their order: singly, then all back at once.
 *
 *     npm run tool -- ensemble-move [--rounds 20] [--own 8] [--kazoo 8] [--gap-ms 500] [--keep]
 *
 * A round begins with a new ensemble. Printed for each command is the longest time without an
 * answered write, which must not exceed `--gap-ms`. At the end of a round each server is restarted
 * from its files, one after the other, and the check asks for the same as that of ensemble-replace.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { documentedLines } from "./documented-commands.ts";
import type { EnsembleServer } from "./ensemble-servers.ts";
import { DEADLINE_MS, RollingRounds } from "./rolling-rounds.ts";

const options = toolOptions({ rounds: 20, own: 8, kazoo: 8, gapMs: 500, keep: false });
const SERVER_COUNT = 3;
/** The commands are those for server 2. */
const DOCUMENTED = documentedLines("operations.md", "Rename a host or move a port").map((line) =>
  line.replace(/^\$zk /, ""),
);

const rounds = new RollingRounds({
  ...options,
  name: "ensemble-move",
  founders: SERVER_COUNT,
  ensemble: {
    serverCount: SERVER_COUNT,
    tickMs: 2000,
    syncLimit: 5,
    // A second name of an address of loopback is none of loopback.
    settings: ["reconfigEnabled=true", "skipACL=yes", "zooid.allowUnauthenticatedPeers=true"],
  },
});
for (let number = 1; number <= options.rounds; number++)
  await rounds.play(`round ${number}`, async (round) => {
    const { ensemble, faults, steps } = round;
    await round.begin();
    const { servers } = ensemble;
    for (const server of servers) {
      const role = await server.role();
      const gaps: string[] = [];
      for (const command of await commandsFor(server)) {
        const gapMs = await round.gapOf(async () => {
          await zooidCli(servers, server, command);
          const clientPort = Number(/;(\d+)"/.exec(command)?.[1]);
          server.place = { ...server.place, clientPort };
          await ensemble.untilLevel(DEADLINE_MS);
        });
        rounds.gapsMs.push(gapMs);
        gaps.push(gapMs.toFixed(0));
        if (gapMs > options.gapMs) faults.push(`${gapMs.toFixed(0)} ms without a write: ${command}`);
      }
      steps.push(`${server.sid} (${role}) ${gaps.join(" ")} ms`);
    }
    for (const server of servers) {
      await server.restart();
      await ensemble.untilLevel(DEADLINE_MS);
    }
    return servers;
  });
rounds.end("command");

/**
 * The documented commands, with this server's number, names and ports in place of those of zk-2.
 */
async function commandsFor({ sid, place }: EnsembleServer): Promise<readonly string[]> {
  const { peerHost, quorumPort, electionPort, clientPort } = place;
  const [quorum, election, client] = await freePorts(3);
  const alias = `0x${peerHost
    .split(".")
    .map((part) => Number(part).toString(16).padStart(2, "0"))
    .join("")}`;
  const actual = new Map<string, string | number | undefined>([
    ...([
      ["zk-2.example.com", alias],
      ["zk-2", peerHost],
    ] as const),
    ...([
      ["2888", quorumPort],
      ["2889", quorum],
      ["3888", electionPort],
      ["3889", election],
    ] as const),
    ...([
      ["2181", clientPort],
      ["2182", client],
      ["2=", `${sid}=`],
    ] as const),
  ]);
  return DOCUMENTED.map((line) =>
    line.replace(/zk-2\.example\.com|zk-2|\b\d{4}\b|\b2=/g, (name) => String(actual.get(name) ?? name)),
  );
}

/** Runs a line of the page through a shell, asking a server that does not move. */
async function zooidCli(servers: readonly EnsembleServer[], moves: EnsembleServer, command: string): Promise<void> {
  const asked = servers.find((server) => server !== moves);
  const program = join(ROOT, "node_modules/.bin/zooid-cli");
  const child = spawn("sh", ["-c", `exec ${program} -server ${asked?.host}:${asked?.port} ${command}`]);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const [status] = await once(child, "close");
  if (status !== 0) throw new Error(`zooid-cli ${command} ended with ${status}: ${output}`);
}
