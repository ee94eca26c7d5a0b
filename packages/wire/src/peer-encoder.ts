import {
  assert,
  assertNever,
  type Chain,
  copyBytes,
  type LogPosition,
  type Vote,
  type Zxid,
  zxidHigh,
  zxidLow,
} from "@zooid/model";
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
  RelayBytesTag,
  RelayCloseTag,
  RelayOpenTag,
  RelayRunTag,
  RelayToTag,
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
import type { EnvelopeMessage } from "./peer-link-message.ts";
import { varintSize, writeFixed64, writeVarint } from "./protobuf-bytes.ts";

/** More than any message's envelope and numbers take. */
const FIXED_BYTES_MAX = 192;
/** More than one element of a list of numbers takes. */
const ELEMENT_BYTES_MAX = 40;
/** A text's UTF-8 form is never longer than this for each of its UTF-16 units. */
const UTF8_BYTES_MAX = 3;

/** Bytes that an envelope with this message needs at most: what must be free before it is written. */
export function envelopeBytesMax(message: EnvelopeMessage): number {
  switch (message.kind) {
    case "hello":
      return (
        FIXED_BYTES_MAX +
        textBytesMax(message.ensembleId) +
        message.nonce.length +
        message.features.length * 10 +
        message.keyIds.reduce((sum, id) => sum + textBytesMax(id), 0)
      );
    case "auth-proof":
      return FIXED_BYTES_MAX + textBytesMax(message.keyId) + message.mac.length;
    case "link-refuse":
    case "refuse":
    case "relay-close":
      return FIXED_BYTES_MAX + textBytesMax(message.text);
    case "learner-info":
    case "leader-info":
      return FIXED_BYTES_MAX + textBytesMax(message.ensembleId);
    case "ack-epoch":
      return FIXED_BYTES_MAX + message.tails.length * ELEMENT_BYTES_MAX;
    case "sync-begin":
      return FIXED_BYTES_MAX + message.epochs.length * ELEMENT_BYTES_MAX;
    case "pong":
      return FIXED_BYTES_MAX + message.touches.length * ELEMENT_BYTES_MAX;
    case "identities":
      return message.identities.reduce(
        (sum, { scheme, id }) => sum + ELEMENT_BYTES_MAX + textBytesMax(scheme) + textBytesMax(id),
        FIXED_BYTES_MAX,
      );
    case "new-leader":
      return FIXED_BYTES_MAX + (message.config?.length ?? 0) + textBytesMax(message.ensembleId);
    case "entries":
    case "forward":
    case "snapshot-chunk":
    case "relay-bytes":
      return FIXED_BYTES_MAX + message.end - message.start;
    case "open-session":
    case "revalidate":
      return FIXED_BYTES_MAX + message.passwordHash.length;
    default:
      return FIXED_BYTES_MAX;
  }
}

/** Writes messages as `peer.proto` has them, one envelope behind another, where the caller says. */
export class EnvelopeWriter {
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;

  /** @returns where the envelope ends; there must be {@link envelopeBytesMax} bytes behind `at` */
  write(target: Buffer, at: number, message: EnvelopeMessage): number {
    this.#bytes = target;
    this.#at = at;
    this.#envelope(message);
    assert(
      this.#at <= target.length,
      () => `a ${message.kind} message took ${this.#at - at} bytes, more than it may need`,
    );
    return this.#at;
  }

