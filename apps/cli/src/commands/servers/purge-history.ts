import { setTimeout as delay } from "node:timers/promises";
import { counted, formatZxid } from "@zooid/model";
import { ADMIN_FLAGS, demandAdmin } from "../../admin-port.ts";
import { CliError, usageError } from "../../cli-error.ts";
import type { Command, Invocation } from "../../command.ts";
import type { JsonObject } from "../../output.ts";
import { givenMoment } from "../../texts/given-zxid.ts";

const POLL_MS = 500;

/** `purge-history`, asked of one server: each member of an ensemble has a history of its own. */
export const purgeHistory: Command = {
  name: "purge-history",
  synopsis: "--through zxid|time [--backups] [--confirm] [--admin url] [--auth credentials]",
  flags: [
    { name: "through", takesValue: true, isOwn: true, meaning: "The last transaction that is removed, or a time" },
    { name: "backups", isOwn: true, meaning: "Removes the same from the backup that this server continues" },
    { name: "confirm", isOwn: true, meaning: "Removes it; without, says what would be removed" },
    ...ADMIN_FLAGS,
  ],
  summary:
    "Removes a server's history up to a transaction for good, by its admin port: no file has a value of before that the " +
    "tree has not. Without --confirm it says what would be removed. Each member is asked, and with --backups the one " +
    "that continues the backup.",
  operandsMin: 0,
  operandsMax: 0,
  kind: "offline",
  async run(invocation) {
    const { flags, output } = invocation;
    const query = new URLSearchParams({ through: pointOf(invocation) });
    if (flags.has("backups")) query.set("backups", "true");
    if (!flags.has("confirm")) {
      const plan = await demandAdmin(invocation, `purge_history?${query}&dryRun=true`);
      output.line(`would be removed for good, up to ${plan["through"]}: ${partsOf(plan)}`);
      output.line("nothing was removed: --confirm removes it");
      return shownOf({ ...plan, removed: false });
    }
    const purged = await purge(invocation, query);
    output.line(`removed for good, up to ${purged["through"]}: ${partsOf(purged)}`);
    output.line(`the history begins at ${purged["base_zxid"]}`);
    return shownOf({ ...purged, removed: true });
  },
};

function pointOf({ flags }: Invocation): string {
  const moment = givenMoment(flags, "through");
  if (moment === undefined) throw usageError("purge-history needs --through, a zxid or a time");
  return moment instanceof Date ? moment.toISOString() : formatZxid(moment);
}

/** The server works on; each question is short. */
async function purge(invocation: Invocation, query: URLSearchParams): Promise<JsonObject> {
  const begun = await demandAdmin(invocation, `purge_history?${query}`);
  for (;;) {
    const status = await demandAdmin(invocation, "purge_status", "GET");
    if (status["state"] === "done" && status["through"] === begun["through"]) return status;
    if (status["state"] !== "running") {
      const reason = status["state"] === "failed" ? status["fault"] : "the server has started again";
      throw new CliError(`not all of it is removed: ${reason}`, { code: "REFUSED", hint: "repeat the command" });
    }
    await delay(POLL_MS, undefined, { signal: invocation.signal });
  }
}

function partsOf(fields: JsonObject): string {
  const count = (name: string): number => (typeof fields[name] === "number" ? fields[name] : 0);
  const parts = [counted(count("files"), "file"), counted(count("bases"), "whole state")];
  const size = count("bytes") > 0 ? ` (${counted(count("bytes"), "byte")} of files)` : "";
  const ofBackup = fields["backup_objects"] === null ? "" : counted(count("backup_objects"), "object");
  const inBackup = ofBackup === "" || fields["backup_objects"] === undefined ? "" : `, and ${ofBackup} of the backup`;
  return `${parts.join(" and ")} of the history${size}${inBackup}`;
}

function shownOf({ command: _, error: __, state: ___, fault: ____, ...shown }: JsonObject): JsonObject {
  return shown;
}
