import type { LinkRef, PeerMessage, ServerId } from "@zooid/model";
import type { CommittedEntries } from "./committed-entries.ts";
import type { ZabPeer } from "./peer.ts";
import type { ZabLinks } from "./sinks.ts";

/** One end of a link. */
interface LinkEnd {
  readonly sid: ServerId;
  readonly peer: ZabPeer;
  readonly link: LinkRef;
}

/**
 * Peers in one process, the links between them and the loop that drives them: for demonstrations
 * and tests. It is what a driver does with sockets: each input is followed by a turn, in which the
 * peer's committed entries are applied, and the peer flushes.
 */
export class LocalNetwork {
  readonly #peers = new Map<ServerId, ZabPeer>();
  readonly #apply = new Map<ServerId, (entry: CommittedEntries) => void>();
  /** The other end of each link. */
  readonly #far = new Map<LinkRef, LinkEnd>();
  readonly #steps: (() => void)[] = [];
  #linkCount = 0;

  /** Runs a step after the present one, in the order of the calls. */
  readonly later: (step: () => void) => void = (step) => {
    this.#steps.push(step);
  };

  /** @param apply applies one committed entry, whose bytes are valid during the call */
  add(sid: ServerId, peer: ZabPeer, apply: (entry: CommittedEntries) => void): void {
    this.#peers.set(sid, peer);
    this.#apply.set(sid, apply);
  }

  peer(sid: ServerId): ZabPeer {
    const peer = this.#peers.get(sid);
    if (peer === undefined) throw new RangeError(`there is no peer ${sid} here`);
    return peer;
  }

  /** The server at the other end of a link; undefined once the link is closed. */
  otherEnd(link: LinkRef): ServerId | undefined {
    return this.#far.get(link)?.sid;
  }

  linksOf(sid: ServerId): ZabLinks {
    return {
      dial: (to) => this.later(() => this.#open(sid, to)),
      send: (link, message) => this.#send(link, message),
      close: (link) => this.#close(link),
    };
  }

  /** Runs every step, and those that follow from it. */
  run(): void {
    for (let step = this.#steps.shift(); step !== undefined; step = this.#steps.shift()) {
      step();
      for (const [sid, peer] of this.#peers) {
        const entries = peer.takeCommitted();
        while (entries.next()) this.#apply.get(sid)?.(entries);
        peer.applied();
        if (entries.hasMore) this.later(() => {});
        peer.flush();
      }
    }
  }

  #open(from: ServerId, to: ServerId): void {
    const [dialer, acceptor] = [this.peer(from), this.peer(to)];
    const [here, there] = [++this.#linkCount as LinkRef, ++this.#linkCount as LinkRef];
    this.#far.set(here, { sid: to, peer: acceptor, link: there }).set(there, { sid: from, peer: dialer, link: here });
    acceptor.linkOpened(there, from, false);
    dialer.linkOpened(here, to, true);
  }

  #send(link: LinkRef, message: PeerMessage): void {
    // Looked up on arrival: nothing arrives on a link that was closed.
    this.later(() => {
      const far = this.#far.get(link);
      if (far !== undefined) far.peer.onMessage(far.link, message);
    });
  }

  #close(link: LinkRef): void {
    const far = this.#far.get(link);
    if (far === undefined) return;
    this.#far.delete(link);
    this.#far.delete(far.link);
    this.later(() => far.peer.linkClosed(far.link, "closed by the other end"));
  }
}
