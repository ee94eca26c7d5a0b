/**
 * The next version, as the trial `ensemble-upgrade --next` makes it of a copy of the sources: what
 * a developer of that version would write for a feature level with a transaction, a message and
 * formats of its own. None of it ships; pack-check refuses packages that have any of its names.
 */
import { behind, type SourceEdit } from "./source-edits.ts";

/** The additions of the next version, in the words and numbers of its sources. */
export const NEXT = {
  version: "0.2.0",
  level: 2,
  /** A `setData` under another number, which becomes a transaction of that number. */
  op: 1099,
  formats: { log: 4, state: 4, snapshot: 2 },
  /** A line of the server's output when the first message of the new kind arrives. */
  received: "the first trial-ping came",
} as const;

const MODEL = "packages/model/src";
const PEERS = "packages/peer-protocol/src";
const LOG = "packages/txn-log/src";
const REPLICA = "packages/replica/src";

const LEVEL: readonly SourceEdit[] = [
  behind(
    `${MODEL}/levels/feature-level.ts`,
    "    formats: { log: 3, state: 3, snapshot: 1 },\n  },\n",
    `  {
    level: ${NEXT.level},
    since: "${NEXT.version}",
    ops: [OpCode.TRIAL_SET],
    messages: ["trial_ping"],
    formats: ${JSON.stringify(NEXT.formats)},
  },
`,
  ),
  ...["apps/server", "apps/cli"].map((app) => ({
    file: `${app}/package.json`,
    find: '\n  "version": "0.1.0",',
    replace: `\n  "version": "${NEXT.version}",`,
  })),
];

/** A transaction that does what `setData` does. */
const TRANSACTION: readonly SourceEdit[] = [
  behind(`${MODEL}/protocol/op-code.ts`, "  GET_CHANGES: 1003,\n", `  TRIAL_SET: ${NEXT.op},\n`),
  behind(`${MODEL}/protocol/op-code.ts`, "    case OpCode.SET_ACL:\n", "    case OpCode.TRIAL_SET:\n"),
  behind(`${REPLICA}/requests/served-operations.ts`, "  OpCode.SET_ACL,\n", "  OpCode.TRIAL_SET,\n"),
  behind(
    `${REPLICA}/delivery/write-answers.ts`,
    "      case OpCode.SET_DATA:\n      case OpCode.SET_ACL:\n",
    "      case OpCode.TRIAL_SET:\n",
  ),
  behind(`${REPLICA}/writes/additions.ts`, "    case OpCode.SET_ACL:\n", "    case OpCode.TRIAL_SET:\n"),
  {
    file: "packages/wire/src/request-codec.ts",
    find: "      case OpCode.SET_DATA:\n        request.hasPath",
    replace: "      case OpCode.SET_DATA:\n      case OpCode.TRIAL_SET:\n        request.hasPath",
  },
  ...["packages/data-tree/src/prepare/prepare-txn.ts", "packages/data-tree/src/apply-txn.ts"].map((file) =>
    behind(file, "      case OpCode.SET_DATA:\n", "      case OpCode.TRIAL_SET:\n"),
  ),
  behind(`${LOG}/state/state-checkpoint.ts`, "      case OpCode.SET_DATA:\n", "      case OpCode.TRIAL_SET:\n"),
];

