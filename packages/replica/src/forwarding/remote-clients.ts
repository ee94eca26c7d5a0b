import type { Identity, LinkRef, Zxid } from "@zooid/model";

/** A learner's sync that waits until a quorum has confirmed this leader. */
export interface RemoteSync {
  readonly link: LinkRef;
  readonly sequence: number;
  readonly check: number;
  readonly readAt: Zxid;
}

const NO_IDENTITIES: readonly Identity[] = [];

/** At the leader: the identities and pending syncs of its learners' clients. */
export class RemoteClients {
  readonly #identities = new Map<LinkRef, Map<number, readonly Identity[]>>();
  #syncs: RemoteSync[] = [];

  /** A learner's client has these identities from now on. */
  identify(link: LinkRef, client: number, identities: readonly Identity[]): void {
    let clients = this.#identities.get(link);
    if (clients === undefined) {
      clients = new Map();
      this.#identities.set(link, clients);
    }
    clients.set(client, identities);
  }

  identities(link: LinkRef, client: number): readonly Identity[] {
    return this.#identities.get(link)?.get(client) ?? NO_IDENTITIES;
  }

  sync(sync: RemoteSync): void {
    this.#syncs.push(sync);
  }

  get syncCount(): number {
    return this.#syncs.length;
  }

  /** Takes out the syncs that a leadership check confirms, in order. */
  confirmed(check: number): readonly RemoteSync[] {
    const due = this.#syncs.filter((sync) => sync.check <= check);
    if (due.length > 0) this.#syncs = this.#syncs.filter((sync) => sync.check > check);
    return due;
  }

  lost(link: LinkRef): void {
    this.#identities.delete(link);
    this.#syncs = this.#syncs.filter((sync) => sync.link !== link);
  }

  clear(): void {
    this.#identities.clear();
    this.#syncs = [];
  }
}

/** At a learner: the identities that it has sent to the leader in this role. */
export class SentIdentities {
  readonly #sent = new Map<number, readonly Identity[]>();

  /** Whether a client's identities have to be sent before its next request. */
  isNew(client: number, identities: readonly Identity[]): boolean {
    if (this.#sent.get(client) === identities) return false;
    this.#sent.set(client, identities);
    return true;
  }

  clear(): void {
    this.#sent.clear();
  }
}
