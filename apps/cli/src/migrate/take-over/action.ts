import type { Zxid } from "@zooid/model";
import type { ActionOf, AnswerOf, ReplyOf, YieldedOf } from "../acts.ts";
import type { Event } from "./event.ts";
import type {
  ApacheServer,
  CommandResult,
  ConnectedClients,
  DiskFacts,
  FollowedEnd,
  FollowerFacts,
  HistoryPlace,
  MemberFacts,
  ServerPorts,
  SyncFacts,
} from "./facts.ts";

export type OperatorCommand = "block" | "fence" | "release";

/** The acts of a take-over, by kind, with their answers. None answers later than it is given. */
export interface Acts {
  readonly "look-apache": { readonly ask: object; readonly answer: readonly ApacheServer[] };
  readonly "look-follower": { readonly ask: object; readonly answer: FollowerFacts };
  readonly "look-members": { readonly ask: object; readonly answer: readonly MemberFacts[] };
  readonly "look-clients": { readonly ask: object; readonly answer: readonly ConnectedClients[] };
  readonly "look-ports": { readonly ask: object; readonly answer: readonly ServerPorts[] };
  /** The disks of Apache's voters. */
  readonly "look-disks": { readonly ask: object; readonly answer: DiskFacts };
  /** The shortest timeout of Apache's sessions; undefined where there is none. */
  readonly "look-sessions": { readonly ask: object; readonly answer: number | undefined };
  /** Copies what is followed to where the members read it. */
  readonly archive: { readonly ask: object; readonly answer: HistoryPlace };
  readonly confirm: { readonly ask: object; readonly answer: boolean };
  readonly wait: { readonly ask: { readonly ms: number }; readonly answer: undefined };
  /** Runs a command of the operator for each of these servers, at once. */
  readonly run: {
    readonly ask: { readonly command: OperatorCommand; readonly addresses: readonly string[] };
    readonly answer: readonly CommandResult[];
  };
  readonly touch: { readonly ask: object; readonly answer: undefined };
  readonly sync: { readonly ask: object; readonly answer: SyncFacts };
  /** Leaves one voter. @returns the session that has asked for it */
  readonly "reconfig-alone": {
    readonly ask: { readonly sid: number; readonly address: string };
    readonly answer: string;
  };
  /** Has servers back that were removed, by their lines. */
  readonly "reconfig-back": { readonly ask: { readonly lines: readonly string[] }; readonly answer: undefined };
  readonly finish: { readonly ask: { readonly zxid: Zxid }; readonly answer: FollowedEnd };
  readonly resume: { readonly ask: object; readonly answer: undefined };
  readonly "take-over": {
    readonly ask: { readonly zxid: Zxid; readonly digest: string; readonly epoch: number };
    /** The digest of what was installed, and the numbers of members without it. */
    readonly answer: { readonly digest: string; readonly missing: readonly number[] };
  };
  readonly open: { readonly ask: object; readonly answer: undefined };
  readonly drop: { readonly ask: object; readonly answer: undefined };
}

export type ActKind = keyof Acts;

export type Action = ActionOf<Acts>;
export type Answer<K extends ActKind> = AnswerOf<Acts, K>;
export type Reply = ReplyOf<Acts>;
export type Yielded = YieldedOf<Acts, Event>;
