import { isAbsolute } from "node:path";

/** Where backups are. */
export type TargetLocation =
  | { readonly kind: "directory"; readonly path: string }
  | { readonly kind: "s3"; readonly bucket: string; readonly prefix: string };

const S3 = "s3://";
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Names that need no escape in an address, in XML or in a file's name. */
const PREFIX = /^[\w.~-]+(?:\/[\w.~-]+)*$/;
const PREFIX_CHARS_MAX = 512;

/** @returns a sentence where the text names no target */
export function parseTargetLocation(text: string): TargetLocation | string {
  if (!text.startsWith(S3)) {
    if (SCHEME.test(text)) return `a target is a directory or s3://BUCKET/PREFIX, found ${JSON.stringify(text)}`;
    return isAbsolute(text)
      ? { kind: "directory", path: text }
      : `a directory for backups is named by its absolute path, found ${JSON.stringify(text)}`;
  }
  const [bucket = "", ...rest] = text.slice(S3.length).split("/");
  const prefix = rest.join("/").replace(/\/$/, "");
  if (!BUCKET.test(bucket)) return `the bucket in ${JSON.stringify(text)} is no bucket's name`;
  const isPrefix =
    prefix === "" ||
    (PREFIX.test(prefix) && prefix.length <= PREFIX_CHARS_MAX && !/(?:^|\/)\.\.?(?:\/|$)/.test(prefix));
  if (!isPrefix) return `the prefix in ${JSON.stringify(text)} has other characters than letters, digits and . _ ~ - /`;
  return { kind: "s3", bucket, prefix };
}
