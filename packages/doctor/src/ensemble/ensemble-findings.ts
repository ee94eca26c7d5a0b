import { differenceFindings } from "../configuration/differences.ts";
import { voterFindings } from "../configuration/voters.ts";
import type { Finding } from "../finding.ts";
import type { EnsembleFacts } from "./ensemble-facts.ts";
import { healthFindings } from "./health.ts";
import { measureFindings } from "./measures.ts";
import { roleFindings } from "./roles.ts";

/** The findings of an ensemble. */
export function ensembleFindings(facts: EnsembleFacts): readonly Finding[] {
  const { members, servers } = facts;
  const files = servers.flatMap(({ admin }) => (admin === undefined ? [] : [admin.settings]));
  return [
    ...roleFindings(facts),
    ...(members === undefined ? [] : voterFindings("the list in force", members, facts.cli)),
    ...differenceFindings(files),
    ...servers.flatMap((server) => [...healthFindings(server, facts.cli), ...measureFindings(server, facts.cli)]),
  ];
}
