/** The tests that take each limit of docs/architecture.md to its end and beyond. */

/** A test by its file and by a part of its name. */
export interface LimitTest {
  readonly file: string;
  readonly name: string;
}

/**
 * By the beginning of the row. A limit that is new on the page has no line here, which fails
 * `limit-tests.test.ts`: its test comes first.
 */
export const LIMIT_TESTS: Readonly<Record<string, readonly LimitTest[]>> = {
  "bytes of a frame (`jute": [
    of("server/clients/client-connection", "a frame of exactly the limit is taken, one byte"),
  ],
  "bytes of a first frame": [of("server/clients/client-connection", "a client that sends %s and waits is closed")],
  "time without a session": [of("server/clients/client-connection", "is closed after the handshake's time")],
  "connections of one address": [of("server/clients/client-listener", "each closed connection gives a place %s back")],
  "connections of all proxies": [of("server/clients/client-listener", "each closed connection gives a place %s back")],
  "connections in all": [of("server/clients/client-listener", "each closed connection gives a place %s back")],
  "time in which a closed connection takes": [
    of("server/clients/client-connection", "a client that does not read is disconnected a while after"),
  ],
  "how fast clients connect": [
    of("server/clients/connection-throttle", "accepts as many connections as there are tokens"),
  ],
  "time of a TLS handshake": [of("server/tls/client-tls", "gives up a handshake that stalls, at any step")],
  "TLS handshakes at a time": [of("server/tls/client-tls", "has as many handshakes at a time as configured")],
  "TLS handshakes begun in one turn": [of("server/tls/handshake-budget", "does not hold others up for long")],
  "attempts at SASL of one connection": [of("server/sasl/digest-md5", "there is one attempt: every token fails")],
  "requests of one connection read and unanswered": [
    of("replica/replica", "a connection with too many requests in flight is read no further"),
    of("replica/replica", "a connection with too large waiting requests is read no further"),
  ],
  "what the answers to those": [
    of("replica/requests/waiting-requests", "once the answers that wait for one write are large"),
  ],
  "answers to what waited": [of("replica/requests/waiting-requests", "are answered some a turn")],
  "syncs that become due": [of("replica/requests/client-syncs", "syncs that become due at the same moment")],
  "time of HTTP requests": [of("server/admin/request-turns", "behind costly requests the next ones wait")],
  "requests of one HTTP connection": [of("model/http/pipelined-requests", "more than sixteen do not wait")],
  "time of answers that grow": [of("server/admin/answer-slices", "a long answer is made in slices")],
  "time of requests in one turn": [of("server/driver/turn-budget", "a turn has room until its time is over")],
  "writes of all connections": [of("replica/replica", "when all connections have too many writes in flight")],
  "time that the writes in flight": [of("replica/writes/write-shares", "a connection has a quarter of the work")],
  "bytes of one batch of the log": [of("server/driver/driver", "writes beyond the bytes of one batch")],
  "forwarded writes prepared": [of("replica/forwarding/forwarded-requests", "is prepared in its order, some a turn")],
  "paths that writes not yet applied": [
    of("replica/writes/multi-in-slices", "while transactions that are not applied"),
  ],
  "bytes waiting for a slow reader": [
    of("server/clients/client-connection", "a client that reads slowly gets every answer"),
  ],
  "| 64 MiB (`outputBytesMax`)": [
    of("server/clients/client-connection", "never reads its events is cut off at the limit"),
  ],
  "connections accepted before": [of("server/driver/poll-rounds", "are accepted before the work of one turn")],
  "time of sending in one turn": [of("server/driver/flush-queue", "a turn sends answers for some milliseconds")],
  "connections closed in one turn": [of("server/driver/closing-queue", "are closed for a millisecond a turn")],
  "watches of one connection": [of("server/clients/hostile-requests", "beyond the limit of one connection end it")],
  "memory of all watches": [of("replica/connections/watch-budget", "of all connections have a bound")],
  "watches of closed connections": [
    of("replica/connections/watch-budget", "are removed some a turn, and its number is free"),
  ],
  "paths of all setWatches": [of("replica/requests/set-watches", "takes fewer paths a turn where they are %s")],
  "identities of one connection": [
    of("replica/auth/identities", "at its 65th identity"),
    of("replica/auth/identities", "for an identity of more than a kibibyte"),
    of("replica/auth/identities", "for identities of more than 32 KiB together"),
  ],
  "bytes, and names, of the path": [of("data-tree/prepare/prepare-txn", "at a path of at most 16 KiB and 1024 names")],
  "entries of an access list": [of("server/clients/hostile-requests", "with an access list %s are refused")],
  "characters of the id in an entry": [of("server/clients/hostile-requests", "with an access list %s are refused")],
  "characters of a `reconfig`": [of("replica/member-changes", "that is longer than 32 KiB")],
  "entries of all different access lists": [
    of("replica/writes/multi-limits", "by the entries of its different access lists"),
  ],
  "names of the children of one node": [of("replica/reads/child-pages", "a create beyond the limit of a listing")],
  "questions about the past of one connection": [of("server/driver/history-turns", "those of several in turns")],
  "access lists of then that are read for one transaction": [
    of("replica/requests/history-requests", "shows no data of the changes whose lists are too many"),
  ],
  "indexes of the history's files": [of("txn-log/history/kept-files", "up to a count and up to a size")],
  "attempts at one request to an S3": [of("backup/targets/s3-target", "is named after all attempts")],
  "children in one page": [
    of("replica/reads/child-pages", "has at most a thousand children"),
    of("replica/reads/child-pages", "ends early where its data are large"),
  ],
  "what all clients make the tree hold": [
    of("server/clients/hostile-amounts", "data by the mebibyte are refused once the tree is full"),
  ],
  "what one address (or /64), or one identity": [of("replica/writes/held-shares", "a sixteenth of the whole beyond")],
  "parts of a multi": [
    of("replica/writes/multi-limits", "by its parts, each counted"),
    of("replica/writes/multi-limits", "by the names in its paths"),
    of("server/clients/hostile-requests", "of twenty thousand parts are done or refused whole"),
  ],
  "what is prepared of a multi": [of("replica/writes/multi-in-slices", "is proposed with its last part")],
  "reads of a multiRead": [of("replica/reads/multi-read", "a multiRead beyond its limits is refused")],
  "bytes of one transaction": [of("replica/writes/multi-limits", "by the bytes that it becomes")],
  "ephemerals removed by one transaction": [
    of("replica/sessions/session-ends", "is closed by several transactions"),
    of("replica/sessions/session-ends", "in parts of a limited number of path bytes"),
  ],
  "deletes of ephemerals": [
    of("replica/sessions/session-ends", "sessions that end at the same moment are ended some a turn"),
  ],
  "forwarded writes of one link": [
    of("replica/forwarding/forwarded-requests", "is prepared in its order, some a turn"),
  ],
  "what is applied of transactions": [of("server/driver/deliveries", "entries that take long are applied one by one")],
  "nodes with different data": [of("data-tree/prepare/prepare-txn", "with as many pages as it may have")],
  "failed authentications": [of("server/clients/client-auth", "waits for the answer after five failures")],
  "text of a quota's limits": [of("data-tree/quotas/quotas", "has a text of at most 1 KiB")],
  "names in the answer to getChildren": [
    of("replica/reads/local-reads", "of the largest size is answered, and longer ones"),
  ],
  "answers with listings": [of("server/driver/driver", "no turn sends more than its share")],
  "data and names in the answer to a multiRead": [
    of("server/clients/hostile-requests", "that read more than an answer may hold"),
  ],
  "children in all listings of a multiRead": [
    of("replica/reads/multi-read", "a multiRead beyond its limits is refused"),
  ],
  "ephemerals of a session that asks": [
    of("replica/reads/local-reads", "with more ephemerals than one answer may look at"),
    of("replica/reads/local-reads", "have longer paths than one answer may take"),
  ],
  "free space on the disk": [of("server/disk/full-disk", "starts on a disk with little room refuses additions")],
  "a segment of the log": [of("txn-log/segments/segment-roller", "without a spare the newest segment grows")],
  "data writes recorded": [of("txn-log/state/checkpoint-plan", "the recorder ignores writes beyond its limit")],
  "segments that one reader keeps open": [
    of("txn-log/log/log-entries", "a limited number of segments is open at a time"),
  ],
  "lines about refused input": [of("server/operators/refusal-log", "a flood is five lines")],
  "bytes in transit to one learner": [of("zab/learner/learner", "before its leader has sent the whole window ahead")],
  "chunks of a state that a leader sent": [of("server/storage/snapshot-port", "ahead of what is stored is given up")],
  "delivered entries kept for observers": [of("zab/recent-entries", "the oldest makes room")],
  "bytes that wait for a link": [of("server/peers/quorum-links", "a link that does not read is closed at its limit")],
  "bytes of a frame between servers": [
    of("peer-protocol/peer-frames", "a frame longer than the limit, by its first eight"),
  ],
  "connections at a peer port": [
    of("server/peers/strangers", "one address has sixteen connections"),
    of("server/peers/strangers", "the oldest stranger makes room"),
  ],
  "failed handshakes of one address": [of("server/peers/quorum-links", "that fail again and again are turned away")],
  "a voter to which no connection": [
    of("zab/founding", "not without one that a connection reached less than the wait ago"),
  ],
  "what came and waits to be read, in memory": [
    of("apache-peer/follow/option-ranges", "a follower with %s: %d gets a snapshot and a transaction"),
  ],
  "what came and waits to be read (": [of("apache-peer/follow/apache-follower", "has a bound: there the link ends")],
  "time of applying in one turn": [
    of("server/following/following.slow", "a session's end with thousands of nodes is one transaction"),
  ],
  "data of a packet": [of("apache-peer/core/packet-reader", "a packet with %s: %s")],
  "bytes of proposals without": [of("apache-peer/core/observer", "and the byte beyond ends the link")],
  "sessions in one ping": [
    of("apache-peer/follow/touch-limit.slow", "as many sessions as a call may touch fit into the thread"),
  ],
  "sessions that wait for a ping": [
    of("apache-peer/follow/touch-limit.slow", "as many sessions as a call may touch fit into the thread"),
  ],
  "silence of a leader": [of("apache-peer/core/observer", "a silent leader is left: after initTimeoutMs")],
  "access lists of then that are read for one page": [
    of("replica/requests/history-requests", "ends before the first change whose list is not among the first ones"),
  ],
  "blocks, and bytes of names": [
    of("txn-log/history/history-reader", "of a node whose create is too many blocks back come from a base"),
    of("txn-log/history/history-reader", "with more bytes of names than are allowed are refused"),
  ],
  "log bytes in one checkpoint": [of("txn-log/state/state-thread", "a checkpoint has no more bytes of the log than")],
  "entries that a leader sent and that are": [
    of("simulator/invariants/operator-events", '"too-far-ahead": (script) =>'),
  ],
  "entries that a follower keeps": [
    of("server/peers/observer-master", "entries that the follower was not sent, or long ago, go to the observer"),
    of("server/peers/relayed-runs", "a follower holds every entry that its leader assumes"),
  ],
  "requests in flight": [of("client/client", "answers come in the order of the calls, also with a limit")],
  "calls that wait": [of("client/client", "calls wait for a connection in order, for a time, and in limited number")],
  "time without a connection": [of("client/session/hostile-connection", "no longer than waitingTimeoutMs")],
  "bytes of a request": [of("client/client", "a request that is too large is refused here")],
  "bytes of an answer": [of("client/client", "an answer that is too large fails its own call")],
  "paths of one setWatches": [of("client/watches/watch-registry", "watches are armed again in batches")],
  "bytes handed to a connection": [of("client/transport/tcp-transport", "a full connection returns false")],
};

/**
 * Rows whose test is not known here. The list can only become shorter: a row that gets a test moves
 * up, and a new row is not added.
 */
export const UNTESTED: readonly string[] = [
  "bytes in the log that are not durable",
  "digests that differ behind a snapshot",
  "changes in one page of a history",
  "bytes of a file of a backup",
  "log kept for learners",
  "entries that a leader sent and commits",
  "chunks of a state in transit",
  "silence of a learner or a leader",
];

function of(path: string, name: string): LimitTest {
  const [folder = "", ...rest] = path.split("/");
  return { file: `packages/${folder}/src/${rest.join("/")}.test.ts`, name };
}
