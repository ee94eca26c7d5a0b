import type { Excess } from "@zooid/data-tree";
import {
  assertNever,
  formatSessionId,
  formatZxid,
  levelsText,
  type Members,
  type ServerId,
  unknownLevelText,
  ZXID_NONE,
} from "@zooid/model";
import type { LeaderFault, LearnerFault, LinkEnd, PeerRefusal } from "@zooid/zab";
import { ANOTHER_ENSEMBLE_REMEDY } from "./founding-report.ts";
import type { OperatorEvent } from "./log-events.ts";

const DIFFERING_REMEDY = 'See "Histories that differ" in docs/disaster.md';

/**
 * The sentences of events for operators: log lines, and reasons why a link was refused or closed.
 * No code depends on the wording.
 */
export function sentenceOf(event: OperatorEvent | LinkEnd | PeerRefusal): string {
  switch (event.kind) {
    // Roles
    case "history-missing-here":
      return `server ${event.sid} has a history that is missing on this server's disk`;
    case "ensemble-has-data":
      return `server ${event.sid} has the data of an ensemble; the data here were written by this server alone and do not replace them`;
    case "epoch-promised-elsewhere":
      return `server ${event.sid} has promised epoch ${event.epoch} to server ${event.to}`;
    case "configuration-learned":
      return `another server knows a newer configuration of the ensemble (${formatZxid(event.version)})`;
    case "configuration-is-newer":
      return `server ${event.sid} knows a newer configuration of the ensemble (${formatZxid(event.version)})`;
    case "epochs-used-up":
      return `epoch ${event.epoch} cannot be led: its zxids would no longer be exact`;
    case "learner-is-ahead":
      return `server ${event.sid} has a newer history`;
    case "no-quorum-follows":
      return event.learners === 0
        ? "no server connected to this one's quorum port in time: it may be taken by another program, or unknown to the others"
        : "no quorum of followers connected in time";
    case "epoch-not-accepted":
      return `no quorum accepted epoch ${event.epoch} in time`;
    case "quorum-lost":
      return "the leader has lost its quorum of synchronized voters";
    case "electors-lost":
      return "the servers that elected this one have changed their votes";
    case "counter-used-up":
      return "the epoch's counter nears its end, so a new epoch begins";
    case "closed-to-clients":
      return "an operator has closed the ensemble to clients, so a new epoch begins without them";
    case "handed-over":
      return `leadership transferred to server ${event.to}`;
    case "restore-begins":
      return "an operator restores a state of the past: this server leads the next epoch, which begins with it";
    case "restore-given-up":
      return `the restore is given up, and nothing has changed: ${event.detail}`;
    case "state-restored":
      return `a quorum has the restored state, which stands at ${formatZxid(event.zxid)}`;
    case "leader-handed-over":
      return "the leader transferred its leadership";
    case "successor-named":
      return `the leader stops and names server ${event.sid} as its successor`;
    case "leader-unreachable":
      return (
        `no connection to the elected leader, server ${event.sid}${event.detail === undefined ? "" : `: ${event.detail}`}. Compare the quorum port in line ` +
        `server.${event.sid} here with the one that server ${event.sid} listens on`
      );
    case "leader-silent":
      return `the leader was silent for ${event.silentMs} ms`;
    case "leader-link-lost":
      return `the link to the leader ended: ${event.detail}`;
    case "refused-by-leader":
      return `server ${event.sid} refuses: ${event.text}`;
    case "state-not-received":
      return `the snapshot could not be installed: ${event.detail}`;
    case "history-not-the-leaders":
      return `the history of server ${event.sid}, which leads, and this server's are not the same: ${event.text}. ${DIFFERING_REMEDY}`;
    case "stopped":
      return "the server stops";
    case "illegal-message":
      return `server ${event.sid} broke the protocol: ${faultOf(event.fault)}`;

    case "founding-forbidden":
      return `server ${event.sid} has data that are missing here: this server founds no ensemble`;

    // Learners
    case "learner-follows":
      return `server ${event.sid} follows`;
    case "learner-not-counted":
      if (event.isOldDisk === true) {
        return (
          `server ${event.sid} follows and is not counted: its disk is not the one by which the ensemble counts it: an older one, or one whose file disk-id was lost. What it ` +
          "acknowledged may be missing on this one. It counts once a quorum of other voters has synchronized it"
        );
      }
      return (
        `server ${event.sid} follows and is not counted: its data directory is empty, has lost data, or has another history than this one. It counts once a quorum of ` +
        "other voters has synchronized it"
      );
    case "old-disk":
      return (
        "the ensemble counts this server by another disk than the one that it has: an older one, as where a volume was not mounted, or " +
        'one whose file disk-id was lost. This server does not vote until a quorum of other voters has synchronized it. See "An old disk" in docs/disaster.md'
      );
    case "whole-state-sent":
      return `server ${event.sid} is sent a snapshot at ${formatZxid(event.zxid)}`;
    case "committed-history-unknown":
      return `server ${event.sid} holds a committed history that this server does not know`;
    case "refused-by-learner":
      return `server ${event.sid} refuses this leader: ${event.text}`;

    // Refusals, which the other side logs
    case "leader-of-another-ensemble":
      return (
        `this server belongs to ensemble ${event.ours}, and server ${event.leader}, which leads, to ${event.theirs}: an ensemble was ` +
        `founded, or recovered, while this server was unreachable. ${ANOTHER_ENSEMBLE_REMEDY}`
      );
    case "beside-another-ensemble":
      return (
        `this server has no data. Server ${event.leader}, which leads, belongs to ensemble ${event.theirs}, and server ${event.sid} to ` +
        `${event.ensembleId}, so this server follows neither. Correct the address of the one that is not meant in zoo.cfg. ${ANOTHER_ENSEMBLE_REMEDY}`
      );
    case "history-of-one-server":
      return (
        `the data here, through ${formatZxid(event.through)}, were written by this server alone, and the leader's ensemble has none ` +
        "of them: they stay as they are, and this server does not join. To bring them into the ensemble, stop the other servers, empty " +
        "their data directories, and start this one first. To join without them, give this server an empty data directory"
      );
    case "epoch-promised":
      return `epoch ${event.promised} is promised to server ${event.to}, not ${event.offered}`;
    case "applied-beyond":
      return (
        `this server has applied transactions through ${formatZxid(event.applied)}, and the leader's history ` +
        `${event.from === ZXID_NONE ? "lacks some of them" : `has only those through ${formatZxid(event.from)} in common with it`}: it does not join, and its data stay as they are. ${DIFFERING_REMEDY}`
      );
    case "histories-differ":
      return `histories differ at or before ${formatZxid(event.at)}`;
    case "leaders-level":
      return unknownLevelText(`the ensemble of server ${event.leader}, which leads,`, event.level, event.levels);
    case "learners-level":
      return event.level === 0
        ? `the servers of the ensemble know no feature level that server ${event.sid} knows: their versions are too far apart`
        : unknownLevelText("the ensemble", event.level, event.levels);
    case "learner-ahead-in-level":
      return (
        `server ${event.sid} has a raise to feature level ${event.level} that is not known to be committed, and this server knows ` +
        `${levelsText(event.levels)}: it joins once a leader has begun without it, and that raise is cut`
      );
    case "promise-impossible":
      return `server ${event.sid} says that it has promised epoch ${event.epoch}, and there are fewer`;
    case "learner-of-another-ensemble":
      return `server ${event.sid} belongs to ensemble ${event.theirs}, this is ${event.ours}`;
    case "commit-unknown-here":
      return `it holds ${formatZxid(event.zxid)} as committed, which is unknown here`;
    case "no-state-to-send":
      return "no snapshot can be sent now";
    case "follows-another":
      return `this server follows server ${event.leader}`;
    case "no-leader-known":
      return "this server knows of no leader";
    case "not-asked-to-lead":
      return `${event.message} came before this server was asked to lead`;

    // Links
    case "superseded":
      return "superseded by a newer connection from the same server";
    case "fell-behind-the-log":
      return "it lags behind the oldest entry of the log";
    case "learner-silent":
      return `it was silent for ${event.limitMs} ms`;
    case "learner-acks-nothing":
      return `it has acked nothing for ${event.limitMs} ms`;
    case "leader-refused":
      return "it refuses this leader";
    case "link-not-wanted":
      return "it is no longer needed";

    // Clients
    case "list-differs":
      return listDiffers(event);
    case "change-refused":
      return `a change of the configuration was refused: ${event.reason}`;
    case "read-only-service":
      return "no quorum: reads are served to clients that ask for read-only service";
    case "long-certificate-subject":
      return `the certificate of a client at ${event.address} has a subject of more than ${event.bytesMax} bytes: it is no identity`;
    case "wall-clock-set":
      return `the wall clock was set by ${event.byMs} ms, so no container or TTL node is removed for ${event.pauseMs / 60_000} minutes`;
    case "large-listing":
      return `${event.path} has ${event.count} children, whose names take ${event.bytes} bytes; clients with the default jute.maxbuffer (1 MiB) can list them in pages only`;
    case "over-quota":
      return event.moreCount === 0
        ? excessOf(event.excess)
        : `${excessOf(event.excess)} (and ${event.moreCount} more since the last such line)`;
    default:
      return assertNever(event);
  }
}

