/** An identity of a connection under one authentication scheme. A connection collects several. */
export interface Identity {
  readonly scheme: string;
  readonly id: string;
}

/** One line of a znode's access list. `perms` is kept as the client sent it, unknown bits too. */
export interface AclEntry {
  readonly perms: number;
  readonly scheme: string;
  readonly id: string;
}

export type Acl = readonly AclEntry[];

/**
 * When an entry of a scheme covers an identity of the same scheme: their ids are equal, or one of
 * these rules holds.
 */
export interface SchemeRule {
  /**
   * Ids of entries are ranges of IP addresses, ids of identities addresses. Only for the scheme
   * `ip`.
   */
  readonly isRange?: boolean;
  /** An identity that every entry of the scheme covers. */
  readonly masterId?: string | undefined;
  /** An entry's id that covers every identity of the scheme. */
  readonly everyoneId?: string | undefined;
}

export interface AccessRules {
  /** `skipACL=yes`: no access is refused. */
  readonly skipAcl: boolean;
  /** The schemes that can match in an ACL; an entry of any other scheme covers no identity. */
  readonly schemes: ReadonlyMap<string, SchemeRule>;
}
