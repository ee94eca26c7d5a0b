import { ensembleFindings, reportJson, reportLines } from "@zooid/doctor";
import { counted } from "@zooid/model";
import { ADMIN_PATTERN, adminPatterns } from "../../admin-patterns.ts";
import type { Command } from "../../command.ts";
import { findEnsemble } from "../../doctor/ensemble-facts.ts";
import { ExitStatus } from "../../exit-status.ts";

/** Looks at an ensemble and names what is wrong or risky in it. */
export const doctor: Command = {
  name: "doctor",
  synopsis: "[--admin url]",
  flags: [
    {
      name: "admin",
      takesValue: true,
      isOwn: true,
      meaning: `Where admin ports are; * stands for each server's host. Given once for each other port. Default ${ADMIN_PATTERN}`,
    },
  ],
  summary:
    "Asks all servers of the ensemble, and names what is wrong or risky, why it matters, and the command that mends it. " +
    "Changes nothing.",
  operandsMax: 0,
  kind: "own",
  async run(invocation) {
    const { output, shell } = invocation;
    const { facts, missing } = await findEnsemble(invocation, adminPatterns(invocation));
    const { servers } = facts;
    if (servers.every(({ status, admin }) => typeof status === "string" && admin === undefined)) {
      const reasons = servers.map(({ address, status }) => `${address}: ${String(status)}`);
      output.note(`no server answers: ${reasons.join("; ")}`);
      output.note("on the machine of a server: zooid-server check zoo.cfg");
      shell.endsWith(ExitStatus.CONNECTION);
      return { sound: false, looked: "0 servers", missing: [...reasons, ...missing], findings: [] };
    }
    const findings = ensembleFindings(facts);
    const scope = { looked: counted(servers.length, "server"), missing };
    output.lines(reportLines(findings, scope));
    if (findings.length > 0) shell.endsWith(ExitStatus.FAILED);
    const { sound, looked, findings: sorted } = reportJson(findings, scope);
    return { sound, looked, missing, findings: sorted.map((found) => ({ ...found })) };
  },
};
