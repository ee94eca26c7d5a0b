import { parseTargetLocation, s3CredentialsIn, targetFault, type UploadSettings } from "@zooid/backup";

/** Where the history is copied to, beyond the data directory. */
export interface BackupOptions {
  /**
   * A directory that exists, by its absolute path, or `s3://BUCKET/PREFIX`. Default: there is no
   * backup.
   */
  readonly target?: string;
  /** Address of an S3 service that is not Amazon's. */
  readonly endpoint?: string;
  /** Default `us-east-1`. */
  readonly region?: string;
  /**
   * The file with the key, `accessKeyId=` and `secretAccessKey=`, which is read for each upload.
   * Default: the key is in `env`.
   */
  readonly credentialsFile?: string;
  /**
   * Time from one base, a copy of the whole state, to the next, in milliseconds. Fewer take room,
   * more make a restore longer. Default a day.
   */
  readonly baseEveryMs?: number;
  /** States of this time can be restored, in milliseconds; 0: all. Default 30 days. */
  readonly retainMs?: number;
  /** Default 0: as fast as the network. */
  readonly bytesPerSecond?: number;
  /** Where programs for S3 look for a key: `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const DAY_MS = 86_400_000;
const BASE_EVERY_MS_MIN = 60_000;

type Whole = (name: string, value: number, min: number, max: number) => number;

/** @returns undefined where there is no backup */
export function parseBackup(
  options: BackupOptions,
  hasHistory: boolean,
  whole: Whole,
  problems: string[],
): UploadSettings | undefined {
  const { target, endpoint, region, credentialsFile, env = {} } = options;
  const { baseEveryMs = DAY_MS, retainMs = 30 * DAY_MS, bytesPerSecond = 0 } = options;
  const settings = {
    baseEveryMs: whole("zooid.backup.baseEveryMs", baseEveryMs, BASE_EVERY_MS_MIN, Number.MAX_SAFE_INTEGER),
    retainMs: whole("zooid.backup.retainMs", retainMs, 0, Number.MAX_SAFE_INTEGER),
    bytesPerSecond: whole("zooid.backup.bytesPerSecond", bytesPerSecond, 0, Number.MAX_SAFE_INTEGER),
  };
  if (target === undefined) {
    const { env: _, ...given } = options;
    const keys = Object.entries(given).filter(([, value]) => value !== undefined);
    if (keys.length > 0)
      problems.push(
        `zooid.backup.${keys.map(([key]) => key).join(", ")} without zooid.backup.target: nothing is backed up`,
      );
    return undefined;
  }
  if (!hasHistory)
    problems.push("zooid.backup.target needs zooid.history.retainMs above 0: what the history has is backed up");
  const location = parseTargetLocation(target);
  if (typeof location === "string") {
    problems.push(`zooid.backup.target: ${location}`);
    return undefined;
  }
  const fault = targetFault({ target, endpoint, region, credentials: credentialsFile });
  if (fault !== undefined) problems.push(`zooid.backup.${fault.setting}: ${fault.problem}`);
  if (location.kind === "s3" && credentialsFile === undefined && typeof s3CredentialsIn(env) === "string") {
    problems.push(
      "zooid.backup.credentialsFile names the file with the key of the bucket; without it AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are in the environment",
    );
  }
  return { target, endpoint, region, credentialsFile, env: keyIn(env), ...settings };
}

/** A thread gets no more of an environment than it needs. */
function keyIn(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string | undefined>> {
  const names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];
  return Object.fromEntries(names.map((name) => [name, env[name]]));
}
