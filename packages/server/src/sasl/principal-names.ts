import type { PrincipalRules } from "./principal-rules.ts";

/** `name/host@REALM`; the host may be absent. */
/**
 * A longer principal is refused: rules are patterns of the operator, whose time may grow faster
 * than the text.
 */
const PRINCIPAL_LENGTH_MAX = 1024;
const PRINCIPAL = /^([^/@]+)(?:\/([^/@]+))?@([^/@]+)$/;

export interface PrincipalNamesOptions {
  /** The names of `security.auth_to_local`. */
  readonly rules: PrincipalRules;
  readonly removesHost: boolean;
  readonly removesRealm: boolean;
}

/**
 * Principals as user names: the short name that the rules give, then host and realm unless
 * `kerberos.removeHostFromPrincipal` and `kerberos.removeRealmFromPrincipal` remove them.
 */
export class PrincipalNames {
  readonly #options: PrincipalNamesOptions;

  constructor(options: PrincipalNamesOptions) {
    this.#options = options;
  }

  /**
   * @returns undefined for a principal that no rule names, such as those of realms not mentioned
   */
  userOf(principal: string): string | undefined {
    const { rules, removesHost, removesRealm } = this.#options;
    if (principal.length > PRINCIPAL_LENGTH_MAX) return undefined;
    const [, name, host, realm] = PRINCIPAL.exec(principal) ?? [];
    if (name === undefined || realm === undefined) return undefined;
    const short = rules.shortName({ name, host, realm });
    if (short === undefined) return undefined;
    return `${short}${host === undefined || removesHost ? "" : `/${host}`}${removesRealm ? "" : `@${realm}`}`;
  }
}

/** The realm of a service's principal, `name/host@REALM`. */
export function realmOf(principal: string): string | undefined {
  const [, , host, realm] = PRINCIPAL.exec(principal) ?? [];
  return host === undefined ? undefined : realm;
}