function listDiffers({ inForce, wish }: Extract<OperatorEvent, { kind: "list-differs" }>): string {
  const { members, wishers, lacking, unheard, earlier } = wish;
  const has = wishers.length === 1 ? "has" : "have";
  const others = lacking.filter((sid) => !unheard.includes(sid));
  const lack = [
    others.length === 0 ? "" : `, and ${serversText(others)} not`,
    unheard.length === 0 ? "" : `; ${serversText(unheard)} ${unheard.length === 1 ? "does" : "do"} not follow`,
  ].join("");
  const next =
    earlier.length > 0
      ? `it cannot be changed while ${serversText(earlier)}, of an earlier version, counts by the file there: upgrade first`
      : `it changes once a quorum of both lists has the new one${others.length === 0 ? "" : ". Edit the files that are wrong, and restart those servers"}`;
  return `the list in force is ${listText(inForce)}; ${serversText(wishers)} ${has} ${listText(members)} in the file${lack}: ${next}`;
}

/** `1, 2, 3 and observers 4` */
export function listText({ servers }: Pick<Members, "servers">): string {
  const named = (isObserver: boolean): string =>
    servers
      .filter((server) => server.isObserver === isObserver)
      .map(({ sid, group, weight }) =>
        isObserver || group === undefined ? `${sid}` : `${sid} (group ${group}, weight ${weight})`,
      )
      .join(", ");
  return named(true) === "" ? named(false) : `${named(false)} and observers ${named(true)}`;
}

