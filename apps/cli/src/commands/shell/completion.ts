import { parentPath } from "@zooid/model";
import { usageError } from "../../cli-error.ts";
import type { Command, Invocation } from "../../command.ts";
import { START_OPTIONS } from "../../command-line.ts";
import type { JsonObject } from "../../output.ts";
import { completionScript, SHELLS } from "../../texts/completion-script.ts";
import { checkedPath } from "../../texts/znode-path.ts";

/** Candidates for one word, at most: a shell that asks at each key cannot wait for a million. */
const CANDIDATES_MAX = 1000;
const TIMEOUT_MS = 3_000;

export const completion: Command = {
  name: "completion",
  synopsis: "bash|zsh|fish",
  flags: [],
  summary: 'Prints a script that completes commands, flags and paths in a shell: eval "$(zooid-cli completion bash)".',
  operandsMin: 1,
  operandsMax: 2,
  kind: "offline",
  async run(invocation) {
    const { operands, output, shell } = invocation;
    const [word, beginning = "/"] = operands;
    if (word === "paths") return await completePaths(invocation, beginning);
    const name = SHELLS.find((known) => known === word);
    if (name === undefined) throw usageError(`completion takes one of ${SHELLS.join(", ")}, found ${word}`);
    const script = completionScript(name, { name: "zooid-cli", commands: shell.commands, options: START_OPTIONS });
    output.lines([script.trimEnd()]);
    return { shell: name, script };
  },
};

/**
 * The scripts ask for it, in a process of its own: prints the paths that begin with what is typed.
 */
async function completePaths({ connection, output, signal }: Invocation, beginning: string): Promise<JsonObject> {
  const parent = checkedPath(parentPath(beginning));
  const limits = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const paths: string[] = [];
  connection.printsWatches = false;
  if (!connection.isAlive) await connection.open();
  const client = await connection.ready({ path: parent, signal: limits });
  const base = parent === "/" ? "/" : `${parent}/`;
  const prefix = beginning.slice(base.length);
  // Names are in order: those that begin with what is typed are together, behind what sorts before
  // it.
  const after = prefix.slice(0, -1);
  const from = after === "" ? {} : { after };
  for await (const { name } of client.eachChild(parent, { detail: "names", signal: limits, ...from })) {
    if (name.startsWith(prefix)) paths.push(base + name);
    else if (name > prefix) break;
    if (paths.length >= CANDIDATES_MAX) break;
  }
  output.lines(paths);
  return { paths };
}
