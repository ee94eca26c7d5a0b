import { counted } from "@zooid/model";
import type { EnsembleProblemJson, MemberJson } from "../api/shapes.ts";

const LAG_ZXIDS = 1_000;
const OUTSTANDING = 100;
const LATENCY_MS = 100;
const DAY_MS = 86_400_000;
const CERTIFICATE_DAYS = 30;
const CERTIFICATE_DAYS_CRITICAL = 7;

/**
 * The problems of an ensemble, the worst first, each with its remedy.
 *
 * @param nowMs since 1970
 */
export function ensembleProblems(members: readonly MemberJson[], nowMs: number): readonly EnsembleProblemJson[] {
  const found: EnsembleProblemJson[] = [];
  const critical = (text: string, remedy: string, member: string | null = null): void => {
    found.push({ severity: "critical", member, text, remedy });
  };
  const warning = (text: string, remedy: string, member: string | null = null): void => {
    found.push({ severity: "warning", member, text, remedy });
  };
  const voters = members.filter(({ isVoter }) => isVoter);
  const reachable = voters.filter(({ isReachable }) => isReachable);
  const quorum = Math.floor(voters.length / 2) + 1;
  const isEnsemble = members.length > 1;
  if (isEnsemble) {
    const leaders = members.filter(({ role }) => role === "leader");
    const lacking = `${reachable.length} of ${voters.length} voters answer, and ${quorum} are needed`;
    if (reachable.length < quorum) {
      critical(`No quorum: ${lacking}`, "Start the members that do not answer, or restore the network between them");
    } else if (leaders.length === 0) {
      critical("No member leads", "Wait for the election; if it does not end, read the logs of the members");
    } else if (leaders.length > 1) {
      const names = leaders.map(({ address }) => address).join(", ");
      critical(
        `Several members report to lead: ${names}`,
        "One has not noticed its loss yet; look again in a few seconds",
      );
    } else if (reachable.length === quorum && voters.length > quorum) {
      warning(`No failure is tolerated now: ${lacking}`, "Bring the members back that do not answer");
    }
    if (voters.length === 2) {
      warning("Two voters tolerate no failure", "Add a third voter");
    }
  }
  for (const { address, isReachable, reason, ...member } of members) {
    if (!isReachable) {
      const text = `${address} does not answer${reason === null ? "" : `: ${reason}`}`;
      warning(text, "Check that the server runs, and that the console reaches its client port", address);
      continue;
    }
    const lag = member.lagZxids ?? 0;
    if (lag > LAG_ZXIDS) {
      warning(`${address} is ${counted(lag, "transaction")} behind`, "Check its disk and its network", address);
    }
    if ((member.outstanding ?? 0) > OUTSTANDING) {
      warning(`${address} has ${member.outstanding} unanswered requests`, "Check its disk, and the load", address);
    }
    if ((member.latencyMs?.average ?? 0) > LATENCY_MS) {
      const text = `${address} answers in ${member.latencyMs?.average} ms on average`;
      warning(text, "Check its disk: every write waits for a sync of a quorum", address);
    }
  }
  for (const { address, storage } of members) {
    if (storage === null) continue;
    if (storage.room !== "enough") {
      const what =
        storage.room === "full" ? "has no room on its disk: it acknowledges nothing" : "has little room on its disk";
      const report = storage.room === "full" ? critical : warning;
      report(`${address} ${what}`, "Make room on the disks of its data and its log, or move them", address);
    }
    for (const { use, expiresAt } of storage.certificates) {
      const days = Math.floor((Number(expiresAt) - nowMs) / DAY_MS);
      if (days >= CERTIFICATE_DAYS) continue;
      const report = days < CERTIFICATE_DAYS_CRITICAL ? critical : warning;
      const when = days < 0 ? "has expired" : `expires in ${counted(days, "day")}`;
      report(`The certificate of ${address} for ${use} ${when}`, "Renew it: the server reads its files again", address);
    }
  }
  const versions = new Set(members.flatMap(({ version }) => (version === null ? [] : [version])));
  if (versions.size > 1) {
    warning(`Members have different versions: ${[...versions].join(", ")}`, "Finish the upgrade");
  }
  return found.sort((a, b) => a.severity.localeCompare(b.severity));
}
