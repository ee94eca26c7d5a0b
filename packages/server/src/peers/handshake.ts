import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import {
  FEATURE_LEVELS,
  haveCommonLevel,
  knowsLevel,
  type LevelRange,
  OWN_LEVELS,
  type ServerId,
  unknownLevelText,
} from "@zooid/model";
import type { AuthProof, EnvelopeMessage, Hello, LinkPurpose, LinkRefuseReason } from "@zooid/peer-protocol";
import { EnvelopeWriter, envelopeBytesMax } from "@zooid/peer-protocol";
import { isOfAnotherEnsemble, type SaidHistory } from "@zooid/zab";
import type { PeerSecret, PeerSecretMode } from "./peer-secret.ts";

/**
 * How two servers authenticate a link, on either port:
 *
 * ```
 *   dialer                         listener
 *     │ ─────────── Hello ──────────▶ │
 *     │ ◀────────── Hello ─────────── │   both check that their configurations match
 *     │ ◀───────── AuthProof ──────── │   only with a secret in common: each proves that it has it,
 *     │ ────────── AuthProof ───────▶ │   over both Hellos and so over both nonces
 * ```
 *
 * No other message is read before the handshake has succeeded. A server that requires proof refuses
 * others; without secrets, and where both servers only offer proof, the network is trusted. With
 * secrets all later messages are still plain, so an attacker in the middle of the network could
 * take the link over; only TLS prevents that.
 */

/** The versions of these messages that this server supports. */
export const PEER_VERSION_MIN = 1;
export const PEER_VERSION_MAX = 1;

const NONCE_BYTES = 32;
/** A feature: clients may change the ensemble's configuration (`reconfigEnabled`). */
const CHANGEABLE = 1;
/**
 * Features that describe the disk. A server that says none of them has the data of an ensemble, or
 * has lost some; one of an earlier version never says any, and counts as such.
 */
const HISTORIES = { none: 2, own: 3, attempt: 4 } as const;

/** A feature: the sender refuses links without proof of a secret. */
const PROOF_REQUIRED = 16;
/**
 * A feature: the sender counts by the configuration that the ensemble agreed on, and its files only
 * ask for another one. Servers of version 0.1.0 do not have it: without `reconfigEnabled` they
 * count by their files.
 */
const LIST_IN_FORCE = 32;

/**
 * Features: the links that the sender takes, and dials. Servers that do not name their starts do
 * not say.
 */
const TAKES_TLS = 64;
const TAKES_TLS_ALONE = 128;
const DIALS_TLS = 256;

/** How a server protects its links, as it says. */
export interface SaidProtection {
  readonly takesTls: boolean;
  /** It takes links without TLS. */
  readonly takesPlain: boolean;
  readonly dialsTls: boolean;
  /** It refuses links without proof of a secret. */
  readonly needsProof: boolean;
}

/** A server's data in a Hello, as of now. */
export interface LinkIdentity {
  /** Empty until this server holds an epoch of an ensemble. */
  readonly ensembleId: string;
  readonly bootCount: number;
  /** Random for each start. */
  readonly startId: string;
  /** The history on the disk. */
  readonly history: SaidHistory;
  /** The feature levels that this server knows. Default: this version's. */
  readonly levels?: LevelRange;
  /** The level in force, as far as this server knows. Default 0: it has no history. */
  readonly level?: number;
}

/** The server at the other end. */
export interface PeerIdentity {
  readonly sid: ServerId;
  readonly bootCount: number;
  /** Empty if it does not say. */
  readonly startId: string;
  readonly ensembleId: string;
  /** The reported history of its disk. */
  readonly history: SaidHistory;
  readonly version: number;
  /** The longest frame that it accepts. */
  readonly frameBytesMax: number;
  /** Where it is, as it says; empty if it does not say. */
  readonly host: string;
  /** Undefined if it does not say. */
  readonly protection: SaidProtection | undefined;
}

