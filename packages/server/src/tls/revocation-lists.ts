import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { pemBlocks } from "@zooid/java-files";

/**
 * Certificate revocation lists in a PEM file; undefined if it is invalid, which becomes a problem.
 */
export function readRevocationLists(name: string, file: string, problems: string[]): string[] | undefined {
  try {
    const lists = [...pemBlocks(readFileSync(file, "latin1"), "X509 CRL")];
    if (lists.length === 0) {
      problems.push(`${name}: ${file} holds no list in PEM (openssl crl -inform DER -in LIST -out ${file} makes one)`);
      return undefined;
    }
    createSecureContext({ crl: lists });
    return lists;
  } catch (error) {
    problems.push(`${name}: ${file} cannot be used: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
