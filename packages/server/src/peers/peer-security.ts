import type { ServerId } from "@zooid/model";
import { eitherTransport } from "./either-transport.ts";
import type { SaidProtection } from "./handshake.ts";
import type { EnsembleServer, MemberDirectory } from "./member-directory.ts";
import { type PeerSecret, type PeerSecretMode, readPeerSecrets } from "./peer-secret.ts";
import { type PeerStoreOptions, type PeerTlsFiles, readPeerStores, readPeerTls } from "./peer-tls.ts";
import { type PeerTransport, PLAIN_TRANSPORT } from "./peer-transport.ts";

/** The requirements of a server for its links; a reload can change them. */
export interface PeerSecurityOptions {
  /** A file of shared secrets, one a line, `id:base64`. */
  readonly peerSecretFile?: string;
  /**
   * Whether links without proof of a secret are refused. Default `require`; needs `peerSecretFile`.
   */
  readonly peerSecretMode?: PeerSecretMode;
  /** Take links with TLS and without, by their first bytes; needs certificates. Default false. */
  readonly portUnification?: boolean;
  /** With `portUnification`, whether this server dials with TLS. Default true. */
  readonly dialsTls?: boolean;
  /** PEM files for TLS between the servers: all three, or none. */
  readonly peerTls?: Partial<PeerTlsFiles>;
  /** The same by key stores, in place of `peerTls`. */
  readonly peerStores?: PeerStoreOptions;
  /** Let peers connect over a network without authentication. Default false. */
  readonly allowUnauthenticatedPeers?: boolean;
}

/** A server's description of TLS on its links. */
export function saidTls(
  transport: PeerTransport,
  { takesBoth, dialsTls }: Pick<PeerProtection, "takesBoth" | "dialsTls">,
): Omit<SaidProtection, "needsProof"> {
  const takesTls = transport !== PLAIN_TRANSPORT;
  return { takesTls, takesPlain: !takesTls || takesBoth, dialsTls: takesTls && (!takesBoth || dialsTls) };
}

/** How this server's links are protected. */
export interface PeerProtection {
  readonly peerSecretFile: string | undefined;
  /** The secrets of that file; empty without one. */
  readonly secrets: readonly PeerSecret[];
  readonly secretMode: PeerSecretMode;
  readonly allowUnauthenticatedPeers: boolean;
  /** TLS, if there are files for it. */
  readonly transport: PeerTransport;
  /** Whether links without TLS are taken beside those with it. */
  readonly takesBoth: boolean;
  /** Whether this server dials with TLS. */
  readonly dialsTls: boolean;
  /** False where TLS was asked for, and its files could not be used. */
  readonly isTlsUsable: boolean;
}

/** The protection in force for new links; a reload replaces it. */
export class PeerSecurity {
  #current: PeerProtection;
  #generation = 0;

  constructor(current: PeerProtection) {
    this.#current = current;
  }

  get current(): PeerProtection {
    return this.#current;
  }

  /**
   * How often it was replaced: a link of an earlier generation was made with another protection.
   */
  get generation(): number {
    return this.#generation;
  }

  replace(current: PeerProtection): void {
    this.#current = current;
    this.#generation++;
  }
}

/**
 * Reads secrets and certificates; errors are added to the problems, and the result is then
 * unusable.
 */
export function parseProtection(
  options: PeerSecurityOptions,
  { sid, directory }: { readonly sid: ServerId; readonly directory: MemberDirectory },
  problems: string[],
  notices: string[],
): PeerProtection {
  const {
    peerSecretFile,
    peerSecretMode = "require",
    portUnification = false,
    allowUnauthenticatedPeers = false,
  } = options;
  if (options.peerSecretMode !== undefined && peerSecretFile === undefined) {
    problems.push("zooid.peerSecretMode needs a secret: add zooid.peerSecretFile=FILE, or remove both");
  }
  const tls = transportOf(options, { sid, directory }, problems, notices);
  const secretProblems: string[] = [];
  const secrets = peerSecretFile === undefined ? [] : readPeerSecrets(peerSecretFile, secretProblems);
  problems.push(...secretProblems.map((problem) => `zooid.peerSecretFile: ${problem}`));
  const dialsTls = tls !== PLAIN_TRANSPORT && (!portUnification || (options.dialsTls ?? true));
  return {
    peerSecretFile,
    secretMode: peerSecretMode,
    allowUnauthenticatedPeers,
    secrets,
    isTlsUsable: tls !== UNUSABLE_TRANSPORT,
    transport: portUnification && tls !== PLAIN_TRANSPORT ? eitherTransport(tls, dialsTls) : tls,
    takesBoth: portUnification,
    dialsTls,
  };
}

const LOCAL_PEERS =
  "all members are on this machine and do not authenticate each other: any local user can take a member's place, and read and change all data; " +
  "zooid.peerSecretFile=FILE on every member prevents that";

