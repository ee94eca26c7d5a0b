import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from "node:crypto";
import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { counted } from "@zooid/model";

/**
 * A shared secret of an ensemble's servers, by which they authenticate. Printing it shows nothing
 * of the secret.
 */
export interface PeerSecret {
  readonly id: string;
  /** The key of proofs, derived from the secret. */
  readonly key: KeyObject;
}

/**
 * `require`: links without proof of a shared secret are refused. `offer`: a link has proof if both
 * servers have a secret in common, and is taken without if not.
 */
export type PeerSecretMode = "require" | "offer";

const ID = /^[A-Za-z0-9._-]{1,64}$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const SECRET_BYTES_MIN = 16;
const SECRET_BYTES_MAX = 1024;
const SECRET_COUNT_MAX = 16;
const FILE_BYTES_MAX = 64 * 1024;
/**
 * Write permission of the group, or any of others. The group may read: secrets are mounted into
 * containers like that.
 */
const TOO_OPEN = 0o027;

/**
 * Reads a file of secrets: one a line, `id:base64`; blank lines and lines that begin with `#` are
 * ignored. The first is used for this server's own proofs, all are accepted in others' proofs; so
 * secrets can be changed one server after another.
 *
 * @param problems receives a sentence for each error; no sentence contains any part of a secret
 */
export function readPeerSecrets(file: string, problems: string[]): readonly PeerSecret[] {
  let text: string;
  try {
    const descriptor = openSync(file, "r");
    try {
      const status = fstatSync(descriptor);
      if (!status.isFile() || status.size > FILE_BYTES_MAX) {
        problems.push(`the peers' secret file ${file} is no file of at most ${FILE_BYTES_MAX} bytes`);
        return [];
      }
      if (process.platform !== "win32" && (status.mode & TOO_OPEN) !== 0) {
        const mode = (status.mode & 0o777).toString(8).padStart(4, "0");
        problems.push(`the peers' secret file ${file} is open to other users (mode ${mode}): chmod 600 ${file}`);
      }
      text = readFileSync(descriptor, "utf8");
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    problems.push(
      `the peers' secret file ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
    return [];
  }
  return parsePeerSecrets(text, file, problems);
}

/** See {@link readPeerSecrets}. */
export function parsePeerSecrets(text: string, file: string, problems: string[]): readonly PeerSecret[] {
  const secrets: PeerSecret[] = [];
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const where = `line ${index + 1} of the peers' secret file ${file}`;
    const colon = line.indexOf(":");
    const id = line.slice(0, Math.max(0, colon));
    const encoded = line.slice(colon + 1);
    if (!ID.test(id) || !BASE64.test(encoded)) {
      problems.push(`${where} is not of the form id:base64`);
      continue;
    }
    const bytes = Buffer.from(encoded, "base64");
    if (bytes.length < SECRET_BYTES_MIN || bytes.length > SECRET_BYTES_MAX) {
      problems.push(`${where} has ${bytes.length} bytes; a secret has ${SECRET_BYTES_MIN} to ${SECRET_BYTES_MAX}`);
    } else if (secrets.some((other) => other.id === id)) {
      problems.push(`${where} uses the id ${id} a second time`);
    } else {
      secrets.push(peerSecret(id, bytes));
    }
  }
  if (secrets.length === 0 && problems.length === 0) problems.push(`the peers' secret file ${file} holds no secret`);
  if (secrets.length > SECRET_COUNT_MAX) {
    problems.push(
      `the peers' secret file ${file} holds ${counted(secrets.length, "secret")}; ${SECRET_COUNT_MAX} are allowed`,
    );
  }
  return secrets;
}

export function peerSecret(id: string, bytes: Uint8Array): PeerSecret {
  const key = createSecretKey(Buffer.from(hkdfSync("sha256", bytes, "zooid-peer", id, 32)));
  return { id, key };
}

/**
 * Makes a file with one new secret that only its owner can read. Throws the system's error when the
 * file exists.
 */
export function writePeerSecretFile(file: string): void {
  const descriptor = openSync(file, "wx", 0o600);
  try {
    // An id of its own, so that both secrets can be listed while servers change from one to the
    // other.
    writeSync(descriptor, `${randomBytes(4).toString("hex")}:${randomBytes(32).toString("base64")}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
