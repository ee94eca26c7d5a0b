import { type ArchiveSource, parseTargetLocation, s3CredentialsIn, targetFault } from "@zooid/backup";
import type { BackupOptions } from "../backup/backup-options.ts";

/**
 * The archive of a server that follows an Apache ensemble, of which a member keeps a state ready.
 */
export interface StandbyOptions extends Pick<BackupOptions, "endpoint" | "region" | "credentialsFile" | "env"> {
  /** As `target` of the follower's backup. Default: no state is kept ready. */
  readonly from?: string;
}

/** @returns undefined where no state is kept ready */
export function parseStandby(
  { from, endpoint, region, credentialsFile, env = {} }: StandbyOptions,
  {
    isMember,
    dataDir,
    backupTarget,
  }: {
    readonly isMember: boolean;
    readonly dataDir: string | undefined;
    readonly backupTarget: string | undefined;
  },
  problems: string[],
): ArchiveSource | undefined {
  if (from === undefined) {
    const keys = Object.entries({ endpoint, region, credentialsFile }).filter(([, value]) => value !== undefined);
    if (keys.length > 0)
      problems.push(
        `zooid.standby.${keys.map(([key]) => key).join(", ")} without zooid.standby.from: no archive is read`,
      );
    return undefined;
  }
  if (!isMember)
    problems.push("zooid.standby.from is for the servers of an ensemble (server.N), and this server is none of them");
  if (dataDir === undefined) problems.push("zooid.standby.from needs a data directory (dataDir)");
  if (from === backupTarget)
    problems.push(
      "zooid.standby.from names the archive of the server that follows Apache, and zooid.backup.target that of this ensemble: they are different places",
    );
  const location = parseTargetLocation(from);
  if (typeof location === "string") {
    problems.push(`zooid.standby.from: ${location}`);
    return undefined;
  }
  const fault = targetFault({ target: from, endpoint, region, credentials: credentialsFile });
  if (fault !== undefined) problems.push(`zooid.standby.${fault.setting}: ${fault.problem}`);
  if (location.kind === "s3" && credentialsFile === undefined && typeof s3CredentialsIn(env) === "string") {
    problems.push(
      "zooid.standby.credentialsFile names the file with the key of the bucket; without it AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are in the environment",
    );
  }
  return { target: from, endpoint, region, credentialsFile, env: keyIn(env) };
}

/** A thread gets no more of an environment than it needs. */
function keyIn(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string | undefined>> {
  const names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];
  return Object.fromEntries(names.map((name) => [name, env[name]]));
}
