import {
  EPOCH_MAX,
  epochOf,
  formatZxid,
  isSameState,
  type Member,
  type NamedState,
  parseZxid,
  type ServerId,
  type StandbyReport,
  type Zxid,
} from "@zooid/model";
import { APACHE_EPOCH_GAP } from "@zooid/txn-log/sqlite";

/** The state that an operator wants to be taken over, and the epoch to begin at the earliest. */
export interface TakeOverRequest {
  readonly zxid: Zxid;
  readonly digest: string;
  readonly epoch: number;
  /** Observers that may be away. */
  readonly without: readonly number[];
}

const DIGEST = /^[0-9a-f]{16}$/;
const WHOLE = /^\d{1,7}$/;

/** @returns a sentence about the first parameter that is wrong */
export function takeOverRequestOf(query: URLSearchParams): TakeOverRequest | string {
  const [digest, epoch, without] = ["digest", "epoch", "without"].map((name) => query.get(name) ?? "");
  if (digest === undefined || !DIGEST.test(digest))
    return `digest is that of the state as the command standby shows it, 16 hexadecimal digits, not ${JSON.stringify(digest)}`;
  if (epoch === undefined || !WHOLE.test(epoch))
    return `epoch is a whole number, above each of Apache's by ${APACHE_EPOCH_GAP}, not ${JSON.stringify(epoch)}`;
  const sids = without === undefined || without === "" ? [] : without.split(",");
  if (sids.some((sid) => !/^\d{1,3}$/.test(sid)))
    return `without names observers by their numbers, like 14,15, not ${JSON.stringify(without)}`;
  try {
    return { zxid: parseZxid(query.get("zxid") ?? ""), digest, epoch: Number(epoch), without: sids.map(Number) };
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

/** As operators see a digest: 16 hexadecimal digits. */
export function digestText({ digestHigh, digestLow }: Pick<NamedState, "digestHigh" | "digestLow">): string {
  return [digestHigh, digestLow].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
}

/** A configured server of the ensemble, as the leader sees it. */
export interface StandingMember {
  readonly member: Pick<Member, "sid" | "isObserver">;
  readonly isSynced: boolean;
  readonly standby: StandbyReport | undefined;
}

/**
 * Why a state is not taken over now; undefined: it may be.
 *
 * @param own the state that the leader has ready
 * @param others the other servers of the configuration in force
 */
export function takeOverObstacle(
  request: TakeOverRequest,
  own: NamedState | undefined,
  others: readonly StandingMember[],
): string | undefined {
  if (own === undefined) return "this server has no state ready: the command standby says why";
  if (own.zxid !== request.zxid || digestText(own) !== request.digest)
    return `this server stands at ${formatZxid(own.zxid)} with the digest ${digestText(own)}, and not at ${formatZxid(request.zxid)} with ${request.digest}`;
  const epochMin = epochOf(own.zxid) + APACHE_EPOCH_GAP;
  if (request.epoch < epochMin)
    return `epoch ${request.epoch} is too near to Apache's: it is ${epochMin} at least, ${APACHE_EPOCH_GAP} above the epoch of ${formatZxid(own.zxid)}`;
  if (request.epoch >= EPOCH_MAX)
    return `epoch ${request.epoch} is not below ${EPOCH_MAX}, where zxids would no longer be exact`;
  for (const { member, isSynced, standby } of others) {
    const fault = isSynced ? standbyFault(standby, own) : "it does not follow, or is not synchronized";
    const isLeftOut = member.isObserver && request.without.includes(member.sid);
    if (fault === undefined || isLeftOut) continue;
    const name = `${member.isObserver ? "observer" : "server"} ${member.sid}`;
    return `${name} is not ready: ${fault}${member.isObserver ? `; without=${member.sid} leaves it out` : ""}`;
  }
  return undefined;
}

function standbyFault(standby: StandbyReport | undefined, own: NamedState): string | undefined {
  if (standby === undefined || standby.isTaken) return "it has no state ready";
  if (isSameState(standby, own)) return undefined;
  if (standby.zxid === own.zxid && standby.chain !== own.chain)
    return `its state at ${formatZxid(standby.zxid)} is that of another history`;
  return `it stands at ${formatZxid(standby.zxid)} with the digest ${digestText(standby)}`;
}

/** Servers that have not taken a state over, or have another digest. */
export function missingMembers(
  taken: NamedState,
  others: readonly StandingMember[],
): readonly { readonly sid: ServerId; readonly isObserver: boolean }[] {
  return others
    .filter(({ standby }) => standby === undefined || !standby.isTaken || !isSameState(standby, taken))
    .map(({ member }) => member);
}