export interface HandshakeConfig {
  readonly sid: ServerId;
  readonly purpose: LinkPurpose;
  /** Where this server is, by its own line. */
  readonly host: () => string;
  readonly isListed: (sid: ServerId) => boolean;
  readonly electionAlg: number;
  /** Whether clients may change the ensemble's configuration; asked at every handshake. */
  readonly isChangeable: () => boolean;
  /** Whether the list of this server's files is in force. */
  readonly isFileInForce: () => boolean;
  readonly frameBytesMax: number;
  /**
   * The first that the other side has too is used, all are accepted; empty means no authentication.
   */
  readonly secrets: readonly PeerSecret[];
  readonly tls: Omit<SaidProtection, "needsProof">;
  /** Whether links without proof are refused, where there are secrets. */
  readonly secretMode: PeerSecretMode;
  readonly identity: () => LinkIdentity;
  /**
   * A further reason to refuse this server, as a sentence for it; called before and after the
   * proofs.
   *
   * @param isCertain there are no further proofs
   */
  readonly admit: (peer: PeerIdentity, isCertain: boolean) => HandshakeFault | undefined;
}

/** The reason why a link is refused. */
export interface HandshakeFault {
  readonly reason: LinkRefuseReason;
  readonly text: string;
}

/** The other side must not be linked with. */
export class HandshakeError extends Error {
  override readonly name = "HandshakeError";
  readonly reason: LinkRefuseReason;
  constructor({ reason, text }: HandshakeFault) {
    super(text);
    this.reason = reason;
  }
}

/** The messages of one side of one link, without the socket. */
export class Handshake {
  readonly #config: HandshakeConfig;
  /** The sid that this side dialed; undefined at the side that listens. */
  readonly #dialed: ServerId | undefined;
  #own: { readonly hello: Hello; readonly hash: Buffer } | undefined;
  #other: { readonly identity: PeerIdentity; readonly hash: Buffer } | undefined;
  #asksForProof = false;
  #isProved = false;

  constructor(config: HandshakeConfig, dialed: ServerId | undefined) {
    this.#config = config;
    this.#dialed = dialed;
  }

  /** Whether the other side has proved that it has a shared secret. */
  get isProved(): boolean {
    return this.#isProved;
  }

