import type { Credential } from "@zooid/client";
import { digest, digestId } from "@zooid/client";
import type { Identity } from "@zooid/model";

/** A user of the console, by what the request or its session proves. */
export interface User {
  /** The name to show and to log; undefined for the anonymous user. */
  readonly name: string | undefined;
  readonly identities: readonly Identity[];
  /** The credential of the user's ZooKeeper session; undefined: none. */
  readonly credential: Credential | undefined;
}

export const ANONYMOUS: User = { name: undefined, identities: [], credential: undefined };

/** As the login takes them. */
const NAME_MAX = 256;
const PASSWORD_MAX = 1024;

export interface DigestLogin {
  readonly user: string;
  readonly password: string;
}

/**
 * A user of the scheme `digest`. Servers accept any password: the id that it gives is the proof.
 */
export function digestUser({ user, password }: DigestLogin): User {
  return {
    name: user,
    identities: [{ scheme: "digest", id: digestId(user, password) }],
    credential: digest(user, password),
  };
}

/** The user of the header `Authorization`; undefined for a form that is not known. */
export function userOfHeader(header: string): User | undefined {
  const [, scheme = "", data = ""] = /^(\w+) +(\S.*)$/.exec(header.trim()) ?? [];
  const text = scheme.toLowerCase() === "basic" ? Buffer.from(data, "base64").toString() : data;
  if (!/^(basic|digest)$/i.test(scheme)) return undefined;
  const colon = text.indexOf(":");
  if (colon < 1 || colon > NAME_MAX || text.length - colon > PASSWORD_MAX) return undefined;
  return digestUser({ user: text.slice(0, colon), password: text.slice(colon + 1) });
}

/**
 * The user of a client certificate. Its ZooKeeper session is anonymous: the key is the browser's.
 */
export function certificateUser(subject: string): User {
  return { name: subject, identities: [{ scheme: "x509", id: subject }], credential: undefined };
}
