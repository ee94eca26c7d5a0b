/** The answers of a follower and of members that stand by, as their admin ports give them. */
import { parseZxid } from "@zooid/model";
import type { JsonObject } from "../../output.ts";

/** The answer to `follow_status`. */
export interface FollowerReport {
  readonly state: string;
  /** `host:port` of Apache's server that sends. */
  readonly server: string | undefined;
  readonly epoch: number;
  readonly zxid: number;
  readonly lagTransactions: number;
  readonly lagMs: number;
  /** How Apache's digests compare with those of the tree. */
  readonly digest: string;
  readonly digestsCompared: number;
  readonly snapshots: number;
  readonly resyncs: number;
  readonly lastError: string | undefined;
  /** The digest of the tree at `zxid`; undefined while its log is behind. */
  readonly mark: StateMark | undefined;
}

/** Two states with the same marks at one zxid are the same. */
export interface StateMark {
  readonly digest: string;
  readonly chain: string;
}

/** The state that a member has of the followed ensemble, beside its own data. */
export interface StandbyState extends StateMark {
  readonly zxid: number;
  readonly nodes: number;
  readonly sessions: number;
  readonly ensembleId: string;
  /** Undefined while it is not known. */
  readonly behindMs: number | undefined;
}

/** The answer to `standby`. */
export interface StandbyReport {
  readonly clients: string;
  readonly standby: StandbyState | undefined;
  /** Whether such a state has become this member's own. */
  readonly hasTakenOver: boolean;
  readonly lastError: string | undefined;
}

/** @throws TypeError for an answer without one of the fields */
export function followerReport(fields: JsonObject): FollowerReport {
  const [digest, chain] = [optionalText(fields, "tree_digest"), optionalText(fields, "chain")];
  return {
    state: text(fields, "state"),
    server: optionalText(fields, "server"),
    epoch: number(fields, "epoch"),
    zxid: zxid(fields),
    lagTransactions: number(fields, "lag_transactions"),
    lagMs: number(fields, "lag_ms"),
    digest: text(fields, "digest"),
    digestsCompared: number(fields, "digests_compared"),
    snapshots: number(fields, "snapshots"),
    resyncs: number(fields, "resyncs"),
    lastError: optionalText(fields, "last_error"),
    mark: digest === undefined || chain === undefined ? undefined : { digest, chain },
  };
}

/** @throws TypeError for an answer without one of the fields */
export function standbyReport(fields: JsonObject): StandbyReport {
  const { standby } = fields;
  if (standby !== null && (typeof standby !== "object" || Array.isArray(standby)))
    throw new TypeError("its answer has no field standby");
  return {
    clients: text(fields, "clients"),
    standby: standby === null ? undefined : standbyState(standby as JsonObject),
    hasTakenOver: (fields["taken_over"] ?? null) !== null,
    lastError: optionalText(fields, "last_error"),
  };
}

function standbyState(fields: JsonObject): StandbyState {
  return {
    zxid: zxid(fields),
    digest: text(fields, "digest"),
    chain: text(fields, "chain"),
    nodes: number(fields, "nodes"),
    sessions: number(fields, "sessions"),
    ensembleId: text(fields, "ensemble_id"),
    behindMs: fields["behind_ms"] === null ? undefined : number(fields, "behind_ms"),
  };
}

function text(fields: JsonObject, name: string): string {
  const value = fields[name];
  if (typeof value === "string") return value;
  throw missing(name);
}

function optionalText(fields: JsonObject, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" ? value : undefined;
}

function number(fields: JsonObject, name: string): number {
  const value = fields[name];
  if (typeof value === "number") return value;
  throw missing(name);
}

function zxid(fields: JsonObject): number {
  try {
    return parseZxid(text(fields, "zxid"));
  } catch {
    throw missing("zxid");
  }
}

function missing(name: string): TypeError {
  return new TypeError(`its answer has no field ${name}`);
}
