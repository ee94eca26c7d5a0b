import { setTimeout as delay } from "node:timers/promises";
import { ADMIN_FLAGS, demandAdmin } from "../../admin-port.ts";
import { CliError, usageError } from "../../cli-error.ts";
import { type Command, type Invocation, operand } from "../../command.ts";
import type { JsonObject } from "../../output.ts";

const POLL_MS = 500;

/** `backup now` and `backup status`, asked of one server. */
export const backup: Command = {
  name: "backup",
  synopsis: "now|status [--admin url] [--auth credentials]",
  flags: ADMIN_FLAGS,
  summary:
    "Prints how far the backup of a server's history is, by its admin port; now copies the whole state to the backup " +
    "first, and waits until it was read back.",
  operandsMin: 1,
  operandsMax: 1,
  kind: "offline",
  async run(invocation) {
    const verb = operand(invocation, 0);
    if (verb !== "now" && verb !== "status") {
      throw usageError(`backup takes now or status, found ${JSON.stringify(verb)}`);
    }
    const fields = verb === "now" ? await takeNow(invocation) : await demandAdmin(invocation, "backup_status", "GET");
    for (const line of linesOf(fields)) invocation.output.line(line);
    const { command: _, error: __, asked: ___, done: ____, ...shown } = fields;
    return shown;
  },
};

/** The server works on; each question is short. */
async function takeNow(invocation: Invocation): Promise<JsonObject> {
  const begun = await demandAdmin(invocation, "backup_now");
  let fields = begun;
  while (countOf(fields, "done") < countOf(begun, "asked")) {
    await delay(POLL_MS, undefined, { signal: invocation.signal });
    fields = await demandAdmin(invocation, "backup_status", "GET");
    // A server that has started again has counted nothing.
    if (countOf(fields, "asked") < countOf(begun, "asked"))
      throw new CliError("the server has started again: ask it again", { code: "REFUSED" });
  }
  if (typeof fields["fault"] === "string") {
    throw new CliError(`the backup is not complete: ${fields["fault"]}`, { code: "REFUSED" });
  }
  if (fields["is_uploading"] !== true) {
    const holder = textOf(fields, "uploaded_by") ?? "another server";
    throw new CliError(`${holder} continues the backup: ask that one`, { code: "REFUSED" });
  }
  return fields;
}

function* linesOf(fields: JsonObject): IterableIterator<string> {
  const text = (name: string, missing: string): string => textOf(fields, name) ?? missing;
  yield `target: ${text("target", "unknown")}`;
  yield `uploaded by: ${text("uploaded_by", "no server yet")}${fields["is_uploading"] === true ? " (this one)" : ""}`;
  yield `last transaction: ${text("last_zxid", "none")}`;
  yield `complete at: ${text("complete_at", "never")}`;
  const taken = textOf(fields, "base_taken_at");
  yield `last base: ${taken === undefined ? "none" : `${text("base_zxid", "unknown")}, taken ${taken}, read back ${text("base_verified_at", "by no server since its start")}`}`;
  if (countOf(fields, "gaps") > 0) yield `gaps: ${countOf(fields, "gaps")}`;
  const fault = textOf(fields, "fault");
  if (fault !== undefined) yield `fault: ${fault}`;
}

function textOf(fields: JsonObject, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" ? value : undefined;
}

function countOf(fields: JsonObject, name: string): number {
  const value = fields[name];
  return typeof value === "number" ? value : 0;
}
