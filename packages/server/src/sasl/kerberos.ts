import { accessSync, constants } from "node:fs";
import type { JaasModule } from "@zooid/java-files";
import { type GssAcceptor, GssError } from "./gss-context.ts";
import { openGssAcceptor } from "./gss-library.ts";
import { PrincipalNames, realmOf } from "./principal-names.ts";
import { parsePrincipalRules } from "./principal-rules.ts";

/** The parts by which a server authenticates clients by Kerberos. */
export interface Kerberos {
  readonly acceptor: GssAcceptor;
  readonly names: PrincipalNames;
}

export interface KerberosOptions {
  readonly jaasFile?: string;
  readonly jaasSection?: string;
  readonly authToLocal?: string;
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
  options: KerberosOptions,
  problems: string[],
  open: typeof openGssAcceptor = openGssAcceptor,
): Kerberos | undefined {
  const module = modules.find(({ name }) => name === MODULE);
  if (module === undefined) return undefined;
  const { jaasFile, jaasSection = "Server", authToLocal = "DEFAULT" } = options;
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
  const rules = parsePrincipalRules(authToLocal, realm ?? "");
  if (typeof rules === "string") problems.push(`security.auth_to_local ${rules}`);
  if (problems.length > found || principal === undefined || keyTab === undefined || typeof rules === "string")
    return undefined;
  try {
    const acceptor = open({ principal, keyTab });
    const { removeHostFromPrincipal: removesHost = false, removeRealmFromPrincipal: removesRealm = false } = options;
    return { acceptor, names: new PrincipalNames({ rules, removesHost, removesRealm }) };
  } catch (error) {
    if (!(error instanceof GssError)) throw error;
    problems.push(`${where} asks for Kerberos: ${error.message}`);
    return undefined;
  }
}
