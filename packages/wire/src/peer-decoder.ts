import {
  CHAIN_NONE,
  type EntriesMessage,
  type EpochRange,
  FRAME_HEADER_BYTES,
  frameLength,
  frameZxid,
  type Identity,
  type LogPosition,
  type Touch,
  type Vote,
  WireError,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import {
  FieldReader,
  type Filling,
  type MessageOf,
  NO_BYTES,
  onlyNumber,
  place,
  SERVER_0,
} from "./peer-field-reader.ts";
import {
  AckEpochTag,
  AckTag,
  AuthProofTag,
  EntriesTag,
  EnvelopeTag,
  EpochRangeTag,
  EpochZxidTag,
  ForwardTag,
  HandOverTag,
  HeartbeatTag,
  HelloTag,
  IdentitiesTag,
  IdentityTag,
  LeaderInfoTag,
  LearnerInfoTag,
  LINK_REASONS,
  LinkRefuseTag,
  MODES,
  NewLeaderTag,
  NotificationTag,
  PingTag,
  PollAnswerTag,
  PollTag,
  PongTag,
  PositionTag,
  PURPOSES,
  REASONS,
  RefuseTag,
  RevalidatedTag,
  ROLES,
  ROOMS,
  SessionTag,
  SnapshotChunkTag,
  SnapshotCreditTag,
  SyncBeginTag,
  SyncReplyTag,
  SyncTag,
  TailTag,
  TouchTag,
  VoteTag,
} from "./peer-fields.ts";
import type { AuthProof, EnvelopeMessage, Heartbeat, Hello, LinkRefuse } from "./peer-link-message.ts";
import { relayBytes, relayClose, relayOpen, relayRun, relayTo } from "./peer-relay-decoder.ts";
import { FORWARD_HEADER_BYTES, forwardLength } from "./peer-runs.ts";
import { fixed32 } from "./protobuf-bytes.ts";

/**
 * Reads one envelope. Runs of entries and requests, and parts of snapshots, stay where they lie: such a message lasts as long as the
 * bytes do. Everything else is the message's own.
 *
 * A run is validated, so that the receiver of the message may walk it without checking for its end: its frames fill it exactly, are as
 * many as the message says, and entries rise from its first zxid to its last.
 *
 * @throws WireError for anything else than exactly one message that is known
 */
export function decodeEnvelope(bytes: Uint8Array, start: number, end: number): EnvelopeMessage {
  const envelope = new FieldReader();
  envelope.reset(bytes, start, end);
  const tag = envelope.tag();
  if ((tag & 7) !== 2) throw new WireError("UNKNOWN_TYPE", `an envelope begins with field tag ${tag}`);
  const memberEnd = envelope.delimited();
  if (memberEnd !== end) throw new WireError("VALUE", "an envelope holds more than one message");
  const member = new FieldReader();
  member.reset(bytes, envelope.at, memberEnd);
  return decodeMember(tag, member);
}

function decodeMember(tag: number, reader: FieldReader): EnvelopeMessage {
  switch (tag) {
    case EnvelopeTag.hello:
      return hello(reader);
    case EnvelopeTag.authProof:
      return authProof(reader);
    case EnvelopeTag.linkRefuse:
      return linkRefuse(reader);
    case EnvelopeTag.heartbeat:
      return heartbeat(reader);
    case EnvelopeTag.notification:
      return notification(reader);
    case EnvelopeTag.poll:
      return { kind: "poll", number: onlyNumber(reader, PollTag.number) };
    case EnvelopeTag.pollAnswer:
      return pollAnswer(reader);
    case EnvelopeTag.learnerInfo:
      return learnerInfo(reader);
    case EnvelopeTag.leaderInfo:
      return leaderInfo(reader);
    case EnvelopeTag.ackEpoch:
      return ackEpoch(reader);
    case EnvelopeTag.syncBegin:
      return syncBegin(reader);
    case EnvelopeTag.snapshotChunk:
      return snapshotChunk(reader);
    case EnvelopeTag.snapshotCredit:
      return { kind: "snapshot-credit", next: onlyNumber(reader, SnapshotCreditTag.next) };
    case EnvelopeTag.entries:
      return entries(reader);
    case EnvelopeTag.staged: {
      const { epoch, zxid: through } = epochZxid(reader);
      return { kind: "staged", epoch, through };
    }
    case EnvelopeTag.newLeader:
      return newLeader(reader);
    case EnvelopeTag.ackNewLeader: {
      const { epoch, zxid: through } = epochZxid(reader);
      return { kind: "ack-new-leader", epoch, through };
    }
    case EnvelopeTag.upToDate: {
      const { epoch, zxid: committed } = epochZxid(reader);
      return { kind: "up-to-date", epoch, committed };
    }
    case EnvelopeTag.ack:
      return ack(reader);
    case EnvelopeTag.commit: {
      const { epoch, zxid: committed } = epochZxid(reader);
      return { kind: "commit", epoch, committed };
    }
    case EnvelopeTag.ping:
      return ping(reader);
    case EnvelopeTag.pong:
      return pong(reader);
    case EnvelopeTag.handOver:
      return handOver(reader);
    case EnvelopeTag.refuse:
      return refuse(reader);
    case EnvelopeTag.identities:
      return identities(reader);
    case EnvelopeTag.forward:
      return forward(reader);
    case EnvelopeTag.openSession:
      return { kind: "open-session", ...session(reader) };
    case EnvelopeTag.revalidate:
      return { kind: "revalidate", ...session(reader) };
    case EnvelopeTag.revalidated:
      return revalidated(reader);
    case EnvelopeTag.sync:
      return { kind: "sync", sequence: onlyNumber(reader, SyncTag.sequence) };
    case EnvelopeTag.syncReply:
      return syncReply(reader);
    case EnvelopeTag.relayTo:
      return relayTo(reader);
    case EnvelopeTag.relayReady:
      return { kind: "relay-ready" };
    case EnvelopeTag.relayOpen:
      return relayOpen(reader);
    case EnvelopeTag.relayClose:
      return relayClose(reader);
    case EnvelopeTag.relayBytes:
      return relayBytes(reader);
    case EnvelopeTag.relayRun:
      return relayRun(reader);
    default:
      throw new WireError("UNKNOWN_TYPE", `an envelope holds a message with field tag ${tag}`);
  }
}

const POSITION_NONE: LogPosition = { zxid: ZXID_NONE, chain: CHAIN_NONE };

function epochZxid(reader: FieldReader): { readonly epoch: number; readonly zxid: Zxid } {
  let epoch = 0;
  let zxid = ZXID_NONE;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === EpochZxidTag.epoch) epoch = reader.varint();
    else if (tag === EpochZxidTag.zxid) zxid = reader.zxid();
    else reader.skip(tag);
  }
  return { epoch, zxid };
}

