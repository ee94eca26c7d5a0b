import type { Zxid } from "@zooid/model";
import type { ExportRecord } from "./facts.ts";

/** The steps, in order. */
export const STEPS = ["look", "close", "prove", "export", "keep"] as const;
export type Step = (typeof STEPS)[number];

/** The state in which a return finds the world. */
export type Situation = "begin" | "closed" | "exported";

/** Something that an operator sees. */
export type Event =
  | { readonly kind: "found"; readonly situation: Situation }
  | { readonly kind: "step"; readonly step: Step }
  /** The facts that a step has seen. */
  | { readonly kind: "seen"; readonly seen: Seen }
  /** A fact that keeps nothing from going on. */
  | { readonly kind: "remark"; readonly text: string }
  /** The reason why a step asks again; each once. */
  | { readonly kind: "waits"; readonly step: Step; readonly reasons: readonly string[] }
  | { readonly kind: "undoing"; readonly step: Step; readonly reasons: readonly string[] }
  /** An act of the way back that has succeeded. */
  | { readonly kind: "undone"; readonly what: Undone };

export type Undone = "dropped" | "opened";

export type Seen =
  | {
      readonly kind: "ready";
      readonly memberCount: number;
      readonly sessions: number;
      readonly keptSessions: number;
      readonly withinMs: number;
    }
  | { readonly kind: "closed"; readonly closedAt: Zxid }
  | { readonly kind: "proved"; readonly memberCount: number; readonly zxid: Zxid; readonly epoch: number }
  | { readonly kind: "exported"; readonly record: ExportRecord }
  | { readonly kind: "kept" };
