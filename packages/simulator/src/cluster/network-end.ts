import type { ElectionMessage, LinkRef, PeerMessage, ServerId } from "@zooid/model";
import { isOfAnotherEnsemble, type SaidDisk } from "@zooid/zab";

/** A server as the network sees it. */
export interface NetworkEnd {
  readonly sid: ServerId;
  linkOpened(link: LinkRef, sid: ServerId, isDialed: boolean, said?: SaidDisk): void;
  linkClosed(link: LinkRef, reason: string): void;
  received(link: LinkRef, message: PeerMessage): void;
  receivedElection(from: ServerId, message: ElectionMessage): void;
  /** A connection for elections came about, and the other server said this of its disk. */
  electionLinkUp(sid: ServerId, said: SaidDisk): void;
  /** It has ended; or the other server accepted one, and was refused. */
  electionLinkDown?(sid: ServerId): void;
  /** An attempt to connect ended without a connection after `tookMs`. */
  unanswered?(sid: ServerId, tookMs: number): void;
  /** The report of its disk when it connects. Default: nothing was ever written there. */
  readonly said?: SaidDisk;
  /**
   * Servers whose connections it refuses, since its files do not list them, as version 0.1.0 does.
   * Default: none.
   */
  readonly refused?: ReadonlySet<ServerId>;
  /** The voters that it awaits, since it may found an ensemble. Default: none. */
  readonly awaited?: Iterable<ServerId>;
}

const FRESH: SaidDisk = { history: "none", ensembleId: "" };

export function saidBy(end: NetworkEnd): SaidDisk {
  return end.said ?? FRESH;
}

/**
 * Servers of two ensembles refuse each other's connections, and some refuse servers that they do
 * not list.
 */
export function isRefused(a: NetworkEnd, b: NetworkEnd): boolean {
  if (a.refused?.has(b.sid) === true || b.refused?.has(a.sid) === true) return true;
  return isOfAnotherEnsemble(saidBy(a), saidBy(b));
}
