import type { Members, Zxid } from "@zooid/model";
import type { Replica } from "@zooid/replica";
import { BehaviorSubject, type Observable } from "rxjs";
import type { Role, StorageStatus } from "../server-api.ts";
import type { Storage } from "../storage/storage.ts";

/** The streams that report a server's role, sessions and storage. */
export class ServerStatus {
  readonly #role = new BehaviorSubject<Role>("starting");
  readonly #sessions = new BehaviorSubject<number>(0);
  readonly #storage = new BehaviorSubject<StorageStatus>({ logBytes: 0, stateBytes: 0, appliedZxid: 0 as Zxid });
  #hasServed = false;
  readonly #members = new BehaviorSubject<Members | undefined>(undefined);
  readonly members$: Observable<Members | undefined> = this.#members.asObservable();
  readonly role$: Observable<Role> = this.#role.asObservable();
  readonly sessions$: Observable<number> = this.#sessions.asObservable();
  readonly storage$: Observable<StorageStatus> = this.#storage.asObservable();

  /** Whether there was a role in which clients are served. */
  get hasServed(): boolean {
    return this.#hasServed;
  }

  get role(): Role {
    return this.#role.value;
  }

  /** The role, or the phase in it, may have changed. */
  updateRole(replica: Replica): void {
    const role = replica.isServing ? replica.zab.state : replica.isReadOnly ? "read-only" : "looking";
    this.#hasServed ||= role !== "looking";
    if (role !== this.#role.value) this.#role.next(role);
  }

  /** The server follows an Apache ensemble: it has this role as long as it runs. */
  follows(): void {
    this.#hasServed = true;
    this.#role.next("observing");
  }

  /** A configuration of the ensemble is in force. */
  updateMembers(members: Members): void {
    if (members.version !== this.#members.value?.version) this.#members.next(members);
  }

  /** Called about once a second. */
  update(replica: Replica, storage: Storage): void {
    if (replica.sessions.size !== this.#sessions.value) this.#sessions.next(replica.sessions.size);
    if (this.#storage.observed) this.#storage.next({ ...storage.usage(), appliedZxid: replica.tree.applied });
  }

  /** The server has stopped. */
  complete(): void {
    this.#role.next("stopped");
    this.#role.complete();
    this.#members.complete();
    this.#sessions.complete();
    this.#storage.complete();
  }
}
