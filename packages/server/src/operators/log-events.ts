import type { ReplicaEvent, SlowRequest } from "@zooid/replica";

/** Events that are one line each; of slow requests the slow log makes the lines. */
export type OperatorEvent = Exclude<ReplicaEvent, SlowRequest>;

/** Kinds of lines that the server writes about itself, beside the events of its replica. */
export type ServerEvent =
  | "address-elsewhere"
  | "another-ensemble"
  | "backup-base"
  | "backup-damaged"
  | "backup-differs"
  | "backup-failed"
  | "backup-gap"
  | "backup-holder"
  | "backup-not-replayed"
  | "backup-other-history"
  | "backup-pruned"
  | "backup-replayed"
  | "backup-works"
  | "certificate-expires"
  | "certificates-refused"
  | "certificates-reloaded"
  | "clock-off"
  | "clock-right"
  | "configuration"
  | "disk-full"
  | "disk-has-room"
  | "disk-low"
  | "drain-ended"
  | "drained"
  | "draining"
  | "epochs-running-out"
  | "failed"
  | "file-damaged"
  | "file-healed"
  | "follow-acl-missing"
  | "follow-digest-differs"
  | "follow-digest-equal"
  | "follow-finished"
  | "follow-history-taken-back"
  | "follow-link-lost"
  | "follow-linked"
  | "follow-no-leader"
  | "follow-resumed"
  | "follow-snapshot"
  | "follow-snapshot-installed"
  | "history-gap"
  | "history-not-purged"
  | "history-not-written"
  | "history-purged"
  | "history-purging"
  | "history-written"
  | "founding-absent-beside-a-past"
  | "founding-awaited"
  | "founding-has-data"
  | "founding-not-heard"
  | "level-raised"
  | "link-closed"
  | "log-has-room"
  | "log-waits-for-room"
  | "looking"
  | "name-unresolved"
  | "no-quorum"
  | "log-lost"
  | "serves-alone"
  | "not-serving"
  | "observers-refused"
  | "operator-port-closed"
  | "operator-request-failed"
  | "peer-reachable"
  | "peer-unreachable"
  | "peers-not-asked"
  | "peers-unprotected"
  | "client-port-not-opened"
  | "clients-closed"
  | "clients-closing"
  | "clients-open"
  | "clients-opened"
  | "port-moved"
  | "port-not-moved"
  | "port-released"
  | "refused"
  | "reserve-not-kept"
  | "restore-failed"
  | "restored"
  | "restoring"
  | "role"
  | "session-ended"
  | "setting"
  | "slow-request"
  | "slow-turn"
  | "snapshot-failed"
  | "snapshot-not-sent"
  | "snapshot-taken"
  | "standby"
  | "standby-failed"
  | "start-waits-for-room"
  | "state-file-behind"
  | "storage-no-room"
  | "storage-repaired"
  | "storage-slow"
  | "storage-unreadable";

/** The kind of a line of the log: what alerts and searches go by, since sentences may change. */
export type LogEvent = OperatorEvent["kind"] | ServerEvent;