/**
 * Every host that reaches a peer port can take part. Beyond this machine, peers need
 * authentication, or the operator's explicit permission to do without.
 */
export function checkTrust(
  protection: PeerProtection,
  {
    servers,
    listenOnAllAddresses,
  }: { readonly servers: readonly EnsembleServer[]; readonly listenOnAllAddresses: boolean },
  problems: string[],
  notices: string[] = [],
): void {
  const { allowUnauthenticatedPeers, peerSecretFile, takesBoth, transport } = protection;
  const hasTls = transport !== PLAIN_TRANSPORT && !takesBoth;
  // A secret that is only offered is such a permission, too: a change to one that is required
  // passes here.
  if (hasTls || peerSecretFile !== undefined || allowUnauthenticatedPeers) return;
  const distant = servers.find(({ host }) => !isLoopback(host));
  if (distant === undefined && !listenOnAllAddresses) {
    if (servers.length > 1) notices.push(LOCAL_PEERS);
    return;
  }
  const why =
    distant === undefined
      ? "quorumListenOnAllIPs listens beyond this machine"
      : `server.${distant.sid} is at ${distant.host}, beyond this machine`;
  const both = takesBoth ? " (portUnification=true takes links without TLS)" : "";
  problems.push(
    `peers would not be authenticated${both}, and ${why}: add zooid.peerSecretFile=FILE, the same on every server ` +
      "(zooid-server init-secret FILE makes one), or zooid.allowUnauthenticatedPeers=true where all hosts on the network are trusted",
  );
}

function transportOf(
  { peerTls, peerStores, portUnification = false }: PeerSecurityOptions,
  { sid, directory }: { readonly sid: ServerId; readonly directory: MemberDirectory },
  problems: string[],
  notices: string[],
): PeerTransport {
  if (peerTls === undefined && peerStores === undefined) {
    if (portUnification)
      problems.push("portUnification=true needs certificates: ssl.quorum.keyStore.location, or zooid.peerTls.*");
    return PLAIN_TRANSPORT;
  }
  // A missing own line is a separate problem.
  if (directory.find(sid) === undefined) return UNUSABLE_TRANSPORT;
  const places = { sid, hostOf: (other: ServerId): string | undefined => directory.find(other)?.host };
  if (peerTls === undefined) return readPeerStores(peerStores ?? {}, places, problems, notices) ?? UNUSABLE_TRANSPORT;
  if (peerStores !== undefined) problems.push("sslQuorum=true and zooid.peerTls.* say the same: use one of them");
  const { key, cert, ca } = peerTls;
  if (key === undefined || cert === undefined || ca === undefined) {
    problems.push("TLS between servers needs all three of zooid.peerTls.key, zooid.peerTls.cert and zooid.peerTls.ca");
    return UNUSABLE_TRANSPORT;
  }
  return readPeerTls({ key, cert, ca }, places, problems) ?? UNUSABLE_TRANSPORT;
}

/** After a problem with TLS: TLS was requested, so that a missing secret is no problem. */
const UNUSABLE_TRANSPORT: PeerTransport = { ...PLAIN_TRANSPORT };

export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return name === "localhost" || name === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
}

/** The changes of a reload, a clause each; empty if there is none. */
export function protectionChanges(before: PeerProtection, after: PeerProtection): readonly string[] {
  const changes: string[] = [];
  const { allowUnauthenticatedPeers } = after;
  if (allowUnauthenticatedPeers !== before.allowUnauthenticatedPeers) {
    changes.push(`zooid.allowUnauthenticatedPeers=${allowUnauthenticatedPeers}`);
  }
  const [ids, idsBefore] = [after, before].map(({ secrets }) => secrets.map(({ id }) => id).join(", ") || "none");
  if (ids !== idsBefore) changes.push(`peer secrets ${ids} (before: ${idsBefore})`);
  const rewritten = after.secrets.filter(({ id, key }) =>
    before.secrets.some((other) => other.id === id && !other.key.equals(key)),
  );
  for (const { id } of rewritten) changes.push(`another peer secret under the id ${id}`);
  const [mode, modeBefore] = [after, before].map(secretModeText);
  if (mode !== modeBefore) changes.push(`peers' proofs ${mode} (before: ${modeBefore})`);
  const [tls, tlsBefore] = [after, before].map(tlsText);
  if (tls !== tlsBefore) changes.push(`${tls} (before: ${tlsBefore})`);
  else if (after.transport.material !== before.transport.material) changes.push("certificates or authorities of peers");
  return changes;
}

function secretModeText({ secrets, secretMode }: PeerProtection): string {
  if (secrets.length === 0) return "not asked for";
  return secretMode === "require" ? "required" : "offered";
}

function tlsText({ transport, takesBoth, dialsTls }: PeerProtection): string {
  if (transport === PLAIN_TRANSPORT) return "peers without TLS";
  if (!takesBoth) return "peers with TLS only";
  return `peers with and without TLS, dialed ${dialsTls ? "with it" : "without"}`;
}
