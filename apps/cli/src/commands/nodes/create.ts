import { type CreateOptions, isZkError } from "@zooid/client";
import { type Acl, OPEN_ACL } from "@zooid/model";
import { usageError } from "../../cli-error.ts";
import { type Command, clientFor, operand } from "../../command.ts";
import type { Flags } from "../../command-flags.ts";
import { clientText } from "../../explain-error.ts";
import { givenData } from "../../given-data.ts";
import type { Output } from "../../output.ts";
import { parseAcl, requireAcl } from "../../texts/acl-text.ts";
import { statJson } from "../../texts/stat-text.ts";
import { checkedPath } from "../../texts/znode-path.ts";

/** The owner field of a TTL node has 40 bits for it. */
const TTL_MS_MAX = 2 ** 40 - 1;

export const create: Command = {
  name: "create",
  synopsis: "[-s] [-e] [-c] [-t ttl] path [data] [acl]",
  flags: [{ name: "e" }, { name: "s" }, { name: "c" }, { name: "t", takesValue: true }],
  summary:
    "Creates a node: sequential (-s), ephemeral (-e), a container (-c), or with a TTL in milliseconds (-t). Data: a word, - (standard input) or @file.",
  operandsMin: 1,
  pathOperand: 0,
  async run(invocation) {
    const { flags, operands, output, signal } = invocation;
    const mode = createMode(flags);
    const path = operand(invocation, 0);
    const acl = operands[2] === undefined ? OPEN_ACL : readAcl(operands[2], output);
    checkedPath(path, { isSequential: flags.has("s") });
    const data = operands[1] === undefined ? null : await givenData(operands[1], invocation);
    const client = await clientFor(invocation, path);
    try {
      const created = await client.create(path, data, { ...mode, acl, signal });
      output.note(`Created ${created.path}`);
      return { path: created.path, stat: statJson(created.stat) };
    } catch (error) {
      if (isZkError(error, "INVALID_ACL")) output.note(clientText(error.code, error.path));
      if (isZkError(error, "EPHEMERAL_ON_LOCAL_SESSION"))
        output.note("Unable to create ephemeral node on a local session");
      throw error;
    }
  },
};

function readAcl(text: string, output: Output): Acl {
  const parsed = parseAcl(text);
  const { acl, warnings } = parsed;
  for (const warning of warnings) output.note(warning);
  if (acl.length === 0) output.note(clientText("INVALID_ACL", undefined));
  requireAcl(parsed, output.format);
  return acl;
}

function createMode(flags: Flags): CreateOptions {
  const isSequential = flags.has("s");
  const isEphemeral = flags.has("e");
  if (flags.has("c") && (isSequential || isEphemeral)) {
    throw usageError("-c cannot be combined with -s or -e. Containers cannot be ephemeral or sequential.");
  }
  const ttl = flags.value("t");
  if (ttl !== undefined) {
    if (!/^[+-]?\d+$/.test(ttl)) throw usageError("-t argument must be a long value");
    if (isEphemeral) throw usageError("TTLs cannot be used with Ephemeral znodes");
    if (flags.has("c")) throw usageError("TTLs cannot be used with Container znodes");
    const ttlMs = Number(ttl);
    if (ttlMs <= 0 || ttlMs > TTL_MS_MAX) {
      throw usageError(`ttl must be positive and cannot be larger than: ${TTL_MS_MAX}`);
    }
    return { mode: isSequential ? "persistent-sequential-with-ttl" : "persistent-with-ttl", ttlMs };
  }
  if (flags.has("c")) return { mode: "container" };
  if (isEphemeral) return { mode: isSequential ? "ephemeral-sequential" : "ephemeral" };
  return { mode: isSequential ? "persistent-sequential" : "persistent" };
}
