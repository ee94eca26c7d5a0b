import { type Client, isZkError, type NodeData, type PastNode, type Zxid } from "@zooid/client";
import { formatZxid, nodeKind } from "@zooid/model";
import { CliError, usageError } from "../../cli-error.ts";
import { type Command, givenNode, type Invocation, operand } from "../../command.ts";
import { readZxid } from "../../texts/given-zxid.ts";
import { shownText } from "../../texts/shown-text.ts";
import { dataDiff } from "../trees/diff.ts";

export const undo: Command = {
  name: "undo",
  synopsis: "[--yes] path zxid",
  flags: [{ name: "yes", isOwn: true }],
  summary:
    "Gives a node the data that it had before a transaction, of a server that keeps a history: shows the difference, " +
    "and writes if the node has not changed meanwhile; --yes without a question.",
  operandsMin: 2,
  operandsMax: 2,
  kind: "own",
  pathOperand: 0,
  async run(invocation) {
    const { flags, output, signal } = invocation;
    const zxid = readZxid("undo", operand(invocation, 1));
    if (zxid === 0) throw usageError("undo takes the zxid of a change, which is not 0");
    const { path, client } = await givenNode(invocation);
    const [before, now] = await Promise.all([
      stateBefore(client, path, zxid, signal),
      client.getOrNull(path, { sync: true, signal }),
    ]);
    const step = stepOf(path, before, now);
    if (step === undefined) {
      output.line("unchanged");
      return { path, changed: false };
    }
    output.lines([...dataDiff(now?.data ?? null, before?.data ?? null), step.text]);
    if (!flags.has("yes") && !(await confirmed(invocation, path))) {
      output.note("not written");
      return { path, changed: false };
    }
    await carryOut(client, path, step);
    output.line(`${shownText(path)} is as before ${formatZxid(zxid)}`);
    return { path, changed: true, before: formatZxid(zxid), step: step.kind };
  },
};

/** What leads from a node to its state of the past, guarded by what it is now. */
type Step =
  | { readonly kind: "set"; readonly text: string; readonly data: Uint8Array | null; readonly version: number }
  | { readonly kind: "create"; readonly text: string; readonly node: PastNode }
  | { readonly kind: "delete"; readonly text: string; readonly version: number };

/** Null where there was no node. */
async function stateBefore(client: Client, path: string, zxid: Zxid, signal: AbortSignal): Promise<PastNode | null> {
  try {
    return await client.get(path, { at: (zxid - 1) as Zxid, signal });
  } catch (error) {
    if (isZkError(error, "NO_NODE")) return null;
    throw error;
  }
}

function stepOf(path: string, before: PastNode | null, now: NodeData | null): Step | undefined {
  if (before === null) {
    if (now === null) return undefined;
    return { kind: "delete", text: `${shownText(path)} is deleted: it was not there`, version: now.stat.version };
  }
  if (now !== null) {
    if (isSame(before.data, now.data)) return undefined;
    const text = `${shownText(path)} is set, at version ${now.stat.version}`;
    return { kind: "set", text, data: before.data, version: now.stat.version };
  }
  const kind = nodeKind(before.ownerHigh, before.ownerLow);
  if (kind === "ephemeral" || kind === "ttl") {
    throw new CliError(`${path} was ${kind === "ttl" ? "a TTL node" : "an ephemeral node"}, which is not made again`, {
      code: "BAD_ARGUMENTS",
      path,
      hint: "print its data with get --at",
    });
  }
  return { kind: "create", text: `${shownText(path)} is created, with its access list of then`, node: before };
}

async function carryOut(client: Client, path: string, step: Step): Promise<void> {
  switch (step.kind) {
    case "set":
      await client.set(path, step.data, { version: step.version });
      return;
    case "delete":
      await client.delete(path, { version: step.version });
      return;
    case "create": {
      const { acl, data, ownerHigh, ownerLow } = step.node;
      const mode = nodeKind(ownerHigh, ownerLow) === "container" ? "container" : "persistent";
      await client.create(path, data, { acl, mode });
    }
  }
}

function isSame(one: Uint8Array | null, other: Uint8Array | null): boolean {
  return one === null || other === null ? one === other : Buffer.compare(one, other) === 0;
}

/** @throws CliError where there is no terminal to ask at */
async function confirmed({ shell, signal }: Invocation, path: string): Promise<boolean> {
  const answer = await shell.ask(`write this to ${shownText(path)}? [y/N] `, signal);
  if (answer !== undefined) return /^y(es)?$/i.test(answer.trim());
  throw new CliError("there is no terminal to ask at", { code: "USAGE", hint: "undo --yes writes without a question" });
}
