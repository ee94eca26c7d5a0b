import type { Identity, LinkRef, Zxid } from "@zooid/model";

/** A learner's sync that waits for a quorum to confirm this leader. */
export interface RemoteSync {
  readonly link: LinkRef;
  readonly sequence: number;
  readonly round: number;
  readonly readAt: Zxid;
}

const NOBODY: readonly Identity[] = [];

/** What a leader knows of its learners' clients. */
export class RemoteClients {
  readonly #identities = new Map<LinkRef, Map<number, readonly Identity[]>>();
  #syncs: RemoteSync[] = [];

  /** A learner's client is these from now on. */
  identify(link: LinkRef, client: number, identities: readonly Identity[]): void {
    let clients = this.#identities.get(link);
    if (clients === undefined) {
      clients = new Map();
      this.#identities.set(link, clients);
    }
    clients.set(client, identities);
  }

  identities(link: LinkRef, client: number): readonly Identity[] {
    return this.#identities.get(link)?.get(client) ?? NOBODY;
  }

  sync(sync: RemoteSync): void {
    this.#syncs.push(sync);
  }

  get syncCount(): number {
    return this.#syncs.length;
  }

  /** Takes out the syncs that a round confirms, in the order in which they came. */
  confirmed(round: number): readonly RemoteSync[] {
    const due = this.#syncs.filter((sync) => sync.round <= round);
    if (due.length > 0) this.#syncs = this.#syncs.filter((sync) => sync.round > round);
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

/** What a learner has told its leader of its own clients on the present link. */
export class SentIdentities {
  readonly #told = new Map<number, readonly Identity[]>();

  /** Whether the leader has to be told who a client is before it forwards for it. */
  isNew(client: number, identities: readonly Identity[]): boolean {
    if (this.#told.get(client) === identities) return false;
    this.#told.set(client, identities);
    return true;
  }

  clear(): void {
    this.#told.clear();
  }
}
