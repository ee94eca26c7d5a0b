export { type CliCall, cliCommand } from "./cli-call.ts";
export { hostFindings, type ListedHost, type PeerPort } from "./configuration/hosts.ts";
export type { ServerSettings, Setting } from "./configuration/settings.ts";
export { voterFindings } from "./configuration/voters.ts";
export type {
  AdminFacts,
  EnsembleFacts,
  HealthCheck,
  Metrics,
  Sample,
  ServerFacts,
  ServerReport,
} from "./ensemble/ensemble-facts.ts";
export { ensembleFindings } from "./ensemble/ensemble-findings.ts";
export { type Finding, finding } from "./finding.ts";
export {
  type ApacheFindingId,
  FINDING_KINDS,
  type FindingId,
  type FindingKind,
  type Severity,
} from "./finding-kinds.ts";
export type {
  DirectoryFacts,
  DirectoryFault,
  MachineFacts,
  MemoryFacts,
  ProcessorFacts,
} from "./machine/machine-facts.ts";
export { machineFindings } from "./machine/machine-findings.ts";
export type { PortFacts, PortFault, PortHolder } from "./machine/port-facts.ts";
export { portFindings } from "./machine/port-findings.ts";
export type {
  ApacheFacts,
  ApacheLimits,
  ApacheMember,
  ApachePlace,
  ApacheReport,
  ApacheServerFacts,
  ApacheSession,
  ApacheTreeFacts,
} from "./migration/apache-facts.ts";
export { apacheFindings } from "./migration/apache-findings.ts";
export { apacheSummary, apacheUnseen } from "./migration/apache-summary.ts";
export { type ReportJson, reportJson, reportLines, type Scope } from "./report/report-lines.ts";
export type {
  AdminSecurity,
  CertificateFacts,
  PeerSecurity,
  SecretFile,
  SecurityFacts,
} from "./security/security-facts.ts";
export { securityFindings } from "./security/security-findings.ts";
