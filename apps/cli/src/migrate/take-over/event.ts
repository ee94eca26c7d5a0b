import type { Zxid } from "@zooid/model";
import type { HistoryPlace } from "./facts.ts";

/** The steps, in order. */
export const STEPS = ["level", "block", "prove", "fence", "verify", "install", "open"] as const;
export type Step = (typeof STEPS)[number];

/** The state in which a take-over finds the world. */
export type Situation = "begin" | "finished" | "installed" | "open";

/** Something that an operator sees. */
export type Event =
  | { readonly kind: "found"; readonly situation: Situation }
  | { readonly kind: "step"; readonly step: Step }
  /** The facts that a step has seen. */
  | { readonly kind: "seen"; readonly seen: Seen }
  /** The reason why a step asks again; each once. */
  | { readonly kind: "waits"; readonly step: Step; readonly reasons: readonly string[] }
  | { readonly kind: "aborting"; readonly step: Step; readonly reasons: readonly string[] }
  /** An act of the way back that has succeeded. */
  | { readonly kind: "undone"; readonly what: Undone };

export type Undone = "dropped" | "released" | "voters-back" | "followed-again";

export type Seen =
  | {
      readonly kind: "level";
      readonly place: HistoryPlace;
      readonly memberCount: number;
      readonly shortestMs: number | undefined;
      readonly withinMs: number;
    }
  | { readonly kind: "blocked"; readonly serverCount: number }
  | { readonly kind: "proved"; readonly zxid: Zxid; readonly serverCount: number }
  | { readonly kind: "alone"; readonly sid: number; readonly zxid: Zxid }
  | { readonly kind: "fenced"; readonly faults: readonly string[]; readonly serverCount: number }
  | {
      readonly kind: "verified";
      readonly place: HistoryPlace;
      readonly unverified: readonly string[];
      readonly diskCount: number | undefined;
    }
  | { readonly kind: "installed"; readonly epoch: number; readonly zxid: Zxid }
  | { readonly kind: "opened"; readonly sinceBlockMs: number | undefined };
