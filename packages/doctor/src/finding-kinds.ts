/**
 * `error`: clients or data are affected now. `warning`: they will be, by an ordinary failure or in
 * time.
 */
export type Severity = "error" | "warning";

/** A kind of finding. */
export interface FindingKind {
  readonly severity: Severity;
  /** One sentence: why it matters. */
  readonly consequence: string;
}

/** A kind of finding; it keeps its name from version to version. */
export type FindingId =
  | "configuration-refused"
  | "setting-doubtful"
  | "even-voters"
  | "lists-differ"
  | "limits-differ"
  | "own-host-loopback"
  | "own-host-elsewhere"
  | "host-unresolved"
  | "peer-port-closed"
  | "port-taken"
  | "port-refused"
  | "optional-port-closed"
  | "directory-unusable"
  | "sync-slow"
  | "data-in-memory"
  | "data-on-overlay"
  | "data-on-network"
  | "disk-nearly-full"
  | "swap-used"
  | "memory-short"
  | "cpu-throttled"
  | "descriptors-few"
  | "clock-free"
  | "clocks-differ"
  | "certificate-ends"
  | "certificate-ended"
  | "secret-readable"
  | "peers-unauthenticated"
  | "admin-open"
  | "no-leader"
  | "two-leaders"
  | "member-silent"
  | "member-not-serving"
  | "no-failure-left"
  | "member-behind"
  | "member-unlisted"
  | "versions-differ"
  | "data-damaged"
  | "disk-low"
  | "descriptors-near"
  | "backup-late"
  | "history-failing"
  | "epochs-few"
  | "check-fails"
  | ApacheFindingId;

/** Kinds of findings about an Apache ensemble that is to be moved. */
export type ApacheFindingId =
  | "apache-silent"
  | "apache-is-zooid"
  | "apache-version"
  | "apache-versions-differ"
  | "apache-no-leader"
  | "apache-epochs"
  | "digests-missing"
  | "server-number-taken"
  | "server-number-none-left"
  | "quorum-tls"
  | "quorum-login"
  | "quorum-kerberos"
  | "fence-by-stop"
  | "timeout-short"
  | "local-sessions"
  | "limits-to-copy"
  | "frame-larger"
  | "super-user"
  | "access-lists-skipped"
  | "ttl-emulated"
  | "ttl-flags-differ"
  | "ttl-without-flag"
  | "scheme-unknown"
  | "scheme-to-configure"
  | "data-long"
  | "path-long"
  | "nodes-unread";

