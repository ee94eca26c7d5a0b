/**
 * Roles limit what the console itself offers; the access lists of the tree decide on every node,
 * for each role.
 */
import type { Identity } from "@zooid/model";

/** Each role includes those before it: to read; to change nodes; to see and end other sessions. */
export type Role = "viewer" | "editor" | "operator";
export const ROLES: readonly Role[] = ["viewer", "editor", "operator"];

/** Identities by role, each as `scheme:id`, such as `digest:alice:BASE64` or `x509:CN=alice`. */
export interface RoleOptions {
  readonly viewers?: readonly string[];
  readonly editors?: readonly string[];
  readonly operators?: readonly string[];
}

export function includesRole(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/**
 * The role of each user. Without configured roles every user has the same: operator where only this
 * machine reaches the console, else viewer. With them, users without a role are refused.
 */
export class RoleTable {
  readonly #roles = new Map<string, Role>();
  readonly #default: Role | undefined;
  readonly #highest: Role;

  /** @param highest that a user has here, whatever is configured */
  constructor(
    { viewers = [], editors = [], operators = [] }: RoleOptions,
    isLoopback: boolean,
    highest: Role = "operator",
  ) {
    this.#highest = highest;
    for (const id of viewers) this.#roles.set(id, "viewer");
    for (const id of editors) this.#roles.set(id, "editor");
    for (const id of operators) this.#roles.set(id, "operator");
    this.#default = this.#roles.size > 0 ? undefined : isLoopback ? "operator" : "viewer";
  }

  /** Whether roles are configured. */
  get isConfigured(): boolean {
    return this.#roles.size > 0;
  }

  /** The highest role of any of the identities; undefined: the user is refused. */
  roleOf(identities: readonly Identity[]): Role | undefined {
    let best = this.#default;
    for (const { scheme, id } of identities) {
      const role = this.#roles.get(`${scheme}:${id}`);
      if (role !== undefined && (best === undefined || includesRole(role, best))) best = role;
    }
    return best !== undefined && includesRole(best, this.#highest) ? this.#highest : best;
  }
}
