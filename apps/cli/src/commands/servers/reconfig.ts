import type { ConfigChange } from "@zooid/client";
import { authenticate, FLAG_AUTH } from "../../admin-auth.ts";
import { CliError, usageError } from "../../cli-error.ts";
import { type Command, FLAG_STAT, type Invocation, malformed } from "../../command.ts";
import { readLocalFile } from "../../local-file.ts";
import { parseProperties } from "../../settings/java-properties.ts";
import { statJson, statLines } from "../../texts/stat-text.ts";

export const reconfig: Command = {
  name: "reconfig",
  synopsis:
    "[-s] [-v version] [[-file path] | [-members serverID=host:port1:port2;port3[,...]*]] | " +
    "[-add serverId=host:port1:port2;port3[,...]]* [-remove serverId[,...]*]",
  flags: [
    FLAG_STAT,
    { name: "v", takesValue: true },
    { name: "file", takesValue: true },
    { name: "members", takesValue: true },
    { name: "add", takesValue: true },
    { name: "remove", takesValue: true },
    FLAG_AUTH,
  ],
  summary: "Changes the ensemble's servers: incrementally (-add, -remove), or all at once (-file, -members).",
  async run(invocation) {
    const { connection, flags, output, signal } = invocation;
    const change = await readChange(invocation);
    await authenticate(invocation);
    const client = await connection.ready({ isAbsolute: true, signal });
    const { text, stat } = await client.reconfig(change, { signal });
    output.line(`Committed new configuration:\n${text}`);
    if (flags.has("s")) output.lines(statLines(stat));
    return { config: text, stat: statJson(stat) };
  },
};

/** Either all members, or joining and leaving ones. */
async function readChange(invocation: Invocation): Promise<ConfigChange> {
  const { flags } = invocation;
  const file = flags.value("file");
  const members = flags.value("members");
  const joining = flags.value("add");
  const leaving = flags.value("remove");
  if (file === undefined && members === undefined && joining === undefined && leaving === undefined)
    throw malformed(reconfig);
  const fromVersion = readVersion(flags.value("v"));
  if (file !== undefined && members !== undefined) {
    throw usageError("Can't use -file and -members together (conflicting non-incremental modes)");
  }
  const isWhole = file !== undefined || members !== undefined;
  if (isWhole && (joining !== undefined || leaving !== undefined)) {
    throw usageError(
      "Can't use -file or -members together with -add or -remove (mixing incremental and non-incremental modes is not allowed)",
    );
  }
  const whole = file === undefined ? members?.toLowerCase().split(",") : await membersOf(file, invocation);
  return {
    ...(joining === undefined ? {} : { joining: joining.toLowerCase().split(",") }),
    ...(leaving === undefined ? {} : { leaving: leaving.split(",") }),
    ...(whole === undefined ? {} : { members: whole }),
    fromVersion,
  };
}

function readVersion(text: string | undefined): bigint {
  if (text === undefined) return -1n;
  if (!/^-?[0-9a-f]{1,16}$/i.test(text)) throw usageError("-v must be followed by a long (configuration version)");
  return text.startsWith("-") ? -BigInt(`0x${text.slice(1)}`) : BigInt(`0x${text}`);
}

/** The servers, groups and weights of a configuration file, in the form of the request. */
async function membersOf(file: string, { connection, signal }: Invocation): Promise<readonly string[]> {
  const bytesMax = connection.frameBytesMax;
  const { bytes, sizeText } = await readLocalFile(file, { bytesMax, signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    // Java's message begins with the file, which zkCli prints as well, without a blank between.
    const reason = JAVA_REASONS.get(errorCode(error)) ?? (error instanceof Error ? error.message : String(error));
    throw new CliError(`Error processing ${file}${file} (${reason})`, {
      code: "UNREADABLE_FILE",
      plain: `the file ${file} cannot be read: ${reason}`,
    });
  });
  if (bytes === undefined) {
    const text = `${file} has ${sizeText} bytes, and a request has at most ${bytesMax}`;
    throw new CliError(text, { code: "PACKET_TOO_LARGE" });
  }
  return [...parseProperties(bytes.toString())]
    .filter(([key]) => /^(?:server|group|weight)\./.test(key))
    .map(([key, value]) => `${key}=${value}`);
}

function errorCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

const JAVA_REASONS: ReadonlyMap<unknown, string> = new Map([
  ["ENOENT", "No such file or directory"],
  ["EACCES", "Permission denied"],
  ["EISDIR", "Is a directory"],
]);