function position(reader: FieldReader): LogPosition {
  const value: Filling<LogPosition> = { ...POSITION_NONE };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === PositionTag.zxid) value.zxid = reader.zxid();
    else if (tag === PositionTag.chain) value.chain = reader.chain();
    else reader.skip(tag);
  }
  return value;
}

function vote(reader: FieldReader): Vote {
  let leader = SERVER_0;
  let zxid = ZXID_NONE;
  let peerEpoch = 0;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === VoteTag.leader) leader = reader.serverId();
    else if (tag === VoteTag.zxid) zxid = reader.zxid();
    else if (tag === VoteTag.peerEpoch) peerEpoch = reader.varint();
    else reader.skip(tag);
  }
  return { leader, zxid, peerEpoch };
}

function hello(reader: FieldReader): Hello {
  let sid = SERVER_0;
  const features: number[] = [];
  const keyIds: string[] = [];
  const message: Filling<Omit<Hello, "sid">> = {
    ...{ kind: "hello", ensembleId: "", bootCount: 0, nonce: NO_BYTES, versionMin: 0, versionMax: 0, features },
    ...{ purpose: "election", frameBytesMax: 0, keyIds, electionAlg: 0 },
  };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case HelloTag.ensembleId:
        message.ensembleId = reader.text();
        break;
      case HelloTag.sid:
        sid = reader.serverId();
        break;
      case HelloTag.bootCount:
        message.bootCount = reader.varint();
        break;
      case HelloTag.nonce:
        message.nonce = reader.copy();
        break;
      case HelloTag.versionMin:
        message.versionMin = reader.varint();
        break;
      case HelloTag.versionMax:
        message.versionMax = reader.varint();
        break;
      case HelloTag.features: {
        const packed = reader.message();
        while (packed.at < packed.end) features.push(packed.varint());
        break;
      }
      case HelloTag.purpose:
        message.purpose = reader.choice(PURPOSES);
        break;
      case HelloTag.frameBytesMax:
        message.frameBytesMax = reader.varint();
        break;
      case HelloTag.keyIds:
        keyIds.push(reader.text());
        break;
      case HelloTag.electionAlg:
        message.electionAlg = reader.varint();
        break;
      default:
        reader.skip(tag);
    }
  }
  return { ...message, sid };
}

