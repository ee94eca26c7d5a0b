import type { ServerId } from "@zooid/model";
import type { LogFields } from "../operators/log-fields.ts";
import { serversText } from "../operators/operator-sentences.ts";
import type { EnsembleOptions, QuorumPeerConfig } from "./ensemble-config.ts";
import type { SaidProtection } from "./handshake.ts";
import type { ProtectedLink } from "./peer-connection.ts";
import { checkTrust, type PeerProtection, parseProtection, protectionChanges, saidTls } from "./peer-security.ts";
import { PLAIN_TRANSPORT } from "./peer-transport.ts";

/** Interval at which a server that takes unprotected links logs that. */
const WARN_MS = 3_600_000;
/** Ticks after which a leader does not wait any longer for a learner whose link it has closed. */
const AWAY_TICKS_MAX = 10;

export interface LinkProtectionOptions {
  readonly ensemble: QuorumPeerConfig;
  /** All links of this server, of elections and of leaders and learners. */
  readonly links: () => { readonly elections: readonly ProtectedLink[]; readonly quorum: readonly ProtectedLink[] };
  readonly tickMs: number;
  warn(text: string, fields: LogFields): void;
}

/** A reload that is prepared; nothing has changed yet. */
export interface PreparedReload extends SecurityReload {
  /** False where TLS was asked for, and its files could not be used. */
  readonly isTlsUsable: boolean;
  /** Puts it into force; does nothing where there are problems. */
  apply(): void;
}

/** The result of a reload: a clause for each change, or a sentence for each reason against it. */
export interface SecurityReload {
  readonly changes: readonly string[];
  readonly problems: readonly string[];
}

export interface LinkCounts {
  readonly all: number;
  readonly tls: number;
  readonly proof: number;
}

/**
 * The protection of this server's links while it changes from one kind to another: counts them,
 * warns while unprotected ones are taken, and replaces secrets, certificates and modes on a reload.
 */
export class LinkProtection {
  readonly #options: LinkProtectionOptions;
  #warning: NodeJS.Timeout | undefined;
  #renewing: NodeJS.Timeout | undefined;
  /** The learner whose link was closed last, and for how many ticks it is away. */
  #renewed: { readonly sid: ServerId; tickCount: number } | undefined;

  constructor(options: LinkProtectionOptions) {
    this.#options = options;
  }

  start(): void {
    this.warn();
    this.#warning = setInterval(() => this.warn(), WARN_MS);
    this.#warning.unref();
    this.#renewing = setInterval(() => this.renew(), this.#options.tickMs);
    this.#renewing.unref();
  }

  stop(): void {
    clearInterval(this.#warning);
    clearInterval(this.#renewing);
  }

  get counts(): LinkCounts {
    const links = this.#all;
    return {
      all: links.length,
      tls: links.filter(({ hasTls }) => hasTls).length,
      proof: links.filter(({ hasProof }) => hasProof).length,
    };
  }

  /** A line while an attacker could talk servers out of proof or TLS. */
  warn(): void {
    const { secrets, secretMode, takesBoth } = this.#options.ensemble.security.current;
    const { all, tls, proof } = this.counts;
    const fields: LogFields = { event: "peers-unprotected" };
    if (secrets.length > 0 && secretMode === "offer") {
      this.#options.warn(
        `zooid.peerSecretMode=offer: links without proof of a secret are taken, ${proof} of ${all} have it now; ` +
          "set it to require when all have it",
        fields,
      );
    }
    if (takesBoth) {
      this.#options.warn(
        `portUnification=true: links between servers are taken without TLS, ${tls} of ${all} have it now; ` +
          "set it to false when all have it",
        fields,
      );
    }
  }

  /** All of the options take effect for new links, or none does. */
  reload(options: EnsembleOptions): SecurityReload {
    const { changes, problems, apply } = this.prepare(options);
    apply();
    return { changes, problems };
  }

