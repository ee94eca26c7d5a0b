import type { ConnectionRef, LinkRef, PeerMessage, ServerId, TxnHeader } from "@zooid/model";
import type { ReplicaEvent } from "@zooid/replica";
import type { Answer } from "../cluster/answers.ts";
import type { ClusterWatcher, Crash, Member } from "../cluster/cluster.ts";
import type { SimServer } from "../cluster/server.ts";
import type { Invariants } from "../invariants/invariants.ts";
import { describeEvent, isIllegal } from "../invariants/operator-events.ts";
import { Violation } from "../invariants/violation.ts";
import type { ScenarioClient } from "./client.ts";
import { describeMessage } from "./describe-message.ts";
import type { HeldNetwork } from "./held-network.ts";

/** The part of a scenario's world that is used. */
interface ObservedWorld {
  readonly invariants: Invariants;
  readonly network: HeldNetwork;
  readonly clients: readonly ScenarioClient[];
  member(sid: ServerId): Member;
  later(run: () => void): void;
  crash(sid: ServerId): void;
}

/** Passes what the servers of a scenario do to the invariants, the clients and the transcript. */
export class ScenarioObservations implements ClusterWatcher {
  /** Messages between servers, as the transcript shows them. */
  readonly sentLines: { readonly kind: string; readonly text: string }[] = [];
  readonly notes: { readonly sid: ServerId; readonly event: ReplicaEvent }[] = [];
  /** The first violation or unexpected error. */
  violation: unknown;
  readonly #world: ObservedWorld;
  readonly #invariants: Invariants;
  /** Servers whose syncs wait for the script. */
  readonly #held = new Set<ServerId>();
  /** Servers whose disk fails: that they end is expected. */
  readonly #failing = new Set<ServerId>();

  constructor(world: ObservedWorld) {
    this.#world = world;
    this.#invariants = world.invariants;
  }

  holdSync(sid: ServerId, isHeld: boolean): void {
    const disk = this.#world.member(sid).server?.disk;
    if (isHeld) {
      this.#held.add(sid);
      disk?.hold();
    } else {
      this.#held.delete(sid);
      disk?.release();
    }
  }

  expectFailure(sid: ServerId): void {
    this.#failing.add(sid);
  }

  // Starts and crashes

  starting(sid: ServerId): void {
    this.#failing.delete(sid);
  }

  started(server: SimServer): void {
    if (this.#held.has(server.sid)) server.disk.hold();
    this.#invariants.stepped(server);
  }

  crashed(server: SimServer, { image }: Crash): void {
    this.#invariants.crashed(server.sid, image.log.log);
    for (const client of this.#world.clients) if (client.server === server) client.dropped();
  }

  wiped(sid: ServerId): void {
    this.#invariants.wiped(sid);
  }

  failed(server: SimServer, error: unknown): void {
    const { sid } = server;
    if (!this.#failing.has(sid) || error instanceof Violation) {
      this.violation ??= error;
      return;
    }
    this.#world.later(() => {
      if (this.#world.member(sid).server === server) this.#world.crash(sid);
    });
  }

  // Steps

  applying(server: SimServer, { zxid }: Readonly<TxnHeader>): void {
    this.#invariants.applying(server, zxid);
  }

  applied(server: SimServer, { zxid }: Readonly<TxnHeader>): void {
    this.#invariants.applied(server, zxid);
  }

  loaded(server: SimServer): void {
    this.#invariants.loaded(server);
  }

  proposed(server: SimServer, bytes: Uint8Array, start: number, end: number): void {
    this.#invariants.proposed(server, bytes, start, end);
  }

  stepped(server: SimServer): void {
    try {
      this.#invariants.stepped(server);
    } catch (error) {
      this.violation ??= error;
    }
  }

  sent(server: SimServer, link: LinkRef, message: PeerMessage): void {
    const text = `s${server.sid} > s${this.#world.network.other(link)} ${describeMessage(message)}`;
    this.sentLines.push({ kind: message.kind, text });
    this.#invariants.sent(server, link, message);
  }

  noted({ sid }: SimServer, event: ReplicaEvent): void {
    this.notes.push({ sid, event });
    if (isIllegal(event)) throw new Violation("I32", `server ${sid}: ${describeEvent(event)}`);
  }

  replied(server: SimServer, to: ConnectionRef, xid: number, zxid: number, answer: Answer): void {
    if (answer.kind === "close") this.#world.later(() => server.disconnect(to));
    for (const client of this.#world.clients) {
      if (!client.isAt(server, to)) continue;
      if (answer.kind === "close") client.dropped();
      else client.heard(xid, zxid, answer);
    }
  }
}