function authProof(reader: FieldReader): AuthProof {
  const message: Filling<AuthProof> = { kind: "auth-proof", keyId: "", mac: NO_BYTES };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case AuthProofTag.keyId:
        message.keyId = reader.text();
        break;
      case AuthProofTag.mac:
        message.mac = reader.copy();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

function linkRefuse(reader: FieldReader): LinkRefuse {
  const message: Filling<LinkRefuse> = { kind: "link-refuse", reason: "version", text: "", retryAfterMs: 0 };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case LinkRefuseTag.reason:
        message.reason = reader.choice(LINK_REASONS);
        break;
      case LinkRefuseTag.text:
        message.text = reader.text();
        break;
      case LinkRefuseTag.retryAfterMs:
        message.retryAfterMs = reader.varint();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

function heartbeat(reader: FieldReader): Heartbeat {
  const message: Filling<Heartbeat> = { kind: "heartbeat", sequence: 0, isEcho: false };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case HeartbeatTag.sequence:
        message.sequence = reader.varint();
        break;
      case HeartbeatTag.isEcho:
        message.isEcho = reader.flag();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

function notification(reader: FieldReader): MessageOf<"notification"> {
  const message: Filling<MessageOf<"notification">> = {
    ...{ kind: "notification", role: "looking", round: 0, vote: undefined, selfZxid: ZXID_NONE, selfEpoch: 0 },
  };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case NotificationTag.role:
        message.role = reader.choice(ROLES);
        break;
      case NotificationTag.round:
        message.round = reader.varint();
        break;
      case NotificationTag.vote:
        message.vote = vote(reader.message());
        break;
      case NotificationTag.selfZxid:
        message.selfZxid = reader.zxid();
        break;
      case NotificationTag.selfEpoch:
        message.selfEpoch = reader.varint();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

function pollAnswer(reader: FieldReader): MessageOf<"poll-answer"> {
  const message: Filling<MessageOf<"poll-answer">> = {
    kind: "poll-answer",
    number: 0,
    role: "looking",
    vote: undefined,
  };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case PollAnswerTag.number:
        message.number = reader.varint();
        break;
      case PollAnswerTag.role:
        message.role = reader.choice(ROLES);
        break;
      case PollAnswerTag.vote:
        message.vote = vote(reader.message());
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

function learnerInfo(reader: FieldReader): MessageOf<"learner-info"> {
  const promise = { epoch: 0, sid: 0, incarnation: 0 };
  const message: Filling<Omit<MessageOf<"learner-info">, "promise">> = {
    ...{ kind: "learner-info", isObserver: false, isFresh: false, isAmnesiac: false, ensembleId: "" },
  };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case LearnerInfoTag.isObserver:
        message.isObserver = reader.flag();
        break;
      case LearnerInfoTag.isFresh:
        message.isFresh = reader.flag();
        break;
      case LearnerInfoTag.isAmnesiac:
        message.isAmnesiac = reader.flag();
        break;
      case LearnerInfoTag.ensembleId:
        message.ensembleId = reader.text();
        break;
      case LearnerInfoTag.promisedEpoch:
        promise.epoch = reader.varint();
        break;
      case LearnerInfoTag.promisedTo:
        promise.sid = reader.varint();
        break;
      case LearnerInfoTag.promisedIncarnation:
        promise.incarnation = reader.varint();
        break;
      default:
        reader.skip(tag);
    }
  }
  return { ...message, promise };
}

function leaderInfo(reader: FieldReader): MessageOf<"leader-info"> {
  const message: Filling<MessageOf<"leader-info">> = { kind: "leader-info", epoch: 0, incarnation: 0, ensembleId: "" };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case LeaderInfoTag.epoch:
        message.epoch = reader.varint();
        break;
      case LeaderInfoTag.incarnation:
        message.incarnation = reader.varint();
        break;
      case LeaderInfoTag.ensembleId:
        message.ensembleId = reader.text();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

function tail(reader: FieldReader): { readonly epoch: number; readonly last: number } {
  const value = { epoch: 0, last: 0 };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === TailTag.epoch) value.epoch = reader.varint();
    else if (tag === TailTag.last) value.last = reader.varint();
    else reader.skip(tag);
  }
  return value;
}

function ackEpoch(reader: FieldReader): MessageOf<"ack-epoch"> {
  const tails: ReturnType<typeof tail>[] = [];
  const message: Filling<MessageOf<"ack-epoch">> = {
    ...{ kind: "ack-epoch", isRepeated: false, currentEpoch: 0, logged: POSITION_NONE, floor: ZXID_NONE, tails },
  };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case AckEpochTag.isRepeated:
        message.isRepeated = reader.flag();
        break;
      case AckEpochTag.currentEpoch:
        message.currentEpoch = reader.varint();
        break;
      case AckEpochTag.logged:
        message.logged = position(reader.message());
        break;
      case AckEpochTag.floor:
        message.floor = reader.zxid();
        break;
      case AckEpochTag.tails:
        tails.push(tail(reader.message()));
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

function epochRange(reader: FieldReader): EpochRange {
  const value = { epoch: 0, first: 0, last: 0 };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === EpochRangeTag.epoch) value.epoch = reader.varint();
    else if (tag === EpochRangeTag.first) value.first = reader.varint();
    else if (tag === EpochRangeTag.last) value.last = reader.varint();
    else reader.skip(tag);
  }
  return value;
}

function syncBegin(reader: FieldReader): MessageOf<"sync-begin"> {
  const epochs: EpochRange[] = [];
  const message: Filling<MessageOf<"sync-begin">> = {
    kind: "sync-begin",
    epoch: 0,
    mode: "diff",
    from: POSITION_NONE,
    epochs,
  };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case SyncBeginTag.epoch:
        message.epoch = reader.varint();
        break;
      case SyncBeginTag.mode:
        message.mode = reader.choice(MODES);
        break;
      case SyncBeginTag.from:
        message.from = position(reader.message());
        break;
      case SyncBeginTag.epochs:
        epochs.push(epochRange(reader.message()));
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

/** Leaves bytes where they lie: the message says where. */
function snapshotChunk(reader: FieldReader): MessageOf<"snapshot-chunk"> {
  const message: Filling<MessageOf<"snapshot-chunk">> = {
    ...{ kind: "snapshot-chunk", index: 0, isLast: false, bytes: NO_BYTES, start: 0, end: 0 },
  };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case SnapshotChunkTag.index:
        message.index = reader.varint();
        break;
      case SnapshotChunkTag.isLast:
        message.isLast = reader.flag();
        break;
      case SnapshotChunkTag.data:
        place(message, reader);
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

function entries(reader: FieldReader): EntriesMessage {
  const message: Filling<EntriesMessage> = {
    ...{ kind: "entries", epoch: 0, previous: ZXID_NONE, first: ZXID_NONE, last: ZXID_NONE, count: 0 },
    ...{ bytes: NO_BYTES, start: 0, end: 0, committed: ZXID_NONE, round: 0 },
  };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case EntriesTag.epoch:
        message.epoch = reader.varint();
        break;
      case EntriesTag.previous:
        message.previous = reader.zxid();
        break;
      case EntriesTag.first:
        message.first = reader.zxid();
        break;
      case EntriesTag.last:
        message.last = reader.zxid();
        break;
      case EntriesTag.count:
        message.count = reader.varint();
        break;
      case EntriesTag.committed:
        message.committed = reader.zxid();
        break;
      case EntriesTag.round:
        message.round = reader.varint();
        break;
      case EntriesTag.run:
        place(message, reader);
        break;
      default:
        reader.skip(tag);
    }
  }
  checkEntries(message);
  return message;
}

function checkEntries(message: EntriesMessage): void {
  const { bytes, start, end, count, first, last, previous } = message;
  let found = 0;
  let zxid = previous;
  for (let at = start; at < end; ) {
    const next = end - at < FRAME_HEADER_BYTES ? ZXID_NONE : frameZxid(bytes, at);
    if (next <= zxid || (found === 0 && next !== first)) throw brokenRun("entries", at - start);
    zxid = next;
    at += FRAME_HEADER_BYTES + frameLength(bytes, at);
    if (at > end) throw brokenRun("entries", end - start);
    found++;
  }
  if (found !== count) throw new WireError("LENGTH", `a run of ${found} entries says that it has ${count}`);
  if (count > 0 && zxid !== last) throw new WireError("VALUE", "a run of entries ends with another than it says");
}

function brokenRun(what: string, at: number): WireError {
  return new WireError("TRUNCATED", `a run of ${what} is broken at its byte ${at}`);
}

function newLeader(reader: FieldReader): MessageOf<"new-leader"> {
  const message: Filling<MessageOf<"new-leader">> = {
    ...{ kind: "new-leader", epoch: 0, through: ZXID_NONE, endsAmnesia: false, ensembleId: "", config: undefined },
  };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case NewLeaderTag.epoch:
        message.epoch = reader.varint();
        break;
      case NewLeaderTag.through:
        message.through = reader.zxid();
        break;
      case NewLeaderTag.endsAmnesia:
        message.endsAmnesia = reader.flag();
        break;
      case NewLeaderTag.config:
        message.config = reader.copy();
        break;
      case NewLeaderTag.ensembleId:
        message.ensembleId = reader.text();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

function ack(reader: FieldReader): MessageOf<"ack"> {
  const message: Filling<MessageOf<"ack">> = { kind: "ack", epoch: 0, durable: ZXID_NONE, round: 0 };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case AckTag.epoch:
        message.epoch = reader.varint();
        break;
      case AckTag.durable:
        message.durable = reader.zxid();
        break;
      case AckTag.round:
        message.round = reader.varint();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

function ping(reader: FieldReader): MessageOf<"ping"> {
  const message: Filling<MessageOf<"ping">> = {
    ...{ kind: "ping", epoch: 0, round: 0, committed: ZXID_NONE, lacksRoom: false },
  };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case PingTag.epoch:
        message.epoch = reader.varint();
        break;
      case PingTag.round:
        message.round = reader.varint();
        break;
      case PingTag.committed:
        message.committed = reader.zxid();
        break;
      case PingTag.lacksRoom:
        message.lacksRoom = reader.flag();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

function touch(reader: FieldReader): Touch {
  const value = { sessionHigh: 0, sessionLow: 0, timeoutMs: 0 };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === TouchTag.session) readSession(value, reader);
    else if (tag === TouchTag.timeoutMs) value.timeoutMs = reader.varint();
    else reader.skip(tag);
  }
  return value;
}

function readSession(target: { sessionHigh: number; sessionLow: number }, reader: FieldReader): void {
  const at = reader.fixed64();
  target.sessionLow = fixed32(reader.bytes, at);
  target.sessionHigh = fixed32(reader.bytes, at + 4);
}

function pong(reader: FieldReader): MessageOf<"pong"> {
  const touches: Touch[] = [];
  const message: Filling<MessageOf<"pong">> = {
    ...{ kind: "pong", epoch: 0, round: 0, applied: ZXID_NONE, touches, room: "enough" },
  };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case PongTag.epoch:
        message.epoch = reader.varint();
        break;
      case PongTag.round:
        message.round = reader.varint();
        break;
      case PongTag.applied:
        message.applied = reader.zxid();
        break;
      case PongTag.touches:
        touches.push(touch(reader.message()));
        break;
      case PongTag.room:
        message.room = reader.choice(ROOMS);
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

function handOver(reader: FieldReader): MessageOf<"hand-over"> {
  let epoch = 0;
  let successor = SERVER_0;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === HandOverTag.epoch) epoch = reader.varint();
    else if (tag === HandOverTag.successor) successor = reader.serverId();
    else reader.skip(tag);
  }
  return { kind: "hand-over", epoch, successor };
}

function refuse(reader: FieldReader): MessageOf<"refuse"> {
  const message: Filling<MessageOf<"refuse">> = { kind: "refuse", reason: "not-leading", text: "" };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case RefuseTag.reason:
        message.reason = reader.choice(REASONS);
        break;
      case RefuseTag.text:
        message.text = reader.text();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

function identity(reader: FieldReader): Identity {
  const value = { scheme: "", id: "" };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === IdentityTag.scheme) value.scheme = reader.text();
    else if (tag === IdentityTag.id) value.id = reader.text();
    else reader.skip(tag);
  }
  return value;
}

