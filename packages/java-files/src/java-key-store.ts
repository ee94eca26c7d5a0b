import { loadJks } from "#jks-js";
import { pemBlocks } from "./pem-blocks.ts";

/** The content of a store of Java's own form, in PEM. */
export interface JavaKeyStore {
  /** The first private key that it holds, with its certificate and the chain behind it. */
  readonly identity: { readonly key: string; readonly cert: string } | undefined;
  /** Whom it trusts; of those who have a key in it, their own certificate. */
  readonly certificates: readonly string[];
}

/**
 * Reads a JKS file.
 *
 * @param password of the store and of its keys; without one nothing says whether the file was
 *   changed, and no key can be read
 * @throws for a file that cannot be read, was changed, or has another password
 */
export function readJavaKeyStore(file: Buffer, password: string | undefined): JavaKeyStore {
  let identity: JavaKeyStore["identity"];
  const certificates: string[] = [];
  for (const { ca, key, cert } of Object.values(loadJks().toPem(file, password ?? ""))) {
    if (key !== undefined && cert !== undefined) identity ??= { key, cert };
    const [own] = pemBlocks(ca ?? cert ?? "", "CERTIFICATE");
    if (own !== undefined) certificates.push(own);
  }
  return { identity, certificates };
}
