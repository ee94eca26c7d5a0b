import { carryOutUndo, isZkError, planUndo, type UndoStep } from "@zooid/client";
import { assertNever, formatZxid, parentPath } from "@zooid/model";
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
    "Gives a node the data that it had before a transaction, of a server that keeps a history, or makes it again: shows the difference, " +
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
    const { before, now, step } = await planUndo(client, path, zxid, { signal });
    if (step.kind === "none") {
      output.line(
        `unchanged: ${shownText(path)} has the data of before ${formatZxid(zxid)}; access lists are not undone`,
      );
      return { path, changed: false };
    }
    if (step.kind === "impossible") {
      throw new CliError(
        `${path} was ${step.was === "ttl" ? "a TTL node" : "an ephemeral node"}, which is not made again`,
        {
          code: "BAD_ARGUMENTS",
          path,
          hint: "print its data with get --at",
        },
      );
    }
    output.lines([...dataDiff(now, before), textOf(path, step)]);
    if (!flags.has("yes") && !(await confirmed(invocation, path))) {
      output.note("not written");
      return { path, changed: false };
    }
    await carryOutUndo(client, path, step, { signal }).catch((error: unknown) => {
      throw step.kind === "create" && isZkError(error, "NO_NODE") ? withoutParent(path) : error;
    });
    output.line(`${shownText(path)} is as before ${formatZxid(zxid)}`);
    return { path, changed: true, before: formatZxid(zxid), step: step.kind };
  },
};

function withoutParent(path: string): CliError {
  const parent = parentPath(path);
  return new CliError(`${parent}, the parent of ${path}, is not there`, {
    code: "NO_NODE",
    path,
    hint: "undo its deletion first: each call gives back one node",
  });
}

/** A step in words, for the question. */
function textOf(path: string, step: Exclude<UndoStep, { readonly kind: "none" | "impossible" }>): string {
  switch (step.kind) {
    case "set":
      return `${shownText(path)} is set, at version ${step.version}`;
    case "delete":
      return `${shownText(path)} is deleted: it was not there`;
    case "create":
      return `${shownText(path)} is created, with its access list of then`;
    default:
      return assertNever(step);
  }
}

/** @throws CliError where there is no terminal to ask at */
async function confirmed({ shell, signal }: Invocation, path: string): Promise<boolean> {
  const answer = await shell.ask(`write this to ${shownText(path)}? [y/N] `, signal);
  if (answer !== undefined) return /^y(es)?$/i.test(answer.trim());
  throw new CliError("there is no terminal to ask at", { code: "USAGE", hint: "undo --yes writes without a question" });
}
