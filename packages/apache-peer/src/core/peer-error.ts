import { errorJson, formatZxid, keepCode, type Zxid } from "@zooid/model";

/** Why a link to an Apache ensemble ended, or cannot be made. */
export type ApachePeerErrorDetail =
  /** The bytes are none that a leader sends. */
  | { readonly code: "MALFORMED"; readonly found: string }
  /** A packet that a leader does not send at this point. */
  | { readonly code: "UNEXPECTED_PACKET"; readonly found: string; readonly expected: string }
  /** A transaction is missing, or comes twice. */
  | { readonly code: "OUT_OF_ORDER"; readonly last: Zxid; readonly found: Zxid }
  /** The ensemble has taken back transactions that it had committed. */
  | { readonly code: "HISTORY_TAKEN_BACK"; readonly last: Zxid; readonly leader: Zxid }
  /** The leader's epoch is older than one that was accepted. */
  | { readonly code: "EPOCH_BACKWARDS"; readonly accepted: number; readonly offered: number }
  /** The ensemble's epoch is higher than Zooid's zxids can express. */
  | { readonly code: "EPOCH_TOO_HIGH"; readonly epoch: number; readonly highest: number }
  /** The leader is of a version before 3.5. */
  | { readonly code: "VERSION_TOO_OLD" }
  /** The server id is a voter's, or below one. */
  | { readonly code: "SID_TOO_LOW"; readonly sid: number; readonly highestVoter: string }
  /** The address neither accepted nor refused the connection. */
  | { readonly code: "UNREACHED"; readonly address: string; readonly ms: number }
  /** Nothing came for too long. */
  | { readonly code: "SILENT"; readonly ms: number; readonly expected: string }
  /** The events that wait to be read have reached their bound. */
  | { readonly code: "SPOOL_FULL"; readonly bytes: number; readonly reason?: string }
  /** A snapshot alone is larger than that bound. */
  | { readonly code: "SNAPSHOT_TOO_LARGE"; readonly bytesMax: number }
  /** The leader does not accept user and password, or does not know them. */
  | { readonly code: "LOGIN_FAILED"; readonly reason: string }
  | { readonly code: "CONNECTION_LOST"; readonly reason: string }
  /** The file of epochs cannot be read or written. */
  | { readonly code: "EPOCH_FILE"; readonly file: string; readonly reason: string };

export type ApachePeerErrorCode = ApachePeerErrorDetail["code"];

/** The only error of this package, but for `ArgumentError`. `detail` has the facts. */
export class ApachePeerError extends Error {
  override readonly name = "ApachePeerError";
  readonly detail: ApachePeerErrorDetail;

  constructor(detail: ApachePeerErrorDetail, options?: ErrorOptions) {
    super(describe(detail), options);
    this.detail = detail;
    keepCode(this, detail.code);
  }

  get code(): ApachePeerErrorCode {
    return this.detail.code;
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }
}

/** Another attempt has the same end: an operator has to act first. */
export function isFatal({ code }: ApachePeerErrorDetail): boolean {
  switch (code) {
    case "EPOCH_BACKWARDS":
    case "EPOCH_TOO_HIGH":
    case "VERSION_TOO_OLD":
    case "SID_TOO_LOW":
    case "SNAPSHOT_TOO_LARGE":
    case "LOGIN_FAILED":
    case "EPOCH_FILE":
      return true;
    default:
      return false;
  }
}

function describe(detail: ApachePeerErrorDetail): string {
  switch (detail.code) {
    case "MALFORMED":
      return `expected a packet of ZooKeeper's quorum protocol, found ${detail.found}; is this the quorum port of an Apache ZooKeeper server?`;
    case "UNEXPECTED_PACKET":
      return `expected ${detail.expected} from the leader, found ${detail.found}`;
    case "OUT_OF_ORDER":
      return `the leader sent transaction ${formatZxid(detail.found)} behind ${formatZxid(detail.last)}: one is missing, or comes twice; the next attempt asks for a snapshot`;
    case "HISTORY_TAKEN_BACK":
      return `the ensemble has taken back transactions that it had committed: its history ends at ${formatZxid(detail.leader)}, and ${formatZxid(detail.last)} was followed; the next attempt asks for a snapshot`;
    case "EPOCH_BACKWARDS":
      return `the leader's epoch is ${detail.offered}, and epoch ${detail.accepted} was accepted before: is this another ensemble, or one that was restored? To follow it, begin without the file of epochs`;
    case "EPOCH_TOO_HIGH":
      return `the leader's epoch is ${detail.epoch}, and the highest that can be followed is ${detail.highest}`;
    case "VERSION_TOO_OLD":
      return "the leader names no servers in NEWLEADER, as versions before 3.5 do, and 3.5 to 3.9 are followed: upgrade the ensemble first";
    case "SID_TOO_LOW":
      return `the server id ${detail.sid} must be above those of all voters, and the highest is ${detail.highestVoter}`;
    case "UNREACHED":
      return `${detail.address} did not answer within ${detail.ms} ms: the host may be down or firewalled`;
    case "SILENT":
      return `nothing came for ${detail.ms} ms, where ${detail.expected} was expected`;
    case "SPOOL_FULL":
      return `${detail.bytes} bytes wait to be read, which is the limit${detail.reason === undefined ? "" : ` (${detail.reason})`}: the link ends, and begins again when half of them are read`;
    case "SNAPSHOT_TOO_LARGE":
      return `the snapshot of the ensemble is larger than the ${detail.bytesMax} bytes that may wait to be read: raise spoolBytesMax`;
    case "LOGIN_FAILED":
      return `the login between servers failed: ${detail.reason}`;
    case "CONNECTION_LOST":
      return `the connection ended: ${detail.reason}`;
    case "EPOCH_FILE":
      return `the file of epochs ${detail.file} cannot be used: ${detail.reason}`;
  }
}