function identities(reader: FieldReader): MessageOf<"identities"> {
  const list: Identity[] = [];
  const message: Filling<MessageOf<"identities">> = { kind: "identities", client: 0, identities: list };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case IdentitiesTag.client:
        message.client = reader.varint();
        break;
      case IdentitiesTag.identities:
        list.push(identity(reader.message()));
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

function forward(reader: FieldReader): MessageOf<"forward"> {
  const message: Filling<MessageOf<"forward">> = { kind: "forward", count: 0, bytes: NO_BYTES, start: 0, end: 0 };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case ForwardTag.count:
        message.count = reader.varint();
        break;
      case ForwardTag.run:
        place(message, reader);
        break;
      default:
        reader.skip(tag);
    }
  }
  checkForward(message);
  return message;
}

function checkForward({ bytes, start, end, count }: MessageOf<"forward">): void {
  let found = 0;
  for (let at = start; at < end; found++) {
    if (end - at < FORWARD_HEADER_BYTES) throw brokenRun("requests", at - start);
    at += FORWARD_HEADER_BYTES + forwardLength(bytes, at);
    if (at > end) throw brokenRun("requests", end - start);
  }
  if (found !== count) throw new WireError("LENGTH", `a run of ${found} requests says that it has ${count}`);
}

function session(reader: FieldReader): Omit<MessageOf<"open-session">, "kind"> {
  const message: Filling<Omit<MessageOf<"open-session">, "kind">> = {
    ...{ sequence: 0, sessionHigh: 0, sessionLow: 0, timeoutMs: 0, passwordHash: NO_BYTES },
  };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case SessionTag.sequence:
        message.sequence = reader.varint();
        break;
      case SessionTag.session:
        readSession(message, reader);
        break;
      case SessionTag.timeoutMs:
        message.timeoutMs = reader.varint();
        break;
      case SessionTag.passwordHash:
        message.passwordHash = reader.copy();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

function revalidated(reader: FieldReader): MessageOf<"revalidated"> {
  const message: Filling<MessageOf<"revalidated">> = { kind: "revalidated", sequence: 0, isValid: false };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case RevalidatedTag.sequence:
        message.sequence = reader.varint();
        break;
      case RevalidatedTag.isValid:
        message.isValid = reader.flag();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

function syncReply(reader: FieldReader): MessageOf<"sync-reply"> {
  const message: Filling<MessageOf<"sync-reply">> = { kind: "sync-reply", sequence: 0, readAt: ZXID_NONE };
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    switch (tag) {
      case SyncReplyTag.sequence:
        message.sequence = reader.varint();
        break;
      case SyncReplyTag.readAt:
        message.readAt = reader.zxid();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}
