/**
 * How clients share what a server has: the parts of each budget. An address is an IPv4 address or
 * the /64 of an IPv6 address; fractions are of the whole budget. The owners of the budgets take
 * their numbers from here, and docs/hostile-input.md its table.
 */
export const BUDGETS = {
  /** Bytes of all watches: the address with most gives way. */
  watchMemory: {},
  /** Bytes of the tree: the last part is shared out. */
  treeRoom: { sharedPart: 0.25, ofClient: 0.0625 },
  /**
   * Time of applying the writes in flight. One write below `largeFrom` may always go ahead for each
   * address.
   */
  writesInFlight: { workUs: 20_000, ofAddress: 0.5, ofConnection: 0.25, largeFrom: 0.125 },
  /** Time of reading in a turn of the event loop. */
  reading: {
    turnMs: 2,
    turnMsLeast: 0.5,
    connectionMs: 1,
    connectionMsSmall: 0.25,
    owedMsMax: 100,
    repaidByTime: 0.25,
  },
  /**
   * Time of sending in a turn: answers of this turn, answers that earlier turns left, and events.
   */
  output: { answersMs: 2, leftMs: 0.5, eventsMs: 1 },
  /** Time of TLS handshakes. */
  handshakes: { ofTime: 0.25, savedMsMax: 4 },
  /** Time of answers that grow with the state. */
  longAnswers: { turnMs: 0.5 },
  /** Time in which HTTP requests begin. */
  httpRequests: { ofTime: 0.25, savedMsMax: 10 },
  /** Connections of the admin port, the metrics port and the console. */
  httpConnections: { count: 100, ofAddress: 50, forProbes: 16 },
  /** Requests of the console that are answered at a time. */
  consoleRequests: { count: 64, ofAddress: 32 },
  /** Event streams of the console. */
  consoleStreams: { count: 64, ofAddress: 8 },
  /** ZooKeeper sessions of the console's users. */
  consoleSessions: { count: 50, ofAddress: 25 },
  /** Failed authentications that are answered at once, in a minute. */
  authFailures: { free: 5, forgetMs: 60_000, delayMsFirst: 1000 },
  /** Lines of the log about refused input. */
  refusalLines: { ofKind: 5, everyMs: 10_000 },
} as const;
