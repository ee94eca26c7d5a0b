import { BackupError } from "../backup-error.ts";
import type { BackupTarget } from "./backup-target.ts";
import { DirectoryTarget } from "./directory-target.ts";
import { parseS3Credentials, type S3Credentials, s3CredentialsIn } from "./s3-credentials.ts";
import { S3Target } from "./s3-target.ts";
import { parseTargetLocation } from "./target-location.ts";

/** The settings by which operators name a target. */
export interface TargetSettings {
  /** The absolute path of a directory, or `s3://BUCKET/PREFIX`. */
  readonly target: string;
  /** Address of an S3 service that is not Amazon's. */
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  /** The text of a file with the key; without one it is looked for in `env`. */
  readonly credentials?: { readonly file: string; readonly text: string } | undefined;
  /** Where programs for S3 look for a key. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** The problem of a setting of a target, by its name. */
export interface TargetFault {
  readonly setting: "endpoint" | "region" | "credentialsFile";
  readonly problem: string;
}

/** Looks at the settings beside a location that is one. Undefined: nothing is wrong. */
export function targetFault(settings: {
  readonly target: string;
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly credentials?: unknown;
}): TargetFault | undefined {
  const { target, endpoint, region, credentials } = settings;
  const isDirectory = !target.startsWith("s3://");
  const problem = `${target} is a directory: endpoint, region and credentials are for s3://BUCKET/PREFIX`;
  if (endpoint !== undefined) {
    const fault = isDirectory ? problem : endpointFault(endpoint);
    if (fault !== undefined) return { setting: "endpoint", problem: fault };
  }
  if (region !== undefined) {
    if (isDirectory) return { setting: "region", problem };
    if (!/^[a-z0-9-]{1,64}$/.test(region))
      return { setting: "region", problem: `a region is letters, digits and dashes, found ${JSON.stringify(region)}` };
  }
  return isDirectory && credentials !== undefined ? { setting: "credentialsFile", problem } : undefined;
}

/**
 * @param signal ends what is waited for
 * @throws BackupError `SETTING` with what is wrong; nothing is asked of the target yet
 */
export function openTarget(settings: TargetSettings, signal?: AbortSignal): BackupTarget {
  const location = parseTargetLocation(settings.target);
  if (typeof location === "string") throw setting(location);
  const fault = targetFault(settings);
  if (fault !== undefined) throw setting(fault.problem);
  if (location.kind === "directory") return new DirectoryTarget(location.path);
  const { bucket, prefix } = location;
  const { endpoint, region } = settings;
  return new S3Target({ bucket, prefix, endpoint, region, credentials: credentialsOf(settings), signal });
}

function credentialsOf({ target, credentials, env = {} }: TargetSettings): S3Credentials {
  if (credentials === undefined) {
    const found = s3CredentialsIn(env);
    if (typeof found !== "string") return found;
    throw setting(
      `${target} needs a key: a file with accessKeyId and secretAccessKey, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment; in the environment ${found}`,
    );
  }
  const found = parseS3Credentials(credentials.text);
  if (typeof found === "string") throw setting(`${credentials.file} has no key for ${target}: ${found}`);
  return found;
}

function endpointFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === "https:" || url?.protocol === "http:";
  if (url !== undefined && isHttp && url.search === "" && url.hash === "" && url.username === "" && url.password === "")
    return undefined;
  // It may have a password in it.
  return "an endpoint is an address like https://HOST:PORT, without user, query and fragment";
}

function setting(problem: string): BackupError {
  return new BackupError({ code: "SETTING", problem });
}
