import { assert, type LinkRef, type PeerMessage, type ServerId } from "@zooid/model";
import type { ZabSinks } from "@zooid/zab";
import { isReadable } from "./delivery/readable-run.ts";
import type { RoleParts } from "./parts/roles.ts";

/** The sinks of the broadcast, which calls none of them before the first input. */
export function zabSinksOf(parts: RoleParts): Omit<ZabSinks, "election"> {
  const { sinks, tools } = parts;
  return {
    log: sinks.log,
    links: sinks.links,
    snapshots: sinks.snapshots,
    application: {
      release: (batch) => tools.batcher.recycle(batch),
      applied: () => parts.tree.applied,
      isReadable: (run) => isReadable(tools.entries, run, parts.config.levels.opLevels),
      install: () => sinks.install(),
      changesIn: (run) => parts.loggedChanges.changesIn(run),
    },
    roles: {
      serve: (epoch) => parts.roles.serve(epoch),
      left: (reason) => parts.roles.left(reason),
      note: (event) => sinks.note(event),
      membersChanged: () => parts.roles.membersChanged(),
    },
    requests: {
      message: (link, sid, message) => receiveRequest(parts, link, sid, message),
      learnerLost: (link) => parts.forwarded.lost(link),
      leadershipConfirmed: (check) => leadershipConfirmed(parts, check),
      touches: () => parts.sessions.takeTouches(),
      touched: (touches) => parts.sessions.touched(touches),
    },
  };
}

/** A message about requests: at the leader a learner's, at a learner the leader's answer. */
function receiveRequest(parts: RoleParts, link: LinkRef, sid: ServerId, message: PeerMessage): void {
  switch (message.kind) {
    case "identities":
    case "forward":
    case "open-session":
    case "revalidate":
    case "sync":
      parts.forwarded.receive(link, sid, message);
      return;
    case "revalidated":
      parts.sessionRenewal.revalidated(message.sequence, message.isValid);
      return;
    case "sync-reply":
      parts.syncs.replied(message.sequence, message.readAt);
      return;
    default:
      assert(false, `${message.kind} belongs to the broadcast`);
  }
}

/** A quorum has confirmed that this server still led when a leadership check began. */
function leadershipConfirmed(parts: RoleParts, check: number): void {
  parts.forwarded.confirmed(check);
  parts.unconfirmedRefusals.confirmed(check);
  parts.syncs.confirmed(check);
}