  /** Reads secrets and certificates, and judges them, without a change yet. */
  prepare(options: EnsembleOptions): PreparedReload {
    const { ensemble } = this.#options;
    const before = ensemble.security.current;
    const problems: string[] = [];
    const after = parseProtection(options, ensemble, problems, []);
    if (problems.length === 0) checkTrust(after, ensemble, problems);
    if (problems.length === 0) problems.push(...this.#missing(before, after));
    const { isTlsUsable } = after;
    if (problems.length > 0) return { changes: [], problems, isTlsUsable, apply: () => {} };
    const changes = protectionChanges(before, after);
    const apply = (): void => {
      if (changes.length === 0) return;
      const unasked = this.#unasked(before, after);
      ensemble.security.replace(after);
      this.warn();
      for (const text of unasked) this.#options.warn(text, { event: "peers-not-asked" });
      this.renew();
    };
    return { changes, problems, isTlsUsable, apply };
  }

  get #all(): readonly ProtectedLink[] {
    const { elections, quorum } = this.#options.links();
    return [...elections, ...quorum];
  }

  /**
   * The new requirements that links lack: their servers would be cut off when they connect again.
   */
  #missing(before: PeerProtection, after: PeerProtection): readonly string[] {
    const problems: string[] = [];
    const servers = (lacks: (link: ProtectedLink) => boolean): string =>
      [...new Set(this.#all.filter(lacks).map(({ sid }) => sid))].sort((a, b) => a - b).join(", ");
    const asksNow = requiresSecret(after) && !requiresSecret(before);
    const unproved = asksNow ? servers(({ hasProof }) => !hasProof) : "";
    if (unproved !== "") {
      problems.push(
        `zooid.peerSecretMode=require would cut off server ${unproved}, whose links have no proof of a secret: ` +
          "first let every server have the secret with zooid.peerSecretMode=offer",
      );
    }
    const known = new Set(before.secrets.map(({ id }) => id));
    const isCommon = after.secrets.some(({ id }) => known.has(id));
    // A server that was away while the others changed their secret has links with none of them.
    const cut = requiresSecret(after) && requiresSecret(before) && !isCommon ? servers(() => true) : "";
    if (cut !== "") {
      problems.push(
        `zooid.peerSecretFile has no secret in common with the one in force, which would cut off server ${cut}: ` +
          "first let every server have both, the old one first",
      );
    }
    problems.push(...this.#distrusted(after));
    const plain = requiresTls(after) && !requiresTls(before) ? servers(({ hasTls }) => !hasTls) : "";
    if (plain !== "") {
      problems.push(
        `links without TLS to server ${plain} would be cut off: first set portUnification=true on every server, then sslQuorum=true`,
      );
    }
    problems.push(...this.#skipped(before, after, servers));
    return problems;
  }

  /**
   * Servers whose certificate none of the authorities has issued that are trusted from now on. Each
   * makes its links of elections again when its certificate changes, so that those show the present
   * one.
   */
  #distrusted(after: PeerProtection): readonly string[] {
    if (!requiresTls(after)) return [];
    const { elections, quorum } = this.#options.links();
    const others = quorum.filter(({ sid }) => !elections.some((link) => link.sid === sid));
    const distrusted = [...elections, ...others].filter(({ isTrustedBy }) => !isTrustedBy(after.transport));
    const sids = distrusted.map(({ sid }) => sid).sort((a, b) => a - b);
    if (sids.length === 0) return [];
    return [
      `no authority that is trusted now has issued the certificate of ${serversText(sids)}, whose links would be cut off: first let every ` +
        "server trust the old and the new authority, then give every server a certificate of the new one",
    ];
  }

  /** The new requirements that servers without a connection may lack: they were not asked. */
  #unasked(before: PeerProtection, after: PeerProtection): readonly string[] {
    const { directory, sid: own } = this.#options.ensemble;
    const heard = new Set(this.#all.map(({ sid }) => sid));
    const isObserver = directory.find(own)?.isObserver ?? false;
    // Observers have no links with each other.
    const unheard = directory.servers
      .filter((server) => server.sid !== own && !heard.has(server.sid) && !(isObserver && server.isObserver))
      .map(({ sid }) => sid);
    if (unheard.length === 0) return [];
    const said = (needs: string, settings: string): string =>
      `${needs}, and server ${unheard.join(", ")} is not connected, so that it is not known whether it can do that: see ${settings} there`;
    const texts: string[] = [];
    const known = new Set(before.secrets.map(({ id }) => id));
    const isCommon = after.secrets.some(({ id }) => known.has(id));
    if (requiresSecret(after) && !(requiresSecret(before) && isCommon))
      texts.push(said("links need proof of a secret now", "zooid.peerSecretFile"));
    if (requiresTls(after) && !requiresTls(before)) texts.push(said("links need TLS now", "sslQuorum"));
    else if (
      requiresTls(after) &&
      before.transport.authorities?.some((one) => !after.transport.authorities?.includes(one))
    )
      texts.push(said("an authority is not trusted any more", "its certificate"));
    else if (after.dialsTls && !before.dialsTls)
      texts.push(said("this server connects with TLS now", "portUnification and its certificates"));
    return texts;
  }

  /**
   * Links to other servers that a reload would end because it skips a stage of TLS or of the
   * secret. Whether the others are ready is known only if every server has passed every stage.
   */
  #skipped(
    before: PeerProtection,
    after: PeerProtection,
    servers: (isMeant: (link: ProtectedLink) => boolean) => string,
  ): readonly string[] {
    const problems: string[] = [];
    const proved = requiresSecret(before) && after.secrets.length === 0 ? servers(({ hasProof }) => hasProof) : "";
    if (proved !== "") {
      problems.push(
        `without zooid.peerSecretFile the links to server ${proved}, which may require a secret, would be cut off: ` +
          "first set zooid.peerSecretMode=offer on every server",
      );
    }
    const [from, to] = [tlsStage(before), tlsStage(after)];
    const secured = to === TlsStage.PLAIN || from - to > 1 ? servers(({ hasTls }) => hasTls) : "";
    if (secured !== "") {
      const first =
        from === TlsStage.TLS_ONLY
          ? "first set portUnification=true beside sslQuorum=true on every server, then sslQuorum=false on every server"
          : "first set sslQuorum=false beside portUnification=true on every server: then each one makes its links again without TLS";
      problems.push(`links with TLS to server ${secured} would be cut off: ${first}`);
    }
    if (from === TlsStage.PLAIN && to === TlsStage.BOTH_DIALS_TLS) {
      const all = servers(({ hasTls }) => !hasTls);
      if (all !== "")
        problems.push(
          `links with TLS would not be accepted by server ${all}, which may have none yet: ` +
            "first set portUnification=true and sslQuorum=false on every server",
        );
    }
    if (problems.length === 0) problems.push(...this.#declined(saidOf(before), saidOf(after)));
    return problems;
  }

  /**
   * The requirements that other servers say they cannot meet:
   *
   * 1. S1 and S2 take both, S3 was forgotten: all reach each other without TLS.
   * 2. S1 and S2 dial with TLS. All elect S3, whose port for learners neither reaches.
   */
  #declined(before: OwnProtection, after: OwnProtection): readonly string[] {
    const problems: string[] = [];
    const { elections } = this.#options.links();
    const servers = (declines: (peer: SaidProtection) => boolean): string =>
      elections
        .filter(({ peerSaid }) => peerSaid !== undefined && declines(peerSaid))
        .map(({ sid }) => sid)
        .sort((a, b) => a - b)
        .join(", ");
    const declined = (
      needs: boolean,
      declines: (peer: SaidProtection) => boolean,
      text: (of: string) => string,
    ): void => {
      const of = needs ? servers(declines) : "";
      if (of !== "") problems.push(text(of));
    };
    declined(
      after.dialsTls && !before.dialsTls,
      ({ takesTls }) => !takesTls,
      (of) =>
        `links with TLS would not be accepted by server ${of}, which takes none yet: first set portUnification=true there, with its certificates`,
    );
    declined(
      !after.dialsTls && before.dialsTls,
      ({ takesPlain }) => !takesPlain,
      (of) =>
        `links without TLS would not be accepted by server ${of}, which takes TLS only: first set portUnification=true there`,
    );
    declined(
      !after.takesPlain && before.takesPlain,
      ({ dialsTls }) => !dialsTls,
      (of) =>
        `links without TLS of server ${of}, which connects without it, would be cut off: first set sslQuorum=true there`,
    );
    declined(
      !after.takesTls && before.takesTls,
      ({ dialsTls }) => dialsTls,
      (of) =>
        `links with TLS of server ${of}, which connects with it, would be cut off: first set sslQuorum=false there`,
    );
    declined(
      !after.hasSecret && before.hasSecret,
      ({ needsProof }) => needsProof,
      (of) =>
        `without zooid.peerSecretFile the links to server ${of}, which requires a secret, would be cut off: first set zooid.peerSecretMode=offer there`,
    );
    return problems;
  }

  /**
   * Makes the links again that lack what this server has now, or that it would dial otherwise now,
   * and were made before the reload; for a timer, since a dial may have been under way at the
   * reload. Once all servers dial without TLS no link has it, which lets it be turned off. Those of
   * elections also say what each server takes, and are made again where that has changed. Links
   * that the other side cannot protect yet are made again by that one's reload. Links of elections,
   * and that of a learner to its leader, end at once; those of a leader's learners one after
   * another, each when the one before is there again, so that the leader keeps its quorum.
   */
  renew(): void {
    const { links, ensemble } = this.#options;
    const { generation, current } = ensemble.security;
    const now = saidOf(current);
    const isDue = (link: ProtectedLink): boolean =>
      link.generation < generation &&
      ((now.hasSecret && !link.hasProof) || (link.isDialed && link.hasTls !== now.dialsTls));
    const isStale = (link: ProtectedLink): boolean => link.generation < generation && !isSameSaid(link.said, now);
    const { elections, quorum } = links();
    // The other side judges by the certificate that it sees. A link of a leader stays: where the
    // other one does not trust the new certificate, the ensemble still serves.
    const hasNewCertificate = ({ certificate }: ProtectedLink): boolean =>
      certificate !== undefined && certificate !== current.transport.certificate;
    for (const link of elections) if (isDue(link) || isStale(link) || hasNewCertificate(link)) link.renew();
    for (const link of quorum) if (link.isDialed && isDue(link)) link.renew();
    const isBack = quorum.some(({ sid, isDialed }) => sid === this.#renewed?.sid && !isDialed);
    if (this.#renewed !== undefined && !isBack && ++this.#renewed.tickCount < AWAY_TICKS_MAX) return;
    const next = quorum.find((link) => !link.isDialed && isDue(link));
    this.#renewed = next === undefined ? undefined : { sid: next.sid, tickCount: 0 };
    next?.renew();
  }
}

/** A server's description of its links, and whether it has a secret. */
interface OwnProtection extends SaidProtection {
  readonly hasSecret: boolean;
}

function saidOf(protection: PeerProtection): OwnProtection {
  const needsProof = requiresSecret(protection);
  return { ...saidTls(protection.transport, protection), needsProof, hasSecret: protection.secrets.length > 0 };
}

function isSameSaid(one: SaidProtection, other: SaidProtection): boolean {
  return (
    one.takesTls === other.takesTls &&
    one.takesPlain === other.takesPlain &&
    one.dialsTls === other.dialsTls &&
    one.needsProof === other.needsProof
  );
}

function requiresSecret({ secrets, secretMode }: PeerProtection): boolean {
  return secrets.length > 0 && secretMode === "require";
}

/** The stages in which TLS between servers is turned on, and off. */
const TlsStage = { PLAIN: 0, BOTH_DIALS_PLAIN: 1, BOTH_DIALS_TLS: 2, TLS_ONLY: 3 } as const;

function tlsStage({ transport, takesBoth, dialsTls }: PeerProtection): number {
  if (transport === PLAIN_TRANSPORT) return TlsStage.PLAIN;
  if (!takesBoth) return TlsStage.TLS_ONLY;
  return dialsTls ? TlsStage.BOTH_DIALS_TLS : TlsStage.BOTH_DIALS_PLAIN;
}

function requiresTls({ transport, takesBoth }: PeerProtection): boolean {
  return transport !== PLAIN_TRANSPORT && !takesBoth;
}
