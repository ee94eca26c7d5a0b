/**
 * The field tags of `peer.proto`, and the numbers of its enums. A tag is three bits of wire type behind the field's number, so in octal
 * the last digit is the type: 0 a varint, 1 eight bytes, 2 a length and as many bytes.
 */

export const EnvelopeTag = {
  hello: 0o12,
  authProof: 0o22,
  linkRefuse: 0o32,
  heartbeat: 0o42,
  notification: 0o122,
  poll: 0o132,
  pollAnswer: 0o142,
  learnerInfo: 0o242,
  leaderInfo: 0o252,
  ackEpoch: 0o262,
  syncBegin: 0o362,
  snapshotChunk: 0o372,
  snapshotCredit: 0o402,
  entries: 0o412,
  staged: 0o422,
  newLeader: 0o432,
  ackNewLeader: 0o442,
  upToDate: 0o452,
  ack: 0o502,
  commit: 0o512,
  ping: 0o522,
  pong: 0o532,
  handOver: 0o542,
  refuse: 0o552,
  identities: 0o622,
  forward: 0o632,
  openSession: 0o642,
  revalidate: 0o652,
  revalidated: 0o662,
  sync: 0o672,
  syncReply: 0o702,
  relayTo: 0o742,
  relayReady: 0o752,
  relayOpen: 0o762,
  relayClose: 0o772,
  relayBytes: 0o1002,
  relayRun: 0o1012,
} as const;

export const HelloTag = {
  ensembleId: 0o12,
  sid: 0o20,
  bootCount: 0o30,
  nonce: 0o42,
  versionMin: 0o50,
  versionMax: 0o60,
  features: 0o72,
  purpose: 0o100,
  frameBytesMax: 0o110,
  keyIds: 0o122,
  electionAlg: 0o130,
} as const;
export const AuthProofTag = { keyId: 0o12, mac: 0o22 } as const;
export const LinkRefuseTag = { reason: 0o10, text: 0o22, retryAfterMs: 0o30 } as const;
export const HeartbeatTag = { sequence: 0o10, isEcho: 0o20 } as const;

export const VoteTag = { leader: 0o10, zxid: 0o21, peerEpoch: 0o30 } as const;
export const NotificationTag = {
  role: 0o10,
  round: 0o20,
  vote: 0o32,
  selfZxid: 0o41,
  selfEpoch: 0o50,
} as const;
export const PollTag = { number: 0o10 } as const;
export const PollAnswerTag = { number: 0o10, role: 0o20, vote: 0o32 } as const;

export const PositionTag = { zxid: 0o11, chain: 0o21 } as const;
export const LearnerInfoTag = {
  isObserver: 0o10,
  promisedEpoch: 0o20,
  promisedTo: 0o30,
  promisedIncarnation: 0o40,
  isFresh: 0o50,
  isAmnesiac: 0o60,
  ensembleId: 0o72,
} as const;
export const LeaderInfoTag = { epoch: 0o10, incarnation: 0o20, ensembleId: 0o32 } as const;
export const TailTag = { epoch: 0o10, last: 0o20 } as const;
export const AckEpochTag = {
  isRepeated: 0o10,
  currentEpoch: 0o20,
  logged: 0o32,
  floor: 0o41,
  tails: 0o52,
} as const;

export const EpochRangeTag = { epoch: 0o10, first: 0o20, last: 0o30 } as const;
export const SyncBeginTag = { epoch: 0o10, mode: 0o20, from: 0o32, epochs: 0o42 } as const;
export const SnapshotChunkTag = { index: 0o10, isLast: 0o20, data: 0o32 } as const;
export const SnapshotCreditTag = { next: 0o10 } as const;
export const EntriesTag = {
  epoch: 0o10,
  previous: 0o21,
  first: 0o31,
  last: 0o41,
  count: 0o50,
  committed: 0o61,
  round: 0o70,
  run: 0o102,
} as const;
export const NewLeaderTag = {
  epoch: 0o10,
  through: 0o21,
  endsAmnesia: 0o30,
  config: 0o42,
  ensembleId: 0o52,
} as const;
/** Staged, AckNewLeader, UpToDate and Commit: an epoch and a place in it. */
export const EpochZxidTag = { epoch: 0o10, zxid: 0o21 } as const;

export const AckTag = { epoch: 0o10, durable: 0o21, round: 0o30 } as const;
export const PingTag = { epoch: 0o10, round: 0o20, committed: 0o31, lacksRoom: 0o40 } as const;
export const TouchTag = { session: 0o11, timeoutMs: 0o20 } as const;
export const PongTag = { epoch: 0o10, round: 0o20, applied: 0o31, touches: 0o42, room: 0o50 } as const;
export const HandOverTag = { epoch: 0o10, successor: 0o20 } as const;
export const RefuseTag = { reason: 0o10, text: 0o22 } as const;

export const IdentityTag = { scheme: 0o12, id: 0o22 } as const;
export const IdentitiesTag = { client: 0o10, identities: 0o22 } as const;
export const ForwardTag = { count: 0o10, run: 0o22 } as const;
/** OpenSession and Revalidate. */
export const SessionTag = {
  sequence: 0o10,
  session: 0o21,
  timeoutMs: 0o30,
  passwordHash: 0o42,
} as const;
export const RevalidatedTag = { sequence: 0o10, isValid: 0o20 } as const;
export const RelayToTag = { leader: 0o10 } as const;
export const RelayOpenTag = { channel: 0o10, sid: 0o20 } as const;
export const RelayCloseTag = { channel: 0o10, text: 0o22 } as const;
export const RelayBytesTag = { channel: 0o10, data: 0o22 } as const;
export const RelayRunTag = {
  channel: 0o10,
  epoch: 0o20,
  previous: 0o31,
  first: 0o41,
  last: 0o51,
  count: 0o60,
  committed: 0o71,
  round: 0o100,
} as const;

export const SyncTag = { sequence: 0o10 } as const;
export const SyncReplyTag = { sequence: 0o10, readAt: 0o21 } as const;

// A value's place in its list is its number.
export const PURPOSES = ["election", "quorum", "observer"] as const;
export const LINK_REASONS = ["version", "auth", "ensemble", "configuration", "duplicate", "busy"] as const;
export const ROLES = ["looking", "following", "leading", "observing"] as const;
export const MODES = ["diff", "trunc", "snap"] as const;
export const ROOMS = ["enough", "low", "full"] as const;
export const REASONS = ["not-leading", "epoch-low", "diverged", "unable"] as const;