  /** The links of this side, as it describes them. */
  get said(): SaidProtection {
    return { ...this.#config.tls, needsProof: this.#isProofRequired };
  }

  /** The links of the other side, as it describes them; undefined if it does not. */
  get peerSaid(): SaidProtection | undefined {
    return this.#other?.identity.protection;
  }

  /** The dialer's first message. */
  begin(): Hello {
    return this.#hello();
  }

  /**
   * Compares the other side's Hello with this server's configuration.
   *
   * @throws HandshakeError when the link must be closed
   */
  check(hello: Hello): PeerIdentity {
    const identity = this.#check(hello);
    this.#admit(identity, false);
    return identity;
  }

  /**
   * Handles a message of the other side.
   *
   * @param body the envelope that the message came in
   * @param reply sends the next message
   * @returns the other side's identity, once it is certain
   * @throws HandshakeError when the link must be closed
   */
  receive(
    message: EnvelopeMessage,
    body: Uint8Array,
    reply: (message: EnvelopeMessage) => void,
  ): PeerIdentity | undefined {
    if (message.kind === "hello" && this.#other === undefined) return this.#greeted(message, body, reply);
    if (message.kind === "auth-proof" && this.#other !== undefined && this.#asksForProof) {
      return this.#proved(message);
    }
    throw fault("auth", `${message.kind} came before the handshake was over`);
  }

  #greeted(hello: Hello, body: Uint8Array, reply: (message: EnvelopeMessage) => void): PeerIdentity | undefined {
    const identity = this.#check(hello);
    const secret = commonSecret(this.#config.secrets, hello);
    // Before the listener's Hello, with which the link may be open at the dialer.
    this.#admit(identity, secret === undefined);
    const isListener = this.#own === undefined;
    const own = isListener ? this.#hello() : undefined;
    if (own !== undefined) reply(own);
    this.#other = { identity, hash: sha256(body) };
    if (secret === undefined) return identity;
    this.#asksForProof = true;
    reply({ kind: "auth-proof", keyId: secret.id, mac: this.#mac(secret, "own") });
    return undefined;
  }

  #proved(proof: AuthProof): PeerIdentity {
    const secret = this.#config.secrets.find(({ id }) => id === proof.keyId);
    const { mac } = proof;
    const expected = secret === undefined ? undefined : this.#mac(secret, "other");
    if (expected === undefined || mac.length !== expected.length || !timingSafeEqual(mac, expected)) {
      throw fault("auth", "the proof of the shared secret is wrong");
    }
    const { identity } = this.#known();
    this.#admit(identity, true);
    this.#isProved = true;
    return identity;
  }

  #admit(identity: PeerIdentity, isCertain: boolean): void {
    const refusal = this.#config.admit(identity, isCertain);
    if (refusal !== undefined) throw new HandshakeError(refusal);
  }

  #check(hello: Hello): PeerIdentity {
    const { sid, purpose, isListed, electionAlg, secrets, identity } = this.#config;
    const { ensembleId } = identity();
    if (hello.purpose !== purpose) {
      throw fault(
        "configuration",
        `a link for ${hello.purpose} came to the ${purpose} port; see the ports of server.N`,
      );
    }
    const version = Math.min(hello.versionMax, PEER_VERSION_MAX);
    if (version < Math.max(hello.versionMin, PEER_VERSION_MIN)) {
      const theirs = `${hello.versionMin} to ${hello.versionMax}`;
      throw fault(
        "version",
        `this server speaks versions ${PEER_VERSION_MIN} to ${PEER_VERSION_MAX}, the other ${theirs}`,
      );
    }
    if (hello.sid === sid) {
      throw fault(
        "configuration",
        `another server says that it is server ${sid} too (myid), or this one reached itself`,
      );
    }
    if (this.#dialed !== undefined && hello.sid !== this.#dialed) {
      throw fault(
        "configuration",
        `at the address of server ${this.#dialed} is server ${hello.sid}: correct line server.${this.#dialed} of zoo.cfg, or the file myid there`,
      );
    }
    if (!isListed(hello.sid)) throw fault("configuration", `server ${hello.sid} is not listed at server ${sid}`);
    if (hello.electionAlg !== electionAlg) {
      throw fault(
        "configuration",
        `electionAlg is ${electionAlg} at server ${sid} and ${hello.electionAlg} at the other`,
      );
    }
    if (!hello.features.includes(LIST_IN_FORCE)) this.#checkEarlierVersion(hello);
    const history = historyIn(hello.features);
    this.#checkLevels(hello);
    if (isOfAnotherEnsemble(identity(), { ensembleId: hello.ensembleId, history })) {
      throw fault("ensemble", `server ${sid} belongs to the ensemble ${ensembleId}, the other to ${hello.ensembleId}`);
    }
    if (hello.nonce.length !== NONCE_BYTES) throw fault("version", `a nonce of ${hello.nonce.length} bytes`);
    const isRequired = this.#isProofRequired || hello.features.includes(PROOF_REQUIRED);
    if (isRequired && commonSecret(secrets, hello) === undefined) {
      if (hello.keyIds.length === 0) {
        throw fault("auth", `server ${sid} asks for proof of a secret (zooid.peerSecretFile), the other has none`);
      }
      if (secrets.length === 0) {
        throw fault("auth", `server ${sid} has no secret (zooid.peerSecretFile), the other asks for one`);
      }
      throw fault("auth", "the two servers have no secret in common (zooid.peerSecretFile)");
    }
    const { bootCount, frameBytesMax, host, startId, features } = hello;
    const protection = startId === "" ? undefined : protectionIn(features);
    return {
      sid: hello.sid,
      bootCount,
      startId,
      ensembleId: hello.ensembleId,
      history,
      version,
      frameBytesMax,
      host,
      protection,
    };
  }

  /**
   * Whether each of the two knows the feature level that the other has in force. Both come to the
   * same answer; without a history they need a level that both know.
   */
  #checkLevels({ sid: other, level, levels: theirs }: Hello): void {
    const { sid, identity } = this.#config;
    const { level: own = 0, levels: ours = OWN_LEVELS } = identity();
    if (!knowsLevel(ours, level))
      throw fault("version", unknownLevelText(`the ensemble of server ${other}`, level, ours));
    if (!knowsLevel(theirs, own)) {
      throw fault(
        "version",
        `${levelsText(other, theirs)}, and the ensemble of server ${sid} has feature level ${own}, which ${versionsText(own)}`,
      );
    }
    if (!haveCommonLevel(ours, theirs)) {
      throw fault(
        "version",
        `${levelsText(other, theirs)}, and server ${sid} none of them: their versions are too far apart`,
      );
    }
  }