/** Every kind of line, and when it is written; docs/log-events.md lists them. */
export const LOG_EVENTS: Readonly<Record<LogEvent, string>> = {
  "address-elsewhere": "the name that this server listens at has the address of another machine",
  "another-ensemble": "a listed server belongs to another ensemble",
  "applied-beyond": "this server has applied transactions that the leader's history lacks; it does not join",
  "backup-base": "the backup has another whole state",
  "backup-damaged": "a damaged file is left out of the backup",
  "backup-differs": "a base of the backup and the files behind it lead to another state than its next base",
  "backup-failed": "the backup cannot be continued",
  "backup-gap": "the backup lacks transactions",
  "backup-holder": "another server, or this one, continues the backup",
  "backup-not-replayed": "a base of the backup was not compared with the one before it",
  "backup-other-history": "the backup ends with a history from before a restore",
  "backup-pruned": "old files of the backup were removed",
  "backup-replayed": "a base of the backup and the files behind it lead to its next base",
  "backup-works": "the backup is continued again",
  "certificate-expires": "a certificate of this server has expired, or does so within 30, 7 or 1 days",
  "certificates-refused": "changed files of certificates cannot be used; the ones read before stay in force",
  "certificates-reloaded": "changed files of certificates were read, and new connections use them",
  "clock-off": "the clock of another server is more than 2 s ahead of this one's, or behind it",
  "clock-right": "the clock of another server agrees with this one's again",
  "change-refused": "a change of the ensemble's configuration was refused",
  "committed-history-unknown": "a learner holds a committed history that this leader does not know",
  configuration: "the servers of the ensemble, or what the files of this server mean beside them",
  "configuration-is-newer": "another server knows a newer configuration of the ensemble; the role ends",
  "configuration-learned": "another server reported a newer configuration of the ensemble; the role ends",
  "closed-to-clients": "an operator has closed the ensemble to clients; the epoch in which it served them ends",
  "counter-used-up": "the counter of the epoch nears its end; the leader begins a new epoch",
  "disk-full": "less than `zooid.disk.reserveBytes` is free; writes that add data are refused soon",
  "disk-has-room": "the disk has room again",
  "disk-low": "less than `zooid.disk.lowBytes` is free",
  "drain-ended": "clients may connect again",
  drained: "no client is connected any longer",
  draining: "connections of clients are being closed at an operator's request",
  "electors-lost": "the servers that elected this leader have changed their votes; the role ends",
  "ensemble-has-data": "another server has the data of an ensemble, and this one only data of its own; the role ends",
  "epoch-not-accepted": "no quorum accepted the new epoch in time; the role ends",
  "epoch-promised": "this server has promised the epoch to another server, and refuses the leader",
  "epoch-promised-elsewhere": "a server has promised the epoch to another one; the role ends",
  "epochs-used-up": "no further epoch can be led",
  "epochs-running-out": "the ensemble comes near to the last epoch; the text says how many are left",
  failed: "the server has failed, and serves no longer",
  "file-damaged": "the scrub found a damaged file",
  "file-healed": "a damaged file is whole again, or needed no longer",
  "follow-acl-missing": "the access list of a znode of the Apache ensemble that is followed never came",
  "follow-digest-differs": "the digest of the Apache ensemble that is followed is not that of the tree here",
  "follow-digest-equal": "the digests of the Apache ensemble that is followed are those of the tree here again",
  "follow-finished": "an operator has ended the following of the Apache ensemble for good",
  "follow-history-taken-back": "the Apache ensemble that is followed has lost transactions that it had committed",
  "follow-link-lost": "the link to the Apache ensemble that is followed has ended; another one is made",
  "follow-linked": "a server of the Apache ensemble that is followed sends its transactions",
  "follow-no-leader": "no server of the Apache ensemble that is followed leads or takes observers",
  "follow-resumed": "the Apache ensemble whose following was ended is followed again",
  "follow-snapshot": "the Apache ensemble that is followed sends a snapshot",
  "follow-snapshot-installed": "a snapshot of the Apache ensemble has become the state of this server",
  "founding-absent-beside-a-past":
    "no ensemble is founded: a dynamic file shows an earlier one, and servers are absent",
  "founding-awaited": "no ensemble is founded yet: a listed server is awaited",
  "founding-forbidden": "another server has data that are missing here; this server founds no ensemble",
  "founding-has-data": "no ensemble is founded: a listed server has data",
  "founding-not-heard": "no ensemble is founded: a listed server accepts connections and is not heard",
  "handed-over": "the leader transferred its leadership",
  "histories-differ": "the histories of learner and leader differ",
  "history-gap": "the history in the data directory lacks entries",
  "history-missing-here": "a server has a history that is missing on this disk; the role ends",
  "history-not-the-leaders": "the leader's history and this server's are not the same",
  "history-not-purged": "a removal of the history for good did not come to its end",
  "history-purged": "the history up to a transaction was removed for good",
  "history-purging": "an operator has the history up to a transaction removed for good",
  "history-not-written": "the history in the data directory cannot be written",
  "history-of-one-server":
    "the data here were written by this server alone, and the leader's ensemble has none of them",
  "history-written": "the history in the data directory is written again",
  "illegal-message": "a peer broke the protocol; its link ends",
  "large-listing": "the list of a node's children is too long for stock clients",
  "leader-handed-over": "the leader transferred its leadership; the role ends",
  "leader-link-lost": "the link to the leader ended; the role ends",
  "beside-another-ensemble":
    "this server has no data, and a listed server has data of another ensemble than the leader; it follows neither",
  "leader-of-another-ensemble": "this server and the leader belong to different ensembles",
  "leaders-level": "this server's version does not know the feature level of the leader's history; the role ends",
  "leader-silent": "the leader was silent for too long; the role ends",
  "leader-unreachable": "the elected leader cannot be reached; the role ends",
  "learner-follows": "a learner is synchronized, and follows",
  "learner-is-ahead": "a learner has a newer history; the role ends",
  "learner-not-counted": "a learner follows, and no quorum counts it",
  "link-closed": "a link with another server was closed",
  "level-raised": "an operator has raised the feature level; earlier versions cannot be members any more",
  "list-differs": "files of servers list other members than the configuration in force",
  "old-disk": "this server has another disk than the one by which the ensemble counts it; it does not vote",
  "log-lost": "this server's log, or a part of it, is lost; it does not vote until it is synchronized",
  "serves-alone": "the only voter of an ensemble serves without the ports for other servers",
  "log-has-room": "the log has room on its disk again",
  "log-waits-for-room": "the log waits for room on its disk; nothing is acknowledged",
  "long-certificate-subject": "the subject of a client's certificate is too long for an identity",
  looking: "a summary of what a server without a leader knows of the others",
  "name-unresolved": "the name that this server listens at does not resolve yet",
  "no-quorum": "there has been no quorum for some time; the text names the remedy",
  "not-serving": "this server has not served for some time, though a quorum is connected; the text has the reason",
  "no-quorum-follows": "no quorum of followers connected in time; the role ends",
  "observers-refused": "the port for observers cannot be opened",
  "operator-port-closed": "the admin port or the metrics port cannot be opened",
  "operator-request-failed": "a request to the admin port or the metrics port failed",
  "over-quota": "a write is beyond a quota",
  "peer-reachable": "another server is reachable again",
  "peer-unreachable": "another server is unreachable",
  "peers-not-asked": "links need a secret or TLS from now on, and a server without a connection may have none",
  "peers-unprotected": "links between servers are without a secret or without TLS",
  "client-port-not-opened": "a port for clients could not be opened when the ensemble was opened to clients",
  "clients-closed": "the ports for clients are closed until an operator opens the ensemble to clients",
  "clients-closing": "an operator closes the ensemble to clients",
  "clients-open": "the ports for clients are open, as the configuration of the ensemble says",
  "clients-opened": "an operator opens the ensemble to clients",
  "port-moved": "a port was opened where the configuration puts it",
  "port-not-moved": "a port cannot be opened where the configuration puts it",
  "port-released": "a port was closed at a place that the configuration gives to another server",
  "quorum-lost": "the leader has lost its quorum; the role ends",
  "read-only-service": "there is no quorum, and reads are served to read-only clients",
  refused: "a connection was refused or closed; `refusal` says why",
  "refused-by-leader": "the leader refuses this server; the role ends",
  "refused-by-learner": "a learner refuses this leader",
  "reserve-not-kept": "no reserve can be kept for a full disk",
  "restore-begins": "an operator restores a state of the past; the leader begins an epoch with it",
  "restore-failed": "a snapshot that an operator sent, or a state of the past, is not restored",
  "restore-given-up": "a restore of a state of the past is given up, and nothing has changed",
  restored: "a snapshot, or a state of the past, has replaced all data",
  restoring: "a snapshot replaces all data, and all clients are disconnected",
  role: "the role that this server takes",
  "session-ended": "an operator ended a session",
  setting: "a setting has no effect, or another one than it seems to have",
  "slow-request": "a request took `zooid.slowRequestMs` or longer",
  "slow-turn": "a turn of the event loop took `zooid.slowRequestMs` or longer",
  "snapshot-failed": "no snapshot could be taken for an operator",
  "snapshot-not-sent": "a snapshot could not be sent to a learner, or received from the leader",
  "snapshot-taken": "a snapshot goes to an operator",
  standby: "the state of a followed Apache ensemble that this member keeps ready",
  "standby-failed": "the state of a followed Apache ensemble is not brought forward",
  "start-waits-for-room": "the disk has no room for a start, which waits",
  "state-file-behind": "writes wait for the state file",
  "state-restored": "a quorum has the restored state with which the epoch begins",
  "state-not-received": "the leader's snapshot could not be installed; the role ends",
  stopped: "the server stops; the role ends",
  "storage-no-room": "the state file, or a start, needs room on its disk, or has it again",
  "storage-repaired": "a start found a damaged file, and continues without it",
  "storage-slow": "a sync of the log is slow, or its next segment is not ready",
  "storage-unreadable": "a file of the store cannot be read, or cannot be rewritten from memory",
  "successor-named": "the leader stops, and names its successor",
  "wall-clock-set": "the wall clock was set, so that no container or TTL node is removed for some minutes",
  "whole-state-sent": "a learner is sent a snapshot",
};
