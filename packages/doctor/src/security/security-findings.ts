import { counted } from "@zooid/model";
import { type Finding, finding } from "../finding.ts";
import { shellWord } from "../shell-word.ts";
import type { SecurityFacts } from "./security-facts.ts";

const DAY_MS = 86_400_000;
export const CERTIFICATE_DAYS_MIN = 30;
/**
 * Reading and writing by all others, and writing by the group: the server itself refuses no more.
 */
const OTHERS = 0o026;
const OCTAL = 8;

/** The findings of files and ports that keep strangers out, and of the time until they end. */
export function securityFindings(subject: string, facts: SecurityFacts, nowMs: number): readonly Finding[] {
  const { peers, admin } = facts;
  const findings: Finding[] = [];
  for (const { path, key, mode } of facts.secrets) {
    if ((mode & OTHERS) === 0) continue;
    const found = `the file of ${key} has the mode ${(mode & 0o777).toString(OCTAL)}`;
    findings.push(finding("secret-readable", path, found, `chmod 600 ${shellWord(path)}`));
  }
  for (const { path, key, notAfterMs } of facts.certificates) {
    const days = Math.floor((notAfterMs - nowMs) / DAY_MS);
    if (days >= CERTIFICATE_DAYS_MIN) continue;
    const date = new Date(notAfterMs).toISOString().slice(0, 10);
    const [id, found] =
      notAfterMs <= nowMs
        ? (["certificate-ended", `the certificate of ${key} ended on ${date}`] as const)
        : (["certificate-ends", `the certificate of ${key} ends on ${date}, in ${counted(days, "day")}`] as const);
    const remedy = "write a new one to the same place, and send the server SIGHUP";
    findings.push(finding(id, path, found, remedy));
  }
  if (peers?.isAuthenticated === false && peers.distantHost !== undefined) {
    findings.push(
      finding(
        "peers-unauthenticated",
        subject,
        `zooid.allowUnauthenticatedPeers=true, and ${peers.distantHost} is beyond this machine`,
        "zooid-server init-secret FILE, and zooid.peerSecretFile=FILE in the file of each member (docs/security.md has the steps)",
      ),
    );
  }
  if (admin !== undefined && !admin.needsCertificate && admin.publicAddresses.length > 0) {
    const found = `the admin port ${admin.port} listens on ${admin.publicAddresses.join(", ")}, which the internet can reach`;
    const remedy = "admin.serverAddress=127.0.0.1, or admin.needClientAuth=true with ssl.* stores";
    findings.push(finding("admin-open", subject, found, remedy));
  }
  return findings;
}
