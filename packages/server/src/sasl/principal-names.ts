/** `name/host@REALM`; the host may be absent. */
const PRINCIPAL = /^([^/@]+)(?:\/([^/@]+))?@([^/@]+)$/;

export interface PrincipalNamesOptions {
  readonly realm: string;
  readonly removesHost: boolean;
  readonly removesRealm: boolean;
}

/** Principals as user names, by `kerberos.removeHostFromPrincipal` and `kerberos.removeRealmFromPrincipal`. */
export class PrincipalNames {
  readonly #options: PrincipalNamesOptions;

  constructor(options: PrincipalNamesOptions) {
    this.#options = options;
  }

  /** @returns undefined for a principal of another realm, whose names say nothing here */
  userOf(principal: string): string | undefined {
    const { realm: own, removesHost, removesRealm } = this.#options;
    const [, name, host, realm] = PRINCIPAL.exec(principal) ?? [];
    if (name === undefined || realm !== own) return undefined;
    return `${name}${host === undefined || removesHost ? "" : `/${host}`}${removesRealm ? "" : `@${realm}`}`;
  }
}

/** The realm of a service's principal, `name/host@REALM`. */
export function realmOf(principal: string): string | undefined {
  const [, , host, realm] = PRINCIPAL.exec(principal) ?? [];
  return host === undefined ? undefined : realm;
}