/** `server 1`, or `servers 1, 2` */
export function serversText(sids: readonly ServerId[]): string {
  return `${sids.length === 1 ? "server" : "servers"} ${sids.join(", ")}`;
}

function excessOf(excess: Excess): string {
  switch (excess.kind) {
    case "quota": {
      const { isHard, path, unit, limit, usage } = excess;
      return `the quota of ${path} is ${limit} ${unit}; a write that makes it ${usage} is ${isHard ? "refused" : "allowed"}`;
    }
    case "quota-text":
      return `a quota's text has at most ${excess.bytesMax} bytes; one of ${excess.sizeBytes} is refused`;
    case "children-bytes":
      return `the names of the children of ${excess.path} may take ${excess.bytesMax} bytes (zooid.childrenBytesMax); a create that makes them ${excess.bytes} is refused`;
    case "tree-pages":
      return "the tree has as many pages as it may have; a write that adds to it is refused";
    case "tree-bytes":
      return `the tree holds ${excess.heldBytes} bytes of at most ${excess.heldBytesMax}; a write that adds to it is refused`;
    case "client-share":
      return `the tree holds ${excess.heldBytes} bytes of at most ${excess.heldBytesMax}; a client that has added its share is refused`;
    default:
      return assertNever(excess);
  }
}

function faultOf(fault: LearnerFault["fault"] | LeaderFault["fault"]): string {
  switch (fault.kind) {
    case "epoch-acked-twice":
      return "it acked the epoch twice";
    case "acceptance-not-offered":
      return `it accepted epoch ${fault.epoch} through ${formatZxid(fault.through)}, which it was not offered`;
    case "ack-out-of-turn":
      return `it acked ${formatZxid(fault.durable)} out of turn`;
    case "pong-of-another-epoch":
      return `it answered a ping of epoch ${fault.epoch}`;
    case "request-before-synced":
      return "it forwarded a request before it was in sync";
    case "not-for-a-leader":
      return `it sent ${fault.message} to a leader`;
    case "requests-break-off":
      return "it forwarded a run of requests that breaks off";
    case "session-exists":
      return `it opened session ${formatSessionId(fault.session)}, which exists`;
    case "session-impossible":
      return `it opened session ${formatSessionId(fault.session)} with a timeout or a password that none has`;
    case "epoch-named-twice":
      return "it named its epoch twice";
    case "up-to-date-out-of-turn":
      return "it said out of turn that this server is in sync";
    case "commit-of-what-is-missing":
      return `it committed ${formatZxid(fault.committed)}, which is missing here`;
    case "ping-of-another-epoch":
      return `it pinged as the leader of epoch ${fault.epoch}`;
    case "epoch-impossible":
      return `it named epoch ${fault.epoch}, and there are fewer`;
    case "history-broken":
      return `what it sent after ${formatZxid(fault.after)} is no history`;
    case "history-of-another-ensemble":
      return `it sent the history of ensemble ${fault.ensembleId}`;
    case "too-far-ahead":
      return `it sent ${fault.bytes} bytes ahead of acks or commits`;
    case "out-of-turn":
      return `it sent ${fault.message} out of turn (${fault.step})`;
    default:
      return assertNever(fault);
  }
}
