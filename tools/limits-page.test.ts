/**
 * The limits in docs/architecture.md are those of the code: each row below names a row of the page,
 * what it says, and the constant that decides it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const PAGE = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
const ROWS = (PAGE.split("\n## Limits\n")[1] ?? "").split("\n").filter((line) => line.startsWith("| "));

const KIB = 1024;
const MIB = 1024 * KIB;

/** The beginning of the row, what its second column says, where the constant is, its value. */
const LIMITS: readonly (readonly [row: string, says: string, file: string, constant: string, value: number])[] = [
  ["bytes of a frame (", "16 MiB", "packages/server/src/config.ts", "FRAME_BYTES_MAX", 16 * MIB],
  ["bytes of a frame (", "from 45", "packages/server/src/config.ts", "CONNECT_REQUEST_BYTES", 45],
  ["bytes of a first frame", "1024", "packages/server/src/clients/first-bytes.ts", "FIRST_FRAME_BYTES_MAX", 1024],
  ["attempts at SASL", "4 KiB", "packages/server/src/sasl/digest-md5.ts", "TOKEN_BYTES_MAX", 4 * KIB],
  ["requests of one connection read", "4096", "packages/replica/src/config.ts", "inFlightCountMax", 4096],
  ["requests of one connection read", "4 MiB", "packages/replica/src/config.ts", "inFlightBytesMax", 4 * MIB],
  ["what the answers to those", "1 MiB", "packages/replica/src/config.ts", "waitingAnswerBytesMax", MIB],
  ["what the answers to those", "512 bytes", "packages/replica/src/requests/waiting-requests.ts", "WAITING_BYTES", 512],
  [
    "what the answers to those",
    "256 for each µs",
    "packages/replica/src/requests/waiting-requests.ts",
    "WAITING_BYTES_PER_WORK",
    256,
  ],
  ["answers to what waited", "256", "packages/replica/src/config.ts", "releaseWorkPerTurn", 256],
  [
    "bytes of a file of a backup",
    "128 MiB",
    "packages/backup/src/contents/read-backup.ts",
    "FILE_BYTES_MAX",
    128 * MIB,
  ],
  [
    "bytes of a file of a backup",
    "16 MiB",
    "packages/txn-log/src/archive/base-manifest.ts",
    "MANIFEST_BYTES_MAX",
    16 * MIB,
  ],
  [
    "bytes of a file of a backup",
    "1,000,000",
    "packages/backup/src/targets/backup-target.ts",
    "OBJECTS_MAX",
    1_000_000,
  ],
  ["attempts at one request to an S3", "5,", "packages/backup/src/targets/s3-requests.ts", "ATTEMPTS_MAX", 5],
  ["attempts at one request to an S3", "8,", "packages/backup/src/contents/each-of.ts", "AT_A_TIME", 8],
  ["time of HTTP requests", "4 KiB", "packages/server/src/admin/request-turns.ts", "PIECE_BYTES", 4 * KIB],
  ["time of HTTP requests", "a quarter", "packages/model/src/shares/budgets.ts", "httpRequests.ofTime", 0.25],
  ["requests of one HTTP connection", "16", "packages/model/src/http/pipelined-requests.ts", "WAITING_MAX", 16],
  ["time of answers that grow", "½ ms", "packages/model/src/shares/budgets.ts", "longAnswers.turnMs", 0.5],
  [
    "time of requests in one turn",
    "¼ ms a connection",
    "packages/model/src/shares/budgets.ts",
    "reading.connectionMsSmall",
    0.25,
  ],
  ["time of requests in one turn", "1 ms for large", "packages/model/src/shares/budgets.ts", "reading.connectionMs", 1],
  ["time of requests in one turn", "2 ms in all", "packages/model/src/shares/budgets.ts", "reading.turnMs", 2],
  ["writes of all connections", "65536", "packages/replica/src/config.ts", "outstandingCountMax", 65_536],
  ["time that the writes in flight", "20 ms", "packages/model/src/shares/budgets.ts", "writesInFlight.workUs", 20_000],
  [
    "time that the writes in flight",
    "half of it for one address",
    "packages/model/src/shares/budgets.ts",
    "writesInFlight.ofAddress",
    0.5,
  ],
  [
    "time that the writes in flight",
    "a quarter for one connection",
    "packages/model/src/shares/budgets.ts",
    "writesInFlight.ofConnection",
    0.25,
  ],
  ["time that the writes in flight", "3 µs each", "packages/model/src/shares/prices.ts", "writeUs", 3],
  ["forwarded writes prepared", "1000 ops", "packages/replica/src/config.ts", "forwardOpCountPerTurn", 1000],
  [
    "forwarded writes prepared",
    "beyond 4 KiB",
    "packages/replica/src/forwarding/forwarded-requests.ts",
    "SHORT_BYTES",
    4 * KIB,
  ],
  ["paths that writes", "262144", "packages/replica/src/config.ts", "outstandingPathCountMax", 262_144],
  ["time of sending in one turn", "2 ms of its own", "packages/model/src/shares/budgets.ts", "output.answersMs", 2],
  [
    "time of sending in one turn",
    "½ ms of those that earlier",
    "packages/model/src/shares/budgets.ts",
    "output.leftMs",
    0.5,
  ],
  ["time of sending in one turn", "1 ms of watch events", "packages/model/src/shares/budgets.ts", "output.eventsMs", 1],
  ["watches of one connection", "1000000", "packages/replica/src/config.ts", "watchCountMax", 1_000_000],
  ["memory of all watches", "512 bytes", "packages/data-tree/src/watches/watch-table.ts", "RECURSIVE_BYTES", 512],
  [
    "watches of closed connections",
    "4096",
    "packages/replica/src/connections/connections.ts",
    "WATCHES_PER_TURN",
    4096,
  ],
  [
    "watches of closed connections",
    "at once 256",
    "packages/replica/src/connections/connections.ts",
    "WATCHES_AT_ONCE",
    256,
  ],
  ["paths of all setWatches", "750 short ones", "packages/replica/src/config.ts", "setWatchesWorkPerTurn", 2 * 750],
  ["identities of one connection", "64,", "packages/replica/src/config.ts", "identityCountMax", 64],
  ["identities of one connection", "1 KiB each", "packages/replica/src/config.ts", "identityBytesMax", KIB],
  ["identities of one connection", "32 KiB together", "packages/replica/src/config.ts", "identitiesBytesMax", 32 * KIB],
  [
    "bytes, and names, of the path",
    "16 KiB",
    "packages/data-tree/src/prepare/path-limits.ts",
    "PATH_BYTES_MAX",
    16 * KIB,
  ],
  ["bytes, and names, of the path", "1024", "packages/data-tree/src/prepare/path-limits.ts", "PATH_NAMES_MAX", 1024],
  ["entries of an access list", "1000", "packages/model/src/tree/acl.ts", "ACL_COUNT_MAX", 1000],
  [
    "characters of a `reconfig`",
    "32 Ki",
    "packages/replica/src/writes/member-changes.ts",
    "REQUEST_CHARS_MAX",
    32 * KIB,
  ],
  ["entries of all different access lists", "5000", "packages/replica/src/config.ts", "multiAclCountMax", 5000],
  ["names of the children of one node", "64 MiB", "packages/replica/src/config.ts", "createdListingBytesMax", 64 * MIB],
  ["changes in one page", "1000", "packages/model/src/protocol/past.ts", "CHANGES_COUNT_MAX", 1000],
  ["changes in one page", "512 KiB", "packages/txn-log/src/history/history-answers.ts", "DATA_BYTES_MAX", 512 * KIB],
  [
    "access lists of then that are read for one transaction",
    "32 times",
    "packages/replica/src/reads/past-page.ts",
    "ACL_QUESTIONS_MAX",
    32,
  ],
  [
    "access lists of then that are read for one page",
    "32",
    "packages/replica/src/reads/past-page.ts",
    "ACLS_PER_QUESTION",
    32,
  ],
  ["blocks, and bytes of names", "1 MiB", "packages/model/src/protocol/past.ts", "PAST_NAMES_BYTES_MAX", MIB],
  [
    "blocks, and bytes of names",
    "1024",
    "packages/txn-log/src/history/history-answers.ts",
    "CHILDREN_BLOCKS_MAX",
    1024,
  ],
  [
    "indexes of the history's files",
    "64 MiB",
    "packages/txn-log/src/history/kept-files.ts",
    "INDEX_BYTES_MAX",
    64 * MIB,
  ],
  ["indexes of the history's files", "10,000", "packages/txn-log/src/history/kept-files.ts", "FILE_COUNT_MAX", 10_000],
  ["children in one page", "1000", "packages/replica/src/reads/child-pages.ts", "COUNT_MAX", 1000],
  ["children in one page", "512 KiB", "packages/replica/src/reads/child-pages.ts", "BYTES_MAX", 512 * KIB],
  [
    "what all clients make the tree hold",
    "128 bytes a node",
    "packages/data-tree/src/tree-state.ts",
    "NODE_BYTES",
    128,
  ],
  ["what one address", "the last quarter", "packages/model/src/shares/budgets.ts", "treeRoom.sharedPart", 0.25],
  ["what one address", "a sixteenth", "packages/model/src/shares/budgets.ts", "treeRoom.ofClient", 0.0625],
  ["parts of a multi", "20000", "packages/replica/src/config.ts", "multiOpCountMax", 20_000],
  ["parts of a multi", "131072", "packages/replica/src/config.ts", "multiPathNamesMax", 131_072],
  ["what is prepared of a multi", "2 ms", "packages/replica/src/config.ts", "prepareWorkPerTurn", 2000],
  ["reads of a multiRead", "3000", "packages/replica/src/config.ts", "multiReadCountMax", 3000],
  ["reads of a multiRead", "32768", "packages/replica/src/config.ts", "multiReadNamesMax", 32_768],
  ["ephemerals removed by one transaction", "500", "packages/replica/src/config.ts", "closeOpCountMax", 500],
  ["ephemerals removed by one transaction", "32 KiB", "packages/replica/src/config.ts", "closePathBytesMax", 32 * KIB],
  ["deletes of ephemerals", "1000", "packages/replica/src/config.ts", "endOpCountPerTurn", 1000],
  ["failed authentications", "5 in a minute", "packages/model/src/shares/budgets.ts", "authFailures.free", 5],
  ["failed authentications", "10 s", "packages/server/src/clients/client-auth.ts", "FAILURE_DELAY_MS_MAX", 10_000],
  ["text of a quota", "1 KiB", "packages/data-tree/src/quotas/quotas.ts", "QUOTA_TEXT_BYTES_MAX", KIB],
  ["names in the answer to getChildren", "64 MiB", "packages/replica/src/config.ts", "childrenBytesMax", 64 * MIB],
  ["data and names in the answer", "16 MiB", "packages/replica/src/config.ts", "multiReadBytesMax", 16 * MIB],
  ["children in all listings", "65536", "packages/replica/src/config.ts", "multiReadChildrenMax", 65_536],
  ["ephemerals of a session that asks", "131072", "packages/replica/src/config.ts", "ephemeralsWorkMax", 131_072],
  ["ephemerals of a session that asks", "8 MiB", "packages/replica/src/config.ts", "ephemeralsBytesMax", 8 * MIB],
  [
    "free space on the disk",
    "at most 128 MiB",
    "packages/server/src/disk/disk-marks.ts",
    "RESERVE_BYTES_MAX",
    128 * MIB,
  ],
  ["a segment of the log", "32 MiB", "packages/txn-log/src/store/open-store.ts", "SEGMENT_BYTES_MAX", 32 * MIB],
  ["a segment of the log", "at twice that", "packages/txn-log/src/segments/segment-roller.ts", "STALL_SHARE", 2],
  [
    "log bytes in one checkpoint",
    "256 MiB",
    "packages/txn-log/src/state/state-thread.ts",
    "CHECKPOINT_BYTES_MAX",
    256 * MIB,
  ],
  ["data writes recorded", "2^20", "packages/txn-log/src/state/checkpoint-plan.ts", "DATA_WRITES_MAX", 2 ** 20],
  ["segments that one reader", "32", "packages/txn-log/src/log/log-reader.ts", "OPEN_MAX", 32],
  ["lines about refused input", "5 of a kind", "packages/model/src/shares/budgets.ts", "refusalLines.ofKind", 5],
  ["lines about refused input", "10 s", "packages/model/src/shares/budgets.ts", "refusalLines.everyMs", 10_000],
  ["bytes in transit to one learner", "8 MiB", "packages/zab/src/config.ts", "windowBytes", 8 * MIB],
  [
    "entries that a leader sent and that are",
    "4 of those windows",
    "packages/zab/src/learner/leader-link.ts",
    "UNACKED_WINDOWS",
    4,
  ],
  ["delivered entries kept", "4 MiB", "packages/zab/src/recent-entries.ts", "CHUNK_BYTES", MIB],
  ["chunks of a state in transit", "16 of", "packages/server/src/storage/snapshot-port.ts", "CHUNKS_IN_FLIGHT_MAX", 16],
  [
    "chunks of a state in transit",
    "256 KiB",
    "packages/txn-log/src/state/state-store.ts",
    "SNAPSHOT_CHUNK_BYTES",
    256 * KIB,
  ],
  ["bytes that wait for a link", "64 MiB", "packages/server/src/peers/quorum-links.ts", "BUFFERED_BYTES_MAX", 64 * MIB],
  [
    "bytes of a frame between servers",
    "64 MiB",
    "packages/peer-protocol/src/peer-frames.ts",
    "FRAME_BYTES_LEAST",
    64 * MIB,
  ],
  [
    "bytes of a frame between servers",
    "64 KiB",
    "packages/peer-protocol/src/peer-frames.ts",
    "HANDSHAKE_FRAME_BYTES_MAX",
    64 * KIB,
  ],
  ["connections at a peer port", "256", "packages/server/src/peers/strangers.ts", "STRANGER_COUNT_MAX", 256],
  [
    "connections at a peer port",
    "16 of one address",
    "packages/server/src/peers/strangers.ts",
    "STRANGER_COUNT_PER_ADDRESS_MAX",
    16,
  ],
  [
    "connections at a peer port",
    "64 more",
    "packages/server/src/peers/strangers.ts",
    "MEMBER_COUNT_PER_ADDRESS_MAX",
    64,
  ],
  [
    "failed handshakes of one address",
    "30 in 10 s",
    "packages/server/src/peers/peer-listener.ts",
    "FAILURE_COUNT_MAX",
    30,
  ],
];

/** A number that stands behind a name in a source; `part.name` for a field of an object there. */
function constantIn(file: string, path: string): number | undefined {
  const source = readFileSync(join(ROOT, file), "utf8");
  const [part, field] = path.includes(".") ? path.split(".") : [undefined, path];
  const text = part === undefined ? source : (new RegExp(`^  ${part}: \\{([^}]*)\\}`, "ms").exec(source)?.[1] ?? "");
  const written = new RegExp(`\\b${field}(?:: number)?(?: =|:) ([\\d_.xa-f]+(?: \\*+ (?:[\\d_]+|MIB))*)[,; ]`).exec(
    text,
  )?.[1];
  return written?.split(/ (\*+) /).reduce<number>((product, factor, i, all) => {
    if (i % 2 === 1) return product;
    const number = factor === "MIB" ? MIB : Number(factor.replaceAll("_", ""));
    return all[i - 1] === "**" ? product ** number : product * number;
  }, 1);
}

test.each(LIMITS)("%s: %s", (row, says, file, constant, value) => {
  expect(constantIn(file, constant)).toBe(value);
  const found = ROWS.filter((line) => line.startsWith(`| ${row}`));
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(says);
});
