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
  | "check-fails";

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
};
