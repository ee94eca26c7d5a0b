/** A key of an S3 service, by which requests are signed. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
}

/** The names in a file of ours, and those in the files of other programs. */
const NAMES: ReadonlyMap<string, keyof S3Credentials> = new Map([
  ["accesskeyid", "accessKeyId"],
  ["secretaccesskey", "secretAccessKey"],
  ["sessiontoken", "sessionToken"],
]);
const VALUE_CHARS_MAX = 4096;

/**
 * Reads lines `name = value`: `accessKeyId`, `secretAccessKey` and perhaps `sessionToken`, or the
 * same as `aws_access_key_id` and so on. Comments and one `[section]` are passed over.
 *
 * @returns a sentence, without any value, where they are not there
 */
export function parseS3Credentials(text: string): S3Credentials | string {
  const values = new Map<keyof S3Credentials, string>();
  let sections = 0;
  for (const line of text.split("\n").map((each) => each.trim())) {
    if (line === "" || line.startsWith("#") || line.startsWith(";")) continue;
    if (line.startsWith("[")) {
      if (++sections > 1) return "it has several sections: one key is needed";
      continue;
    }
    const at = line.indexOf("=");
    const name = NAMES.get(
      line.slice(0, Math.max(at, 0)).trim().toLowerCase().replace(/^aws_/, "").replaceAll("_", ""),
    );
    if (name !== undefined) values.set(name, line.slice(at + 1).trim());
  }
  return credentialsOf(values.get("accessKeyId"), values.get("secretAccessKey"), values.get("sessionToken"));
}

/** From the variables that programs for S3 read. */
export function s3CredentialsIn(env: Readonly<Record<string, string | undefined>>): S3Credentials | string {
  return credentialsOf(env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"], env["AWS_SESSION_TOKEN"]);
}

function credentialsOf(
  accessKeyId: string | undefined,
  secretAccessKey: string | undefined,
  sessionToken: string | undefined,
): S3Credentials | string {
  if (accessKeyId === undefined || accessKeyId === "") return "there is no access key id";
  if (secretAccessKey === undefined || secretAccessKey === "") return "there is no secret access key";
  const isSendable = [accessKeyId, secretAccessKey, sessionToken ?? "x"].every(
    (value) => value.length <= VALUE_CHARS_MAX && /^[\x21-\x7e]+$/.test(value),
  );
  return isSendable
    ? { accessKeyId, secretAccessKey, sessionToken }
    : "a key has spaces, control characters, or more than 4096 characters";
}
