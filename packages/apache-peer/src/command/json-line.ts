import { ApacheType } from "@zooid/wire/apache";
import type { FollowEvent } from "../follow/follow-event.ts";
import { storedStat } from "../follow/stored-stat.ts";

const TYPES: ReadonlyMap<number, string> = new Map(
  Object.entries(ApacheType).map(([name, type]) => [type, name.toLowerCase().replaceAll("_", "-")]),
);

/**
 * An event as a line of JSON: zxids and sessions in hexadecimal, data in base64, digests in
 * decimal.
 */
export function jsonLine(event: FollowEvent): string {
  return JSON.stringify(plain(event));
}

function plain(event: FollowEvent): object {
  switch (event.kind) {
    case "transaction": {
      const { session, cxid, zxid, timeMs, type, error, changes, digest } = event.transaction;
      return {
        kind: event.kind,
        zxid: hex(zxid),
        type: TYPES.get(type) ?? type,
        session: hex(session),
        cxid,
        timeMs: Number(timeMs),
        ...(error === 0 ? {} : { error }),
        changes: changes.map((change) => shown(change)),
        ...(digest === undefined ? {} : { digest: String(digest) }),
      };
    }
    case "node": {
      const { owner, czxid, mzxid, pzxid, ...stat } = storedStat(event.stat);
      return shown({ ...event, stat: shown({ czxid, mzxid, pzxid, ...stat, owner }) });
    }
    case "disconnected":
      return { kind: event.kind, code: event.error.code, reason: event.error.message };
    case "no-leader":
      return {
        kind: event.kind,
        failures: event.failures.map(({ address, error }) => ({ ...address, code: error.code, reason: error.message })),
      };
    default:
      return shown(event);
  }
}

/** Fields that name a session, a transaction or bytes are written as text. */
function shown(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]: [string, unknown]) => {
      if (typeof value === "bigint") return [name, name === "aclKey" || name === "key" ? String(value) : hex(value)];
      if (/^[cmp]?zxid$/.test(name) && typeof value === "number") return [name, hex(BigInt(value))];
      if (value instanceof Uint8Array) return [name, Buffer.from(value).toString("base64")];
      return [name, value];
    }),
  );
}

function hex(value: bigint): string {
  return `0x${BigInt.asUintN(64, value).toString(16)}`;
}