  #envelope(message: EnvelopeMessage): void {
    switch (message.kind) {
      case "hello": {
        const end = this.#open(EnvelopeTag.hello);
        this.#text(HelloTag.ensembleId, message.ensembleId);
        this.#number(HelloTag.sid, message.sid);
        this.#number(HelloTag.bootCount, message.bootCount);
        this.#field(HelloTag.nonce, message.nonce, 0, message.nonce.length);
        this.#number(HelloTag.versionMin, message.versionMin);
        this.#number(HelloTag.versionMax, message.versionMax);
        if (message.features.length > 0) {
          const featuresEnd = this.#open(HelloTag.features);
          for (const feature of message.features) this.#varint(feature);
          this.#close(featuresEnd);
        }
        this.#choice(HelloTag.purpose, PURPOSES, message.purpose);
        this.#number(HelloTag.frameBytesMax, message.frameBytesMax);
        for (const id of message.keyIds) this.#element(HelloTag.keyIds, id);
        this.#number(HelloTag.electionAlg, message.electionAlg);
        return this.#close(end);
      }
      case "auth-proof": {
        const end = this.#open(EnvelopeTag.authProof);
        this.#text(AuthProofTag.keyId, message.keyId);
        this.#field(AuthProofTag.mac, message.mac, 0, message.mac.length);
        return this.#close(end);
      }
      case "link-refuse": {
        const end = this.#open(EnvelopeTag.linkRefuse);
        this.#choice(LinkRefuseTag.reason, LINK_REASONS, message.reason);
        this.#text(LinkRefuseTag.text, message.text);
        this.#number(LinkRefuseTag.retryAfterMs, message.retryAfterMs);
        return this.#close(end);
      }
      case "heartbeat": {
        const end = this.#open(EnvelopeTag.heartbeat);
        this.#number(HeartbeatTag.sequence, message.sequence);
        this.#flag(HeartbeatTag.isEcho, message.isEcho);
        return this.#close(end);
      }
      case "notification": {
        const end = this.#open(EnvelopeTag.notification);
        this.#choice(NotificationTag.role, ROLES, message.role);
        this.#number(NotificationTag.round, message.round);
        this.#vote(NotificationTag.vote, message.vote);
        this.#zxid(NotificationTag.selfZxid, message.selfZxid);
        this.#number(NotificationTag.selfEpoch, message.selfEpoch);
        return this.#close(end);
      }
      case "poll": {
        const end = this.#open(EnvelopeTag.poll);
        this.#number(PollTag.number, message.number);
        return this.#close(end);
      }
      case "poll-answer": {
        const end = this.#open(EnvelopeTag.pollAnswer);
        this.#number(PollAnswerTag.number, message.number);
        this.#choice(PollAnswerTag.role, ROLES, message.role);
        this.#vote(PollAnswerTag.vote, message.vote);
        return this.#close(end);
      }
      case "learner-info": {
        const end = this.#open(EnvelopeTag.learnerInfo);
        this.#flag(LearnerInfoTag.isObserver, message.isObserver);
        this.#number(LearnerInfoTag.promisedEpoch, message.promise.epoch);
        this.#number(LearnerInfoTag.promisedTo, message.promise.sid);
        this.#number(LearnerInfoTag.promisedIncarnation, message.promise.incarnation);
        this.#flag(LearnerInfoTag.isFresh, message.isFresh);
        this.#flag(LearnerInfoTag.isAmnesiac, message.isAmnesiac);
        this.#text(LearnerInfoTag.ensembleId, message.ensembleId);
        return this.#close(end);
      }
      case "leader-info": {
        const end = this.#open(EnvelopeTag.leaderInfo);
        this.#number(LeaderInfoTag.epoch, message.epoch);
        this.#number(LeaderInfoTag.incarnation, message.incarnation);
        this.#text(LeaderInfoTag.ensembleId, message.ensembleId);
        return this.#close(end);
      }
      case "ack-epoch": {
        const end = this.#open(EnvelopeTag.ackEpoch);
        this.#flag(AckEpochTag.isRepeated, message.isRepeated);
        this.#number(AckEpochTag.currentEpoch, message.currentEpoch);
        this.#position(AckEpochTag.logged, message.logged);
        this.#zxid(AckEpochTag.floor, message.floor);
        for (const tail of message.tails) {
          const tailEnd = this.#open(AckEpochTag.tails);
          this.#number(TailTag.epoch, tail.epoch);
          this.#number(TailTag.last, tail.last);
          this.#close(tailEnd);
        }
        return this.#close(end);
      }
      case "sync-begin": {
        const end = this.#open(EnvelopeTag.syncBegin);
        this.#number(SyncBeginTag.epoch, message.epoch);
        this.#choice(SyncBeginTag.mode, MODES, message.mode);
        this.#position(SyncBeginTag.from, message.from);
        for (const range of message.epochs) {
          const rangeEnd = this.#open(SyncBeginTag.epochs);
          this.#number(EpochRangeTag.epoch, range.epoch);
          this.#number(EpochRangeTag.first, range.first);
          this.#number(EpochRangeTag.last, range.last);
          this.#close(rangeEnd);
        }
        return this.#close(end);
      }
      case "snapshot-chunk": {
        const end = this.#open(EnvelopeTag.snapshotChunk);
        this.#number(SnapshotChunkTag.index, message.index);
        this.#flag(SnapshotChunkTag.isLast, message.isLast);
        this.#field(SnapshotChunkTag.data, message.bytes, message.start, message.end);
        return this.#close(end);
      }
      case "snapshot-credit": {
        const end = this.#open(EnvelopeTag.snapshotCredit);
        this.#number(SnapshotCreditTag.next, message.next);
        return this.#close(end);
      }
      case "entries": {
        const end = this.#open(EnvelopeTag.entries);
        this.#number(EntriesTag.epoch, message.epoch);
        this.#zxid(EntriesTag.previous, message.previous);
        this.#zxid(EntriesTag.first, message.first);
        this.#zxid(EntriesTag.last, message.last);
        this.#number(EntriesTag.count, message.count);
        this.#zxid(EntriesTag.committed, message.committed);
        this.#number(EntriesTag.round, message.round);
        this.#field(EntriesTag.run, message.bytes, message.start, message.end);
        return this.#close(end);
      }
      case "staged":
        return this.#epochZxid(EnvelopeTag.staged, message.epoch, message.through);
      case "new-leader": {
        const end = this.#open(EnvelopeTag.newLeader);
        this.#number(NewLeaderTag.epoch, message.epoch);
        this.#zxid(NewLeaderTag.through, message.through);
        this.#flag(NewLeaderTag.endsAmnesia, message.endsAmnesia);
        // Here empty is something else than absent.
        if (message.config !== undefined)
          this.#delimited(NewLeaderTag.config, message.config, 0, message.config.length);
        this.#text(NewLeaderTag.ensembleId, message.ensembleId);
        return this.#close(end);
      }
      case "ack-new-leader":
        return this.#epochZxid(EnvelopeTag.ackNewLeader, message.epoch, message.through);
      case "up-to-date":
        return this.#epochZxid(EnvelopeTag.upToDate, message.epoch, message.committed);
      case "ack": {
        const end = this.#open(EnvelopeTag.ack);
        this.#number(AckTag.epoch, message.epoch);
        this.#zxid(AckTag.durable, message.durable);
        this.#number(AckTag.round, message.round);
        return this.#close(end);
      }
      case "commit":
        return this.#epochZxid(EnvelopeTag.commit, message.epoch, message.committed);
      case "ping": {
        const end = this.#open(EnvelopeTag.ping);
        this.#number(PingTag.epoch, message.epoch);
        this.#number(PingTag.round, message.round);
        this.#zxid(PingTag.committed, message.committed);
        this.#flag(PingTag.lacksRoom, message.lacksRoom);
        return this.#close(end);
      }
      case "pong": {
        const end = this.#open(EnvelopeTag.pong);
        this.#number(PongTag.epoch, message.epoch);
        this.#number(PongTag.round, message.round);
        this.#zxid(PongTag.applied, message.applied);
        for (const touch of message.touches) {
          const touchEnd = this.#open(PongTag.touches);
          this.#fixed64(TouchTag.session, touch.sessionHigh, touch.sessionLow);
          this.#number(TouchTag.timeoutMs, touch.timeoutMs);
          this.#close(touchEnd);
        }
        this.#choice(PongTag.room, ROOMS, message.room);
        return this.#close(end);
      }
      case "hand-over": {
        const end = this.#open(EnvelopeTag.handOver);
        this.#number(HandOverTag.epoch, message.epoch);
        this.#number(HandOverTag.successor, message.successor);
        return this.#close(end);
      }
      case "refuse": {
        const end = this.#open(EnvelopeTag.refuse);
        this.#choice(RefuseTag.reason, REASONS, message.reason);
        this.#text(RefuseTag.text, message.text);
        return this.#close(end);
      }
      case "identities": {
        const end = this.#open(EnvelopeTag.identities);
        this.#number(IdentitiesTag.client, message.client);
        for (const identity of message.identities) {
          const identityEnd = this.#open(IdentitiesTag.identities);
          this.#text(IdentityTag.scheme, identity.scheme);
          this.#text(IdentityTag.id, identity.id);
          this.#close(identityEnd);
        }
        return this.#close(end);
      }
      case "forward": {
        const end = this.#open(EnvelopeTag.forward);
        this.#number(ForwardTag.count, message.count);
        this.#field(ForwardTag.run, message.bytes, message.start, message.end);
        return this.#close(end);
      }
      case "open-session":
      case "revalidate": {
        const end = this.#open(message.kind === "revalidate" ? EnvelopeTag.revalidate : EnvelopeTag.openSession);
        this.#number(SessionTag.sequence, message.sequence);
        this.#fixed64(SessionTag.session, message.sessionHigh, message.sessionLow);
        this.#number(SessionTag.timeoutMs, message.timeoutMs);
        this.#field(SessionTag.passwordHash, message.passwordHash, 0, message.passwordHash.length);
        return this.#close(end);
      }
      case "revalidated": {
        const end = this.#open(EnvelopeTag.revalidated);
        this.#number(RevalidatedTag.sequence, message.sequence);
        this.#flag(RevalidatedTag.isValid, message.isValid);
        return this.#close(end);
      }
      case "sync": {
        const end = this.#open(EnvelopeTag.sync);
        this.#number(SyncTag.sequence, message.sequence);
        return this.#close(end);
      }
      case "sync-reply": {
        const end = this.#open(EnvelopeTag.syncReply);
        this.#number(SyncReplyTag.sequence, message.sequence);
        this.#zxid(SyncReplyTag.readAt, message.readAt);
        return this.#close(end);
      }
      case "relay-to": {
        const end = this.#open(EnvelopeTag.relayTo);
        this.#number(RelayToTag.leader, message.leader);
        return this.#close(end);
      }
      case "relay-ready":
        return this.#close(this.#open(EnvelopeTag.relayReady));
      case "relay-open": {
        const end = this.#open(EnvelopeTag.relayOpen);
        this.#number(RelayOpenTag.channel, message.channel);
        this.#number(RelayOpenTag.sid, message.sid);
        return this.#close(end);
      }
      case "relay-close": {
        const end = this.#open(EnvelopeTag.relayClose);
        this.#number(RelayCloseTag.channel, message.channel);
        this.#text(RelayCloseTag.text, message.text);
        return this.#close(end);
      }
      case "relay-bytes": {
        const end = this.#open(EnvelopeTag.relayBytes);
        this.#number(RelayBytesTag.channel, message.channel);
        this.#field(RelayBytesTag.data, message.bytes, message.start, message.end);
        return this.#close(end);
      }
      case "relay-run": {
        const end = this.#open(EnvelopeTag.relayRun);
        this.#number(RelayRunTag.channel, message.channel);
        this.#number(RelayRunTag.epoch, message.epoch);
        this.#zxid(RelayRunTag.previous, message.previous);
        this.#zxid(RelayRunTag.first, message.first);
        this.#zxid(RelayRunTag.last, message.last);
        this.#number(RelayRunTag.count, message.count);
        this.#zxid(RelayRunTag.committed, message.committed);
        this.#number(RelayRunTag.round, message.round);
        return this.#close(end);
      }
      default:
        return assertNever(message);
    }
  }

  /** Begins a message inside another. Its length is filled in at its end, as a varint that always has four bytes. */
  #open(tag: number): number {
    this.#varint(tag);
    this.#at += LENGTH_BYTES;
    return this.#at;
  }

  #close(start: number): void {
    const length = this.#at - start;
    const bytes = this.#bytes;
    bytes[start - 4] = (length & 0x7f) | 0x80;
    bytes[start - 3] = ((length >>> 7) & 0x7f) | 0x80;
    bytes[start - 2] = ((length >>> 14) & 0x7f) | 0x80;
    bytes[start - 1] = length >>> 21;
  }

  #varint(value: number): void {
    this.#at = writeVarint(this.#bytes, this.#at, value);
  }

  #number(tag: number, value: number): void {
    if (value === 0) return;
    assert(value > 0 && Number.isSafeInteger(value), () => `${value} is no whole number from 0 to 2^53`);
    this.#varint(tag);
    this.#varint(value);
  }

  #flag(tag: number, value: boolean): void {
    if (!value) return;
    this.#varint(tag);
    this.#varint(1);
  }

  #choice<T extends string>(tag: number, choices: readonly T[], value: T): void {
    this.#number(tag, choices.indexOf(value));
  }

  #fixed64(tag: number, high: number, low: number): void {
    if (high === 0 && low === 0) return;
    this.#varint(tag);
    this.#at = writeFixed64(this.#bytes, this.#at, high, low);
  }

  #zxid(tag: number, zxid: Zxid): void {
    this.#fixed64(tag, zxidHigh(zxid), zxidLow(zxid));
  }

  #chain(tag: number, chain: Chain): void {
    this.#fixed64(tag, Number(BigInt.asIntN(32, chain >> 32n)), Number(BigInt.asIntN(32, chain)));
  }

  #text(tag: number, text: string): void {
    if (text !== "") this.#element(tag, text);
  }

  /** An element of a list is written also when it is empty. */
  #element(tag: number, text: string): void {
    const start = this.#open(tag);
    this.#at += this.#bytes.write(text, start, "utf8");
    this.#close(start);
  }

  #field(tag: number, bytes: Uint8Array, start: number, end: number): void {
    if (end !== start) this.#delimited(tag, bytes, start, end);
  }

  #delimited(tag: number, bytes: Uint8Array, start: number, end: number): void {
    this.#varint(tag);
    this.#varint(end - start);
    copyBytes(bytes, start, end, this.#bytes, this.#at);
    this.#at += end - start;
  }

  #vote(tag: number, vote: Vote | undefined): void {
    if (vote === undefined) return;
    const end = this.#open(tag);
    this.#number(VoteTag.leader, vote.leader);
    this.#zxid(VoteTag.zxid, vote.zxid);
    this.#number(VoteTag.peerEpoch, vote.peerEpoch);
    this.#close(end);
  }

  #position(tag: number, position: LogPosition): void {
    const end = this.#open(tag);
    this.#zxid(PositionTag.zxid, position.zxid);
    this.#chain(PositionTag.chain, position.chain);
    this.#close(end);
  }

  #epochZxid(tag: number, epoch: number, zxid: Zxid): void {
    const end = this.#open(tag);
    this.#number(EpochZxidTag.epoch, epoch);
    this.#zxid(EpochZxidTag.zxid, zxid);
    this.#close(end);
  }
}

const LENGTH_BYTES = 4;

function textBytesMax(text: string): number {
  return text.length * UTF8_BYTES_MAX + 1 + varintSize(text.length * UTF8_BYTES_MAX) + LENGTH_BYTES;
}
