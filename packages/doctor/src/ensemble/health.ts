import { isServing } from "@zooid/model/membership";
import { type CliCall, cliCommand } from "../cli-call.ts";
import { type Finding, finding } from "../finding.ts";
import type { FindingId } from "../finding-kinds.ts";
import { shellWord } from "../shell-word.ts";
import type { ServerFacts } from "./ensemble-facts.ts";

interface CheckMeaning {
  readonly id: FindingId;
  /** @param backupStatus the command that prints the status of the server's backup */
  readonly remedy: (backupStatus: string) => string;
}

/** The findings for failing checks of `/healthz`, by the checks' names. */
const MEANINGS: ReadonlyMap<string, CheckMeaning> = new Map<string, CheckMeaning>([
  ["serving", { id: "member-not-serving", remedy: () => "the last lines of its log say why (not-serving)" }],
  [
    "storage",
    {
      id: "disk-low",
      remedy: () => "free room in its data directory, or move it to a larger disk: the server serves again at once",
    },
  ],
  [
    "data",
    {
      id: "data-damaged",
      remedy: () => "docs/operations.md, “Full or failing disk”; its log names the file (file-damaged)",
    },
  ],
  ["backup", { id: "backup-late", remedy: (backupStatus) => `${backupStatus}, and its log (backup-failed)` }],
]);
/** `certificate-for-clients`, `certificate-for-peers`. */
const CERTIFICATE = /^certificate-for-/;
const CERTIFICATE_REMEDY = "write a new one to the same place, and send the server SIGHUP";
const OTHER_REMEDY = "its log has the reason";

/** The faults that a server reports of itself. */
export function healthFindings({ name, address, admin, status }: ServerFacts, cli: CliCall): readonly Finding[] {
  const backupStatus = cliCommand(cli, `backup status --admin ${shellWord(admin?.url ?? "")}`, address);
  return (admin?.checks ?? []).flatMap(({ name: check, fault }) => {
    // That of a server which does not serve is found by its mode.
    if (fault === undefined || (check === "serving" && !isServing(status))) return [];
    if (CERTIFICATE.test(check)) return [finding("certificate-ends", name, `${check}: ${fault}`, CERTIFICATE_REMEDY)];
    const { id, remedy } = MEANINGS.get(check) ?? { id: "check-fails", remedy: () => OTHER_REMEDY };
    return [finding(id, name, `${check}: ${fault}`, remedy(backupStatus))];
  });
}
