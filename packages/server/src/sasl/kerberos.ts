import { accessSync, constants } from "node:fs";
import type { JaasModule } from "@zooid/java-files";
import { type GssAcceptor, GssError } from "./gss-context.ts";
import { openGssAcceptor } from "./gss-library.ts";
import { PrincipalNames, realmOf } from "./principal-names.ts";

/** What a server needs to authenticate clients by Kerberos. */
export interface Kerberos {
  readonly acceptor: GssAcceptor;
  readonly names: PrincipalNames;
}

export interface KerberosOptions {
  readonly jaasFile?: string;
  readonly jaasSection?: string;
  readonly removeHostFromPrincipal?: boolean;
  readonly removeRealmFromPrincipal?: boolean;
}

const MODULE = "com.sun.security.auth.module.Krb5LoginModule";

export function hasKerberos(modules: readonly JaasModule[]): boolean {
  return modules.some(({ name }) => name === MODULE);
}

/**
 * Opens the keytab that a section of a JAAS file names; errors are added to the problems.
 *
 * @param open replaced in tests
 * @returns undefined without a module for Kerberos, and if there is a problem
 */
export function parseKerberos(
  modules: readonly JaasModule[],
  { jaasFile, jaasSection = "Server", removeHostFromPrincipal, removeRealmFromPrincipal }: KerberosOptions,
  problems: string[],
  open: typeof openGssAcceptor = openGssAcceptor,
): Kerberos | undefined {
  const module = modules.find(({ name }) => name === MODULE);
  if (module === undefined) return undefined;
  const found = problems.length;
  const where = `jaasLoginConfig: the section ${jaasSection} of ${jaasFile}`;
  const { principal, keyTab } = Object.fromEntries(module.options);
  const realm = principal === undefined ? undefined : realmOf(principal);
  if (principal === undefined || realm === undefined)
    problems.push(
      `${where} needs principal="zookeeper/HOST@REALM", found ${principal === undefined ? "none" : `"${principal}"`}`,
    );
  if (module.options.get("useKeyTab")?.toLowerCase() !== "true" || keyTab === undefined)
    problems.push(`${where} needs useKeyTab=true and keyTab="FILE": the server's key comes from a keytab only`);
  else {
    try {
      accessSync(keyTab, constants.R_OK);
    } catch (error) {
      problems.push(`${where}: the keytab cannot be read: ${error instanceof Error ? error.message : error}`);
    }
  }
  if (problems.length > found || principal === undefined || realm === undefined || keyTab === undefined)
    return undefined;
  try {
    const acceptor = open({ principal, keyTab });
    const [removesHost, removesRealm] = [removeHostFromPrincipal ?? false, removeRealmFromPrincipal ?? false];
    return { acceptor, names: new PrincipalNames({ realm, removesHost, removesRealm }) };
  } catch (error) {
    if (!(error instanceof GssError)) throw error;
    problems.push(`${where} asks for Kerberos: ${error.message}`);
    return undefined;
  }
}
