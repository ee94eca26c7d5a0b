import { counted } from "@zooid/model";
import { bySeverity, type Finding } from "../finding.ts";

/** The parts that were looked at, and those that could not be. */
export interface Scope {
  /** `3 servers`, `/etc/zooid/zoo.cfg and this machine`. */
  readonly looked: string;
  /** Each with its reason. */
  readonly missing: readonly string[];
}

/** A report for people: four lines for each finding, the worst first, and the sum. */
export function reportLines(findings: readonly Finding[], { looked, missing }: Scope): readonly string[] {
  const lines = bySeverity(findings).flatMap(({ severity, id, subject, found, consequence, remedy }) => [
    `${severity.toUpperCase()} ${id}: ${subject}`,
    `  ${found}`,
    `  ${consequence}`,
    `  Remedy: ${remedy}`,
    "",
  ]);
  const unseen = missing.map((reason) => `Not looked at: ${reason}`);
  return [...lines, ...unseen, sumText(findings, looked)];
}

function sumText(findings: readonly Finding[], looked: string): string {
  if (findings.length === 0) return `${looked}: nothing found`;
  const errors = findings.filter(({ severity }) => severity === "error").length;
  return `${looked}: ${counted(errors, "error")}, ${counted(findings.length - errors, "warning")}`;
}

/** The same for programs. */
export function reportJson(findings: readonly Finding[], { looked, missing }: Scope): ReportJson {
  return { sound: findings.length === 0, looked, missing, findings: bySeverity(findings) };
}

export interface ReportJson {
  readonly sound: boolean;
  readonly looked: string;
  readonly missing: readonly string[];
  readonly findings: readonly Finding[];
}
