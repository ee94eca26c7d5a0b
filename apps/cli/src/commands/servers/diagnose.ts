import { counted } from "@zooid/model";
import { ADMIN_FLAGS, type AdminAnswer, askAdmin, askAdminText } from "../../admin-port.ts";
import { type Command, type Invocation, operand } from "../../command.ts";
import { NewFile } from "../../new-file.ts";
import type { JsonObject } from "../../output.ts";

/** Commands that need no credentials, but for those that list sessions, watches or nodes. */
const OPEN_COMMANDS: readonly string[] = [
  "configuration",
  "dirs",
  "drain_status",
  "environment",
  "initial_configuration",
  "last_snapshot",
  "leader",
  "log_level",
  "monitor",
  "observers",
  "server_stats",
  "stats",
  "system_properties",
  "voting_view",
  "watch_summary",
  "zabstate",
];
/** Names of properties whose values are left out. */
const SECRET = /passw|secret|superdigest|credential|token|private/i;
/** Beside the commands, in Prometheus' form or as a sentence. */
const PATHS: readonly string[] = ["healthz", "livez", "readyz", "startupz", "metrics"];
/** Apache's servers, and earlier versions of this one, do not have all of them. */
const NOT_THERE = "the server has no such command or page";

/**
 * Writes the answers of a server's admin port to one file, for a report. The server leaves
 * passwords out of them. Commands with data of nodes or access lists are not asked.
 */
export const diagnose: Command = {
  name: "diagnose",
  synopsis: "file [--admin url] [--auth credentials]",
  flags: ADMIN_FLAGS,
  summary:
    "Writes what a server's admin port says of it to a new file, for a report: configuration without passwords, metrics, state, " +
    "connections, and with --auth the newest lines of its log.",
  operandsMin: 1,
  operandsMax: 1,
  kind: "offline",
  async run(invocation) {
    const { output } = invocation;
    const file = operand(invocation, 0);
    const found = await gather(invocation);
    const text = `${JSON.stringify(found, undefined, 2)}\n`;
    await using target = await NewFile.open(file);
    await target.write(text);
    await target.keep();
    const { missing } = found;
    output.line(
      `${file} has ${counted(Buffer.byteLength(text), "byte")} of ${found.from}; read it before you pass it on`,
    );
    for (const { name, reason } of missing) output.note(`without ${name}: ${reason}`);
    return { file, missing: missing.map(({ name, reason }) => ({ name, reason })) };
  },
};

interface Found {
  readonly format: "zooid-diagnosis";
  readonly version: 1;
  readonly from: string;
  readonly takenAt: string;
  readonly commands: JsonObject;
  readonly pages: Readonly<Record<string, string>>;
  readonly log: readonly unknown[];
  readonly missing: readonly { readonly name: string; readonly reason: string }[];
}

async function gather(invocation: Invocation): Promise<Found> {
  const missing: { readonly name: string; readonly reason: string }[] = [];
  const commands: Record<string, JsonObject> = {};
  const pages: Record<string, string> = {};
  // One after another: a server in trouble gets one request at a time. The first one shows whether
  // there is an admin port.
  for (const name of OPEN_COMMANDS) {
    const answer = await askAdmin(invocation, name, "GET");
    const reason = reasonOf(answer);
    if (reason === undefined) commands[name] = redacted(answer.fields);
    else missing.push({ name, reason });
  }
  let from = "";
  for (const path of PATHS) {
    const page = await askAdminText(invocation, path);
    from = page.origin;
    if (page.status === 404) missing.push({ name: path, reason: NOT_THERE });
    else pages[path] = page.text;
  }
  const tail = await askAdmin(invocation, "log_tail", "GET");
  const lines = tail.fields["lines"];
  if (!Array.isArray(lines)) missing.push({ name: "log", reason: reasonOf(tail) ?? NOT_THERE });
  return {
    format: "zooid-diagnosis",
    version: 1,
    from,
    takenAt: new Date().toISOString(),
    commands,
    pages,
    log: Array.isArray(lines) ? lines.map(parsed) : [],
    missing,
  };
}

/** Why there is no answer; undefined for one, which may say that the server cannot answer now. */
function reasonOf({ status, error }: AdminAnswer): string | undefined {
  return status < 400 ? undefined : (error ?? NOT_THERE);
}

/** Apache's servers show all system properties, passwords of key stores among them. */
function redacted(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (typeof value !== "string" || value === "") return [name, value];
      return [name, SECRET.test(name) ? "***" : value.split("\n").map(redactedLine).join("\n")];
    }),
  );
}

/** A line of a configuration file, without the value of a secret. */
function redactedLine(line: string): string {
  const at = line.search(/[=:]/);
  return at > 0 && SECRET.test(line.slice(0, at)) ? `${line.slice(0, at + 1)}***` : line;
}

function parsed(line: unknown): unknown {
  try {
    return JSON.parse(String(line));
  } catch {
    return line;
  }
}
