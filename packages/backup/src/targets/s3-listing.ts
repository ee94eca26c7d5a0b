/** The content of one answer to ListObjectsV2. */
export interface S3Page {
  readonly objects: readonly { readonly key: string; readonly bytes: number }[];
  /** Where the next page begins; undefined behind the last one. */
  readonly next: string | undefined;
}

/** @returns undefined where the text is no such answer */
export function parseS3Listing(xml: string): S3Page | undefined {
  if (!xml.includes("<ListBucketResult")) return undefined;
  const objects: { key: string; bytes: number }[] = [];
  for (let at = 0; ; ) {
    const entry = between(xml, "<Contents>", "</Contents>", at);
    if (entry === undefined) break;
    at = entry.end;
    const key = between(entry.text, "<Key>", "</Key>", 0);
    const size = between(entry.text, "<Size>", "</Size>", 0);
    if (key === undefined || size === undefined || !/^\d{1,15}$/.test(size.text)) return undefined;
    objects.push({ key: unescapeXml(key.text), bytes: Number(size.text) });
  }
  const isTruncated = between(xml, "<IsTruncated>", "</IsTruncated>", 0)?.text.trim() === "true";
  const token = between(xml, "<NextContinuationToken>", "</NextContinuationToken>", 0)?.text;
  if (isTruncated && (token === undefined || token === "")) return undefined;
  return { objects, next: isTruncated && token !== undefined ? unescapeXml(token) : undefined };
}

/** The code and the words of an S3 service for what it refuses. */
export function parseS3Error(xml: string): { readonly code: string; readonly message: string } {
  return {
    code: printable(between(xml, "<Code>", "</Code>", 0)?.text ?? ""),
    message: printable(unescapeXml(between(xml, "<Message>", "</Message>", 0)?.text ?? "")),
  };
}

function between(
  text: string,
  before: string,
  after: string,
  from: number,
): { readonly text: string; readonly end: number } | undefined {
  const at = text.indexOf(before, from);
  const end = at === -1 ? -1 : text.indexOf(after, at + before.length);
  return end === -1 ? undefined : { text: text.slice(at + before.length, end), end: end + after.length };
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(/&(?:#(\d{1,6})|([a-z]{2,4}));/g, (all, digits: string | undefined, name: string | undefined) => {
    if (digits !== undefined) return String.fromCodePoint(Number(digits));
    return ENTITIES[name ?? ""] ?? all;
  });
}

/** Texts of a service are shown on terminals and in logs. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 200);
}
