import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type BackupTarget, openTarget, parseTargetLocation } from "@zooid/backup";
import { ConfigError } from "@zooid/embedded-server";
import { backupKey } from "../configuration/backup-key.ts";

/** A target of backups, as a command line names it. */
export interface NamedTarget {
  readonly target: string;
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  /** The file with the key of an S3 service; undefined: it is in the environment. */
  readonly credentialsFile: string | undefined;
}

/** The options of a command for a target. */
export const TARGET_OPTIONS = {
  endpoint: { type: "string" },
  region: { type: "string" },
  credentials: { type: "string" },
} as const;

interface TargetValues {
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly credentials?: string | undefined;
}

const CREDENTIALS_BYTES_MAX = 64 * 1024;

/** Whether a text names a target that is no directory. */
export function isRemote(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

/** @param problems gets what is wrong */
export function namedTarget(
  text: string,
  { endpoint, region, credentials }: TargetValues,
  problems: string[],
): NamedTarget {
  const target = isRemote(text) ? text : resolve(text);
  const location = parseTargetLocation(target);
  if (typeof location === "string") problems.push(location);
  else if (location.kind === "directory" && (endpoint ?? region ?? credentials) !== undefined)
    problems.push("--endpoint, --region and --credentials are for a target like s3://BUCKET/PREFIX");
  return { target, endpoint, region, credentialsFile: credentials === undefined ? undefined : resolve(credentials) };
}

/**
 * @throws ConfigError where the file of the key cannot be read
 * @throws BackupError where there is no key, or the endpoint is none
 */
export function openNamedTarget(
  { credentialsFile: file, ...settings }: NamedTarget,
  signal: AbortSignal,
): BackupTarget {
  const credentials = file === undefined ? undefined : { file, text: textOf(file) };
  return openTarget({ ...settings, credentials, env: backupKey() }, signal);
}

function textOf(file: string): string {
  try {
    const text = readFileSync(file, "utf8");
    if (text.length <= CREDENTIALS_BYTES_MAX) return text;
  } catch (error) {
    throw new ConfigError([`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`]);
  }
  throw new ConfigError([`${file} is too long for a file with one key`]);
}
