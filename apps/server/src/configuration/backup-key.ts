/** The variables of the environment in which programs for S3 look for a key. */
const NAMES = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];

/** The key of a backup's bucket, where no file is named for it. */
export function backupKey(): Readonly<Record<string, string | undefined>> {
  const env = process.env;
  return Object.fromEntries(NAMES.map((name) => [name, env[name]]));
}