/** A ping under another name, which a leader sends instead of the first one. */
const MESSAGE: readonly SourceEdit[] = [
  behind(`${PEERS}/peer.proto`, "    RelayRun relay_run = 65;\n", "    TrialPing trial_ping = 90;\n"),
  behind(
    `${PEERS}/peer.proto`,
    'syntax = "proto3";\npackage zooid;\n',
    `
message TrialPing {
  uint64 epoch = 1;
  uint64 check = 2;
  fixed64 committed = 3;
  bool lacks_room = 4;
}
`,
  ),
  {
    file: `${MODEL}/protocol/peer-message.ts`,
    find: '  | {\n      readonly kind: "ping";',
    replace: `  | {
      readonly kind: "trial-ping";
      readonly epoch: number;
      readonly check: number;
      readonly committed: Zxid;
      readonly lacksRoom: boolean;
    }
  | {
      readonly kind: "ping";`,
  },
  behind(
    `${PEERS}/broadcast-records.ts`,
    'from "./record-codec.ts";\n',
    `
export const trialPingRecord: RecordCodec<"trial-ping"> = {
  member: "trialPing",
  encode: (message, writer) => void zooid.TrialPing.encode(message, writer),
  decode: (reader) => {
    const { epoch, check, committed, lacksRoom } = zooid.TrialPing.decode(reader);
    return { kind: "trial-ping", epoch: whole(epoch), check: whole(check), committed: zxidOf(committed), lacksRoom };
  },
};
`,
  ),
  {
    file: `${PEERS}/records.ts`,
    find: "leadershipTransferRecord, pingRecord, pongRecord, refuseRecord }",
    replace: "leadershipTransferRecord, pingRecord, pongRecord, refuseRecord, trialPingRecord }",
  },
  behind(`${PEERS}/records.ts`, "  ping: pingRecord,\n", '  "trial-ping": trialPingRecord,\n'),
  {
    file: "packages/zab/src/leader/liveness.ts",
    find: '    const { check, epoch, learners } = this.#leader;\n    learners.send(learner, {\n      kind: "ping",',
    replace: `    const { broadcast, check, context, epoch, learners } = this.#leader;
    learners.send(learner, {
      kind: context.level.inForce(broadcast.committed) >= ${NEXT.level} ? "trial-ping" : "ping",`,
  },
  behind("packages/zab/src/learner/learner.ts", '      case "ping":\n', '      case "trial-ping":\n'),
  {
    file: "packages/server/src/peers/quorum-links.ts",
    find: "      default:\n        if (link.isDialed) this.#master?.received(message);",
    replace: `      default:
        if (message.kind === "trial-ping" && !this.#hasTrialPing) {
          this.#hasTrialPing = true;
          process.stderr.write("${NEXT.received}\\n");
        }
        if (link.isDialed) this.#master?.received(message);`,
  },
  {
    file: "packages/server/src/peers/quorum-links.ts",
    find: "  #received(link: Link | undefined, message: EnvelopeMessage): void {",
    replace: "  #hasTrialPing = false;\n\n  #received(link: Link | undefined, message: EnvelopeMessage): void {",
  },
];

/** A further table in segments and state files, and a further field of the states that are sent. */
const FORMATS: readonly SourceEdit[] = [
  behind(
    `${LOG}/segments/segment-schema.ts`,
    "  if (stampedFormat(database) !== formatVersion) stampFormat(database, formatVersion);\n",
    `  if (formatVersion >= ${NEXT.formats.log}) database.exec("CREATE TABLE IF NOT EXISTS trial (id INTEGER PRIMARY KEY) STRICT");\n`,
  ),
  behind(
    `${LOG}/state/state-file.ts`,
    "    if (stampedFormat(this.#database) !== format) stampFormat(this.#database, format);\n",
    `    if (format >= ${NEXT.formats.state}) this.#database.exec("CREATE TABLE IF NOT EXISTS trial (id INTEGER PRIMARY KEY) STRICT");\n`,
  ),
  behind(
    `${LOG}/snapshots/snapshot-format.ts`,
    "      sessions: header.sessionCount,\n",
    `      trial: header.format >= ${NEXT.formats.snapshot} ? "next" : undefined,\n`,
  ),
  behind(
    `${LOG}/snapshots/snapshot-format.ts`,
    "  const { ensemble, chain, epochs } = fields;\n",
    `  if (format >= ${NEXT.formats.snapshot} && fields["trial"] !== "next") throw refused("its header", "no trial");\n`,
  ),
];

export const NEXT_EDITS: readonly SourceEdit[] = [...LEVEL, ...TRANSACTION, ...MESSAGE, ...FORMATS];