  /** Compares the Hello of a server of version 0.1.0. */
  #checkEarlierVersion(hello: Hello): void {
    const { sid } = this.#config;
    const isChangeable = hello.features.includes(CHANGEABLE);
    if (isChangeable !== this.#config.isChangeable()) {
      throw fault(
        "configuration",
        `reconfigEnabled is ${!isChangeable} at server ${sid} and ${isChangeable} at the other, whose version takes one value at all servers`,
      );
    }
    // 1. S1 of version 0.1.0 has the list 1, 2, 3; the list in force is 1, 2, 3, 4.
    // 2. S2 follows S1, which commits with S2 alone.
    if (!isChangeable && !this.#config.isFileInForce()) {
      throw fault(
        "configuration",
        `server ${hello.sid} is of a version that counts by its own list of servers, and the members have changed at server ${sid}; upgrade server ${hello.sid}`,
      );
    }
  }

  #hello(): Hello {
    const { sid, purpose, electionAlg, frameBytesMax, secrets, identity, host, tls } = this.#config;
    const { ensembleId, bootCount, history, startId, level = 0, levels = OWN_LEVELS } = identity();
    const hello: Hello = {
      kind: "hello",
      ensembleId,
      sid,
      bootCount,
      nonce: randomBytes(NONCE_BYTES),
      purpose,
      features: [
        ...(this.#config.isChangeable() ? [CHANGEABLE] : []),
        ...(history === "ensemble" ? [] : [HISTORIES[history]]),
        ...(this.#isProofRequired ? [PROOF_REQUIRED] : []),
        ...(tls.takesTls ? [TAKES_TLS] : []),
        ...(tls.takesPlain ? [] : [TAKES_TLS_ALONE]),
        ...(tls.dialsTls ? [DIALS_TLS] : []),
        LIST_IN_FORCE,
      ],
      versionMin: PEER_VERSION_MIN,
      versionMax: PEER_VERSION_MAX,
      frameBytesMax,
      electionAlg,
      keyIds: secrets.map(({ id }) => id),
      host: host(),
      startId,
      levels,
      level,
    };
    const body = Buffer.alloc(envelopeBytesMax(hello));
    this.#own = { hello, hash: sha256(body.subarray(0, new EnvelopeWriter().write(body, 0, hello))) };
    return hello;
  }

  get #isProofRequired(): boolean {
    const { secrets, secretMode } = this.#config;
    return secrets.length > 0 && secretMode === "require";
  }

  /** The label names the prover, so that a proof cannot be reflected to its sender. */
  #mac(secret: PeerSecret, whose: "own" | "other"): Buffer {
    const { own, hash } = this.#known();
    const isDialer = this.#dialed !== undefined;
    const byDialer = (whose === "own") === isDialer;
    return createHmac("sha256", secret.key)
      .update(byDialer ? "zooid-peer dialer\0" : "zooid-peer listener\0")
      .update(isDialer ? own : hash)
      .update(isDialer ? hash : own)
      .digest();
  }

  #known(): { readonly identity: PeerIdentity; readonly own: Buffer; readonly hash: Buffer } {
    if (this.#own === undefined || this.#other === undefined) throw fault("auth", "a proof came before a hello");
    return { ...this.#other, own: this.#own.hash };
  }
}

function levelsText(sid: ServerId, { lowest, highest }: LevelRange): string {
  return `server ${sid} knows feature level${lowest === highest ? ` ${highest}` : `s ${lowest} to ${highest}`}`;
}

/** The versions that know a level. */
function versionsText(level: number): string {
  const since = FEATURE_LEVELS.find((each) => each.level === level)?.since;
  const next = FEATURE_LEVELS.find((each) => each.level === level + 2)?.since;
  if (since === undefined) return "later versions know";
  return next === undefined ? `versions from ${since} on know` : `versions from ${since} to before ${next} know`;
}

function protectionIn(features: readonly number[]): SaidProtection {
  return {
    takesTls: features.includes(TAKES_TLS),
    takesPlain: !features.includes(TAKES_TLS_ALONE),
    dialsTls: features.includes(DIALS_TLS),
    needsProof: features.includes(PROOF_REQUIRED),
  };
}

function historyIn(features: readonly number[]): SaidHistory {
  for (const history of ["none", "own", "attempt"] as const) if (features.includes(HISTORIES[history])) return history;
  return "ensemble";
}

/** Both sides find one, or neither does. */
function commonSecret(secrets: readonly PeerSecret[], { keyIds }: Hello): PeerSecret | undefined {
  return secrets.find(({ id }) => keyIds.includes(id));
}

function fault(reason: LinkRefuseReason, text: string): HandshakeError {
  return new HandshakeError({ reason, text });
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
