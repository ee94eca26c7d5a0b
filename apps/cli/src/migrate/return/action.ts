import type { Zxid } from "@zooid/model";
import type { ActionOf, AnswerOf, ReplyOf, YieldedOf } from "../acts.ts";
import { ActAsking } from "../acts.ts";
import type { Event } from "./event.ts";
import type { ApachePort, DirectoryFacts, ExportRecord, MemberFacts } from "./facts.ts";

/** The acts of a return, by kind, with their answers. None answers later than it is given. */
export interface Acts {
  readonly "look-members": { readonly ask: object; readonly answer: readonly MemberFacts[] };
  /** Ports for clients of Apache's servers. */
  readonly "look-apache": { readonly ask: object; readonly answer: readonly ApachePort[] };
  /** The directory that gets the export. */
  readonly "look-directory": { readonly ask: object; readonly answer: DirectoryFacts };
  readonly confirm: { readonly ask: object; readonly answer: boolean };
  readonly wait: { readonly ask: { readonly ms: number }; readonly answer: undefined };
  /** The leader closes the ensemble to clients. */
  readonly close: { readonly ask: object; readonly answer: undefined };
  /** Writes the leader's state beside its place, and reads it back. */
  readonly export: {
    readonly ask: { readonly epoch: number; readonly closedAt: Zxid };
    readonly answer: ExportRecord;
  };
  /** Puts the export in its place, in one step. */
  readonly keep: { readonly ask: object; readonly answer: undefined };
  /** Removes the export of this process, wherever it is. */
  readonly drop: { readonly ask: object; readonly answer: undefined };
  /** The leader opens the ensemble to clients. */
  readonly open: { readonly ask: object; readonly answer: undefined };
}

export type ActKind = keyof Acts;
export type Action = ActionOf<Acts>;
export type Answer<K extends ActKind> = AnswerOf<Acts, K>;
export type Reply = ReplyOf<Acts>;
export type Yielded = YieldedOf<Acts, Event>;

/** Yields the acts of a return. */
export class Asking extends ActAsking<Acts, Event> {}
