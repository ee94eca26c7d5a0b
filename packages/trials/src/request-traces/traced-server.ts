/**
 * A server in a process of its own, whose calls are counted on request. Its parent sends `begin`
 * and `end`, and gets the calls in between.
 */
import { Session } from "node:inspector/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Role, type StartOptions, startServer } from "@zooid/embedded-server";
import { type CallCount, callCountsOf } from "./call-counts.ts";

export type TraceQuestion = "begin" | "end";

export type TraceAnswer =
  | { readonly kind: "serves"; readonly port: number; readonly role: Role }
  | { readonly kind: "begun" }
  | { readonly kind: "calls"; readonly calls: readonly CallCount[] };

/** Polls after the last question until an interval ends: a turn that is open has ended then. */
const POLLS_AFTER = 20;

const options = JSON.parse(process.argv[2] ?? "{}") as StartOptions;
const profiler = new Session();
profiler.connect();
await profiler.post("Profiler.enable");
await profiler.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

const server = await startServer(options);
server.role$.subscribe((role) => {
  if (role !== "looking") answer({ kind: "serves", port: server.port, role });
});

process.on("message", (question: TraceQuestion) => void take(question));
process.on("disconnect", () => process.exit());

async function take(question: TraceQuestion): Promise<void> {
  for (let i = 0; i < POLLS_AFTER; i++) await nextTurn();
  // Counts begin again at 0 with each answer.
  const coverage = await profiler.post("Profiler.takePreciseCoverage");
  if (question === "begin") answer({ kind: "begun" });
  else answer({ kind: "calls", calls: [...callCountsOf(coverage).values()] });
}

function answer(message: TraceAnswer): void {
  process.send?.(message);
}
