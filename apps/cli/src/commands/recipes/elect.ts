import { once } from "node:events";
import { hostname } from "node:os";
import type { Client } from "@zooid/client";
import { type Candidate, candidatesOf, isRecipeError, LeaderLatch } from "@zooid/recipes";
import { usageError } from "../../cli-error.ts";
import { type Command, givenNode, type Invocation } from "../../command.ts";
import { follow } from "../../follow.ts";
import type { JsonObject } from "../../output.ts";
import { runProgram } from "../../program.ts";

export const elect: Command = {
  name: "elect",
  synopsis: "[--id name] path -- program [argument ...] | [--follow] path",
  flags: [
    { name: "id", takesValue: true, isOwn: true },
    { name: "follow", isOwn: true },
  ],
  summary:
    "Runs a program while this process leads, and exits with its status; without a program prints the leader, with --follow each next one, and joins nothing.",
  operandsMin: 1,
  operandsMax: Number.POSITIVE_INFINITY,
  kind: "own",
  pathOperand: 0,
  runsProgram: true,
  async run(invocation) {
    const { flags, operands } = invocation;
    const id = flags.value("id") ?? `${hostname()}:${process.pid}`;
    const { path, client } = await givenNode(invocation);
    const words = operands.slice(1);
    if (words.length === 0) {
      return await (flags.has("follow") ? tellWhoLeads : printLeader)(invocation, client, path);
    }
    if (flags.has("follow")) {
      throw usageError("--follow prints the leaders, and runs no program: leave out the flag, or the program");
    }
    await using latch = new LeaderLatch(client, path, { id, onSuspended: "keep" });
    return await lead(invocation, latch, words);
  },
};

/**
 * Leads until the program ends. A program that was killed because leadership was lost runs again in
 * the next term.
 */
async function lead(invocation: Invocation, latch: LeaderLatch, words: readonly string[]): Promise<JsonObject> {
  const { output, shell, signal } = invocation;
  for (;;) {
    const term = await latch.leadership({ signal });
    try {
      const status = await runProgram(words, term, invocation);
      shell.endsWith(status);
      return { path: latch.path, node: term.path, token: String(term.token), status };
    } catch (error) {
      if (!isRecipeError(error, "LEASE_LOST")) throw error;
      output.progress(`${error.message}; it runs again with the next term`);
      // The latch ends the term when its timer has run.
      if (!term.signal.aborted) await once(term.signal, "abort", { signal });
    }
  }
}

/** The leader of a latch or a selector; undefined for none. */
type Leader = Candidate | undefined;

/** Prints the leader of now. */
async function printLeader({ output }: Invocation, client: Client, path: string): Promise<JsonObject> {
  const leader = await leaderOf(client, path);
  output.line(leaderText(leader));
  return { path, leader: leader === undefined ? null : { id: leader.id, path: leader.path } };
}

/** Prints the leader, now and after each change, until Ctrl-C. */
async function tellWhoLeads({ output, signal }: Invocation, client: Client, path: string): Promise<JsonObject> {
  let changes = 0;
  let last: string | undefined;
  await follow(client.watchChildren$(path), signal, async () => {
    const leader = await leaderOf(client, path);
    if (changes > 0 && leader?.path === last) return;
    last = leader?.path;
    changes++;
    const time = new Date().toISOString();
    output.line(`${time} ${leaderText(leader)}`);
    output.json({ event: "leader", id: leader?.id ?? null, path: leader?.path ?? null, time });
  });
  return { path, changes };
}

async function leaderOf(client: Client, path: string): Promise<Leader> {
  const [leader] = await candidatesOf(client, path);
  return leader;
}

function leaderText(leader: Leader): string {
  return leader === undefined ? "no leader" : `${leader.id} leads ${leader.path}`;
}
