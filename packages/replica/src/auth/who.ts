import { type ByteSlice, emptySlice, type Identity, sliceOf } from "@zooid/model";

/** Bytes of all lines, about: a transaction has them beside its change. */
const CHARS_MAX = 512;
/** Characters of one identity. */
const IDENTITY_CHARS_MAX = 128;

const NONE: Readonly<ByteSlice> = emptySlice();
const encoded = new WeakMap<readonly Identity[], Readonly<ByteSlice>>();

/**
 * The client, as a transaction carries it: the address and the identities of a connection, a line
 * each, in short and without any hash. It is encoded once for each list of identities.
 */
export function whoOf(identities: readonly Identity[]): Readonly<ByteSlice> {
  if (identities.length === 0) return NONE;
  const known = encoded.get(identities);
  if (known !== undefined) return known;
  const who = sliceOf(linesOf(identities));
  encoded.set(identities, who);
  return who;
}

function linesOf(identities: readonly Identity[]): string {
  let text = "";
  for (const identity of identities) {
    const line = shortOf(identity);
    if (text.length + line.length > CHARS_MAX) return `${text}\n…`;
    text += text === "" ? line : `\n${line}`;
  }
  return text;
}

function shortOf({ scheme, id }: Identity): string {
  switch (scheme) {
    case "ip":
      return printable(id);
    case "digest":
      // The rest is the hash of the password.
      return `digest:${printable(id.slice(0, Math.max(0, id.indexOf(":"))))}`;
    case "sasl":
    case "x509":
      return `${scheme}:${printable(id)}`;
    default:
      return printable(scheme);
  }
}

/** One line of a bounded length. */
function printable(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, "?");
  return line.length > IDENTITY_CHARS_MAX ? `${line.slice(0, IDENTITY_CHARS_MAX)}…` : line;
}
