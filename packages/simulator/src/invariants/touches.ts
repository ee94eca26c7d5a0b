import type { PeerMessage, SessionId } from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import { Violation } from "./violation.ts";

interface Touch {
  readonly atMs: number;
  readonly leader: SimServer;
  readonly epoch: number;
}

/**
 * L6: a leader does not expire a session within its timeout after a learner's answer to a ping
 * arrived, if the learner had heard from the client since its answer before. Clients that only read
 * or ping keep their sessions in no other way.
 *
 * A learner also sends a pong when the room on its disk changes. That pong reports no sessions, and
 * the next answer to a ping still reports all of them:
 * 1. The learner S5 hears from a client.
 * 2. The pings of the leader S3 do not arrive at S5 any more.
 * 3. S5's disk is full. S5 sends a pong without the session, which arrives at S3.
 * 4. S3 expires the session in less than its timeout after that pong, as it should.
 */
export class Touches {
  /** The sessions that each learner heard since it last answered a ping. */
  readonly #heard = new WeakMap<SimServer, Set<SessionId>>();
  /** The servers that read a ping in the present step and have not answered it. */
  readonly #pinged = new WeakSet<SimServer>();
  /** The sessions that each pong should report. */
  readonly #pongs = new WeakMap<PeerMessage, ReadonlySet<SessionId>>();
  readonly #touches = new Map<SessionId, Touch>();
  /** The shortest timeout that each session may have. */
  readonly #timeouts = new Map<SessionId, number>();

  /** A client asks for a session with a timeout, or gets it. */
  negotiated(session: SessionId, timeoutMs: number): void {
    this.#timeouts.set(session, Math.min(timeoutMs, this.#timeouts.get(session) ?? timeoutMs));
  }

  /** A server has read a frame of a session's connection. */
  heard(server: SimServer, session: SessionId): void {
    const heard = this.#heard.get(server);
    if (heard === undefined) this.#heard.set(server, new Set([session]));
    else heard.add(session);
  }

  /** A server that serves no clients any more forgets what it heard: its clients connect again. */
  stepped(server: SimServer): void {
    this.#pinged.delete(server);
    if (!server.isServing) this.#heard.delete(server);
  }

  sent(server: SimServer, message: PeerMessage): void {
    if (message.kind !== "pong" || !this.#pinged.delete(server)) return;
    const heard = this.#heard.get(server);
    if (heard === undefined) return;
    this.#heard.delete(server);
    this.#pongs.set(message, heard);
  }

  /** A message arrives; the server has not read it yet. */
  received(server: SimServer, message: PeerMessage, nowMs: number): void {
    if (message.kind === "ping") this.#pinged.add(server);
    const heard = this.#pongs.get(message);
    if (heard === undefined || !server.isLeading) return;
    for (const session of heard) {
      // After the decision to end a session it is too late.
      if (server.replica.sessions.get(session)?.closing === true) continue;
      this.#touches.set(session, { atMs: nowMs, leader: server, epoch: server.replica.zab.epoch });
    }
  }

  /** A leader proposes the end of a session that its client did not ask for. */
  expired(leader: SimServer, session: SessionId, nowMs: number): void {
    const touch = this.#touches.get(session);
    const timeoutMs = this.#timeouts.get(session);
    if (touch === undefined || timeoutMs === undefined || touch.leader !== leader) return;
    if (touch.epoch !== leader.replica.zab.epoch) return;
    const forMs = nowMs - touch.atMs;
    if (forMs >= timeoutMs) return;
    throw new Violation(
      "L6",
      `server ${leader.sid} expires session ${session} ${Math.floor(forMs)} ms after a learner's pong that should report it, of ${timeoutMs} ms`,
    );
  }
}
