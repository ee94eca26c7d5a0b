import { once } from "node:events";
import { hostname } from "node:os";
import type { Client } from "@zooid/client";
import { isRecipeError, LeaderLatch } from "@zooid/recipes";
import { type Command, clientFor, type Invocation, operand } from "../../command.ts";
import { follow } from "../../follow.ts";
import type { JsonObject } from "../../output.ts";
import { runProgram } from "../../program.ts";
import { checkedPath } from "../../texts/znode-path.ts";

export const elect: Command = {
  name: "elect",
  synopsis: "[--id name] path [-- program [argument ...]]",
  flags: [{ name: "id", takesValue: true, isOwn: true }],
  summary:
    "Takes part in an election: runs a program while it leads and exits with its status, or prints the leader, until Ctrl-C.",
  operandsMin: 1,
  kind: "own",
  pathOperand: 0,
  runsProgram: true,
  async run(invocation) {
    const { flags, operands } = invocation;
    const id = flags.value("id") ?? `${hostname()}:${process.pid}`;
    const path = checkedPath(operand(invocation, 0));
    const client = await clientFor(invocation, path);
    await using latch = new LeaderLatch(client, path, { id, onSuspended: "keep" });
    const words = operands.slice(1);
    return words.length > 0 ? await lead(invocation, latch, words) : await tellWhoLeads(invocation, latch, client);
  },
};

/**
 * Until the program ends by itself: one that was killed because leadership was lost runs again in
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

async function tellWhoLeads({ output, signal }: Invocation, latch: LeaderLatch, client: Client): Promise<JsonObject> {
  let changes = 0;
  let last: string | undefined;
  const print = async (): Promise<void> => {
    const [leader] = await latch.participants();
    if (leader?.path === last) return;
    last = leader?.path;
    changes++;
    const time = new Date().toISOString();
    output.line(leader === undefined ? `${time} no leader` : `${time} ${leader.id} leads ${leader.path}`);
    output.json({ event: "leader", id: leader?.id ?? null, path: leader?.path ?? null, time });
  };
  const stopping = new AbortController();
  const both = AbortSignal.any([signal, stopping.signal]);
  try {
    // The latch's own stream reports permanent errors.
    await Promise.all([
      follow(client.watchChildren$(latch.path), both, print),
      follow(latch.isLeader$, both, () => undefined),
    ]);
  } finally {
    stopping.abort();
  }
  return { path: latch.path, changes };
}
