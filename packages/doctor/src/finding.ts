import { FINDING_KINDS, type FindingId, type Severity } from "./finding-kinds.ts";

/** Something that is wrong or risky, with its remedy. */
export interface Finding {
  readonly id: FindingId;
  readonly severity: Severity;
  /** The server, file or machine that it is about, as the operator named it. */
  readonly subject: string;
  /** One sentence with figures. */
  readonly found: string;
  /** One sentence: why it matters. */
  readonly consequence: string;
  /** The remedy: a command to type, where there is one. */
  readonly remedy: string;
}

/** A finding of a kind, whose severity and consequence are those of the kind. */
export function finding(id: FindingId, subject: string, found: string, remedy: string): Finding {
  const { severity, consequence } = FINDING_KINDS[id];
  return { id, severity, subject, found, consequence, remedy };
}

/** Errors first; findings of one severity keep their order. */
export function bySeverity(findings: readonly Finding[]): readonly Finding[] {
  return [
    ...findings.filter(({ severity }) => severity === "error"),
    ...findings.filter(({ severity }) => severity === "warning"),
  ];
}
