import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { pemBlocks } from "@zooid/java-files";

/** From this size on a list is a notice: about 20,000 certificates, 2 ms of each handshake. */
const LARGE_BYTES = 1024 * 1024;

/**
 * Certificate revocation lists in a PEM file; undefined if it is invalid, which becomes a problem.
 *
 * OpenSSL verifies the signature of a list in each handshake, before that of the certificate: a
 * certificate that no authority has signed makes the server hash the whole list too. So a large
 * list is a notice, with what it costs.
 */
export function readRevocationLists(
  name: string,
  file: string,
  problems: string[],
  notices: string[],
): string[] | undefined {
  try {
    const lists = [...pemBlocks(readFileSync(file, "latin1"), "X509 CRL")];
    if (lists.length === 0) {
      problems.push(`${name}: ${file} holds no list in PEM (openssl crl -inform DER -in LIST -out ${file} makes one)`);
      return undefined;
    }
    createSecureContext({ crl: lists });
    const bytes = lists.reduce((sum, list) => sum + list.length, 0);
    if (bytes >= LARGE_BYTES) {
      const mib = bytes / 1024 / 1024;
      notices.push(
        `${name}: ${file} has ${mib.toFixed(1)} MiB of lists: each handshake with a certificate reads all of them, ` +
          `and holds the server for about ${Math.round(mib * 2)} ms; lists without expired certificates are shorter`,
      );
    }
    return lists;
  } catch (error) {
    problems.push(`${name}: ${file} cannot be used: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