/** Severity and consequence of each kind. */
export const FINDING_KINDS: Readonly<Record<FindingId, FindingKind>> = {
  // Configuration.
  "configuration-refused": { severity: "error", consequence: "The server does not start." },
  "setting-doubtful": {
    severity: "warning",
    consequence: "The server starts; the file may mean something else than it does.",
  },
  "even-voters": {
    severity: "warning",
    consequence:
      "One voter more than needed: as many may fail as with one voter fewer, and a partition into halves stops both.",
  },
  "lists-differ": {
    severity: "warning",
    consequence: "A member that starts with the other list looks for servers that are not there, or is not looked for.",
  },
  "limits-differ": {
    severity: "warning",
    consequence: "Timeouts and limits change with the server that answers or leads.",
  },
  "own-host-loopback": { severity: "error", consequence: "The other servers cannot reach this one." },
  "own-host-elsewhere": { severity: "error", consequence: "The other servers reach another machine, or none." },
  "host-unresolved": { severity: "error", consequence: "The server is not reached under this name." },
  "peer-port-closed": {
    severity: "warning",
    consequence: "The two servers count for each other only by links that the other one opens.",
  },
  // Machine.
  "port-taken": { severity: "error", consequence: "The server does not start." },
  "port-refused": { severity: "error", consequence: "The server does not start." },
  "optional-port-closed": {
    severity: "warning",
    consequence: "The server starts without this port, and serves its clients.",
  },
  "directory-unusable": { severity: "error", consequence: "The server does not start." },
  "sync-slow": {
    severity: "warning",
    consequence: "Each write waits for the disk of a quorum: its latency is that of this disk.",
  },
  "data-in-memory": { severity: "error", consequence: "A restart of the machine loses acknowledged writes." },
  "data-on-overlay": { severity: "error", consequence: "The data end with the container." },
  "data-on-network": {
    severity: "warning",
    consequence: "A file system over a network may lose synced data or stop all writes when the network fails.",
  },
  "disk-nearly-full": { severity: "warning", consequence: "On a full disk the server refuses writes that add data." },
  "swap-used": {
    severity: "warning",
    consequence: "A pause while memory is read back may cost the server its role and clients their sessions.",
  },
  "memory-short": {
    severity: "warning",
    consequence: "The kernel kills the process before the server refuses writes.",
  },
  "cpu-throttled": {
    severity: "warning",
    consequence: "The server stands still for tens of milliseconds at a time, also for heartbeats.",
  },
  "descriptors-few": { severity: "warning", consequence: "Clients are refused when the descriptors are used up." },
  "clock-free": {
    severity: "warning",
    consequence: "Times of nodes, logs and certificates are compared with other machines' clocks.",
  },
  "clocks-differ": {
    severity: "warning",
    consequence: "Times in nodes, logs and TTLs jump when another server leads.",
  },
  // Security.
  "certificate-ends": { severity: "warning", consequence: "New connections fail from that day on." },
  "certificate-ended": { severity: "error", consequence: "New connections fail." },
  "secret-readable": {
    severity: "warning",
    consequence: "Other users of the machine can act as this server or as its operator.",
  },
  "peers-unauthenticated": {
    severity: "warning",
    consequence: "Any host that reaches the peer ports can join the ensemble, and read and change all data.",
  },
  "admin-open": {
    severity: "warning",
    consequence: "Any host that reaches the port sees addresses, configuration and load.",
  },
  // State.
  "no-leader": { severity: "error", consequence: "No write is answered, and no session begins." },
  "two-leaders": {
    severity: "error",
    consequence: "Clients of the two see different data: these are two ensembles, or a server was put aside.",
  },
  "member-silent": { severity: "error", consequence: "One failure that the ensemble survives is used up." },
  "member-not-serving": { severity: "error", consequence: "One failure that the ensemble survives is used up." },
  "no-failure-left": { severity: "warning", consequence: "The next failure of a voter stops all writes." },
  "member-behind": { severity: "warning", consequence: "Its clients read old data, and it counts for writes late." },
  "member-unlisted": { severity: "warning", consequence: "It has all data and no vote." },
  "versions-differ": {
    severity: "warning",
    consequence: "Features of the newer version are not available at all members.",
  },
  "data-damaged": { severity: "error", consequence: "A restart or another server may need the damaged data." },
  "disk-low": { severity: "error", consequence: "Writes that add data are refused, or will be." },
  "descriptors-near": { severity: "warning", consequence: "Clients are refused when the descriptors are used up." },
  "backup-late": {
    severity: "error",
    consequence: "Changes since the last backup are lost with the ensemble's disks.",
  },
  "history-failing": { severity: "warning", consequence: "Present changes can be neither looked up nor brought back." },
  "epochs-few": { severity: "warning", consequence: "At the last epoch the ensemble needs another history." },
  "check-fails": { severity: "error", consequence: "The server itself calls this a fault." },
  // A move from Apache ZooKeeper.
  "apache-silent": { severity: "error", consequence: "What this server has, and how it is set, is not checked." },
  "apache-is-zooid": { severity: "error", consequence: "A server of Zooid is not moved." },
  "apache-version": {
    severity: "error",
    consequence: "The follower and this version do not understand each other.",
  },
  "apache-versions-differ": {
    severity: "warning",
    consequence: "What the follower is sent changes with the server that leads.",
  },
  "apache-no-leader": { severity: "error", consequence: "There is nothing to follow." },
  "apache-epochs": { severity: "error", consequence: "The new history would begin beyond the last epoch." },
  "digests-missing": {
    severity: "warning",
    consequence: "The follower cannot compare its tree with Apache's after each transaction.",
  },
  "server-number-taken": {
    severity: "error",
    consequence: "Ids of new sessions begin with the number of their server, as those of Apache's sessions do.",
  },
  "server-number-none-left": { severity: "error", consequence: "The follower cannot join." },
  "quorum-tls": { severity: "warning", consequence: "Without a certificate the follower is turned away." },
  "quorum-login": { severity: "warning", consequence: "Without a login the follower may be turned away." },
  "quorum-kerberos": {
    severity: "error",
    consequence: "The follower is turned away: its host is not among those of the members.",
  },
  "fence-by-stop": {
    severity: "warning",
    consequence:
      "At a take-over the old servers must be stopped from outside, or they could serve beside the new ones.",
  },
  "timeout-short": {
    severity: "warning",
    consequence: "A take-over may take longer than these sessions last without a server.",
  },
  "local-sessions": { severity: "warning", consequence: "Their clients get new sessions at the new servers." },
  "limits-to-copy": {
    severity: "warning",
    consequence: "The new servers give other timeouts or admit another number of connections.",
  },
  "frame-larger": { severity: "warning", consequence: "The new servers refuse long requests that Apache's accept." },
  "super-user": { severity: "warning", consequence: "The superuser cannot log in at the new servers." },
  "access-lists-skipped": {
    severity: "warning",
    consequence: "The new servers enforce access lists that no client has had to heed.",
  },
  "ttl-emulated": { severity: "error", consequence: "These nodes would be taken for ephemeral ones." },
  "ttl-flags-differ": {
    severity: "warning",
    consequence: "When a server without the flag leads, it deletes TTL nodes as those of ended sessions.",
  },
  "ttl-without-flag": {
    severity: "warning",
    consequence: "Apache's next leader deletes these nodes as those of ended sessions.",
  },
  "scheme-unknown": {
    severity: "error",
    consequence: "At the new servers no client can have an identity of this scheme: its users lose access.",
  },
  "scheme-to-configure": {
    severity: "warning",
    consequence: "Users of this scheme have no access until the new servers authenticate them.",
  },
  "data-long": { severity: "error", consequence: "The new servers refuse a request with this data." },
  "path-long": { severity: "warning", consequence: "The new servers serve the node, and refuse to create it again." },
  "nodes-unread": { severity: "warning", consequence: "These nodes, and all below them, are not checked." },
};
