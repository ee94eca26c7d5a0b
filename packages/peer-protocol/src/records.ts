import { ProtobufReader } from "@zooid/wire/protobuf";
import { zooid } from "../gen/peer.js";
import { leadershipTransferRecord, pingRecord, pongRecord, refuseRecord } from "./broadcast-records.ts";
import { notificationRecord, pollAnswerRecord, pollRecord } from "./election-records.ts";
import { authProofRecord, heartbeatRecord, helloRecord, linkRefuseRecord } from "./link-records.ts";
import type { RecordCodec, RecordKind } from "./record-codec.ts";
import {
  relayBytesRecord,
  relayCloseRecord,
  relayOpenRecord,
  relayReadyRecord,
  relayRunRecord,
  relayToRecord,
} from "./relay-records.ts";
import {
  identitiesRecord,
  openSessionRecord,
  revalidatedRecord,
  revalidateRecord,
  syncRecord,
  syncReplyRecord,
} from "./request-records.ts";
import {
  ackEpochRecord,
  ackNewLeaderRecord,
  leaderInfoRecord,
  learnerInfoRecord,
  newLeaderRecord,
  snapshotChunkRecord,
  snapshotCreditRecord,
  stagedRecord,
  syncBeginRecord,
  upToDateRecord,
} from "./synchronization-records.ts";

/**
 * Every message whose codec protobufjs generates. The type of this table makes a message without a
 * codec, and a codec of another message, an error of compilation.
 */
export const RECORDS: { readonly [K in RecordKind]: RecordCodec<K> } = {
  hello: helloRecord,
  "auth-proof": authProofRecord,
  "link-refuse": linkRefuseRecord,
  heartbeat: heartbeatRecord,
  notification: notificationRecord,
  poll: pollRecord,
  "poll-answer": pollAnswerRecord,
  "learner-info": learnerInfoRecord,
  "leader-info": leaderInfoRecord,
  "ack-epoch": ackEpochRecord,
  "sync-begin": syncBeginRecord,
  "snapshot-chunk": snapshotChunkRecord,
  "snapshot-credit": snapshotCreditRecord,
  staged: stagedRecord,
  "new-leader": newLeaderRecord,
  "ack-new-leader": ackNewLeaderRecord,
  "up-to-date": upToDateRecord,
  ping: pingRecord,
  pong: pongRecord,
  "leadership-transfer": leadershipTransferRecord,
  refuse: refuseRecord,
  identities: identitiesRecord,
  "open-session": openSessionRecord,
  revalidate: revalidateRecord,
  revalidated: revalidatedRecord,
  sync: syncRecord,
  "sync-reply": syncReplyRecord,
  "relay-to": relayToRecord,
  "relay-ready": relayReadyRecord,
  "relay-open": relayOpenRecord,
  "relay-close": relayCloseRecord,
  "relay-bytes": relayBytesRecord,
  "relay-run": relayRunRecord,
};

const KINDS = Object.keys(RECORDS) as readonly RecordKind[];

/**
 * The tag of each message in an envelope, as generated code writes it: `peer.proto` alone has the
 * numbers.
 */
export const TAGS: { readonly [K in RecordKind]: number } = Object.fromEntries(
  KINDS.map((kind) => [kind, memberTag(RECORDS[kind].member)]),
) as { readonly [K in RecordKind]: number };

export const RECORD_BY_TAG: ReadonlyMap<number, RecordCodec<RecordKind>> = new Map(
  KINDS.map((kind) => [TAGS[kind], RECORDS[kind] as RecordCodec<RecordKind>]),
);

function memberTag(member: RecordCodec<RecordKind>["member"]): number {
  const envelope = zooid.Envelope.encode({ [member]: {} }).finish();
  const reader = new ProtobufReader();
  reader.reset(envelope, 0, envelope.length);
  return reader.tag();
}
