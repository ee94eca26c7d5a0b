import { isSameVotes, type Member, type Members, type ServerId } from "@zooid/model";

export interface PeerAddress {
  readonly host: string;
  readonly quorumPort: number;
  readonly electionPort: number;
  /** Undefined if observers connect to the leader only. */
  readonly observerMasterPort?: number | undefined;
}

export type EnsembleServer = Member &
  PeerAddress & {
    /** Only this server's files list it: it has no vote yet, or any more. */
    readonly isUnlisted?: boolean;
  };

/**
 * The servers of the ensemble, as this one knows them now: those of the configuration in force, and
 * while it changes those of the next one, too. Every part that names other servers asks it.
 *
 * Where the members come from the servers' files, this server's own file says where the others are:
 * all hosts that are renamed in a full stop would not find each other otherwise. Servers that only
 * the file lists are known too, and have no vote.
 */
export class MemberDirectory {
  readonly #sid: ServerId;
  readonly #observerMasterPort: number | undefined;
  /**
   * This server's own line from the last list that has it, which holds while no configuration lists
   * it.
   */
  #own: EnsembleServer | undefined;
  readonly #fixedAddressOf: ((sid: ServerId) => PeerAddress) | undefined;
  #servers: readonly EnsembleServer[];
  /** The servers of this server's files. */
  readonly files: readonly EnsembleServer[];
  #isFileInForce = true;
  /** Whether servers that are not listed may connect, since they may join. */
  isOpen = false;
  /** Whether clients change the members (`reconfigEnabled`). Else the servers' files do. */
  isChangeable = false;

  constructor(parts: {
    readonly sid: ServerId;
    readonly servers: readonly EnsembleServer[];
    readonly observerMasterPort: number | undefined;
    readonly addressOf: ((sid: ServerId) => PeerAddress) | undefined;
  }) {
    this.#sid = parts.sid;
    this.#servers = parts.servers;
    this.files = parts.servers;
    this.#observerMasterPort = parts.observerMasterPort;
    this.#own = parts.servers.find(({ sid }) => sid === parts.sid);
    this.#fixedAddressOf = parts.addressOf;
  }

  /** In the order of their ids; this server is among them unless it has left. */
  get servers(): readonly EnsembleServer[] {
    return this.#servers;
  }

  /**
   * Whether the list of this server's files is the one in force. Only then may a server come that
   * counts by its file, as version 0.1.0 does.
   */
  get isFileInForce(): boolean {
    return this.#isFileInForce;
  }

  /** @param configurations the one in force, and behind it the one that is to come */
  update(configurations: readonly (Members | undefined)[]): void {
    const bySid = new Map<ServerId, Omit<EnsembleServer, "observerMasterPort">>();
    for (const members of configurations) for (const server of members?.servers ?? []) bySid.set(server.sid, server);
    if (bySid.size === 0) return;
    this.#isFileInForce = configurations.every(
      (members) => members === undefined || isSameVotes(members, { servers: this.files }),
    );
    if (!this.isChangeable) {
      for (const file of this.files) {
        const listed = bySid.get(file.sid);
        const { isObserver = true, group, weight = 1 } = listed ?? {};
        bySid.set(file.sid, { ...file, isObserver, group, weight, isUnlisted: listed === undefined });
      }
    }
    this.#servers = [...bySid.values()]
      .sort((a, b) => a.sid - b.sid)
      .map((server) => ({ ...server, observerMasterPort: this.#observerMasterPort }));
    this.#own = this.#servers.find(({ sid }) => sid === this.#sid) ?? this.#own;
  }

  find(sid: ServerId): EnsembleServer | undefined {
    const server = this.#servers.find((one) => one.sid === sid);
    return server === undefined && sid === this.#sid ? this.#own : server;
  }

  /** Whether a server may connect. */
  mayConnect(sid: ServerId): boolean {
    return this.isOpen || this.find(sid) !== undefined;
  }

  /** Undefined for a server that is not listed. */
  addressOf(sid: ServerId): PeerAddress | undefined {
    const server = this.find(sid);
    return server === undefined ? undefined : (this.#fixedAddressOf?.(sid) ?? server);
  }

  get hosts(): readonly string[] {
    return [...new Set(this.#servers.map(({ host }) => host))];
  }
}
