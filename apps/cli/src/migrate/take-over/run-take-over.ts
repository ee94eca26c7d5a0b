import { adminPatterns } from "../../admin-patterns.ts";
import { usageError } from "../../cli-error.ts";
import { type Invocation, wholeNumber } from "../../command.ts";
import { ExitStatus } from "../../exit-status.ts";
import type { JsonObject } from "../../output.ts";
import { placesIn } from "../admin-places.ts";
import { credentialsOf, serversIn } from "../apache-clients.ts";
import { abort } from "./abort.ts";
import type { Reply, Yielded } from "./action.ts";
import { Asking } from "./asking.ts";
import { Edge, type EdgeOptions, shields } from "./edge.ts";
import { eventLines, planLines } from "./event-text.ts";
import type { Obstacle } from "./obstacle.ts";
import { TakeOver, type Verdict } from "./take-over.ts";

const WITHIN_MS_MAX = 3_600_000;

/**
 * `migrate take-over`: the clients of a followed Apache ensemble become those of a Zooid ensemble.
 */
export async function runTakeOver(invocation: Invocation): Promise<JsonObject> {
  const { flags, output, shell } = invocation;
  const options = edgeOptionsOf(invocation, ["block", "fence", "release"]);
  const withinMs = wholeNumber(flags, "within");
  if (withinMs !== undefined && (withinMs < 1 || withinMs > WITHIN_MS_MAX))
    throw usageError(`--within takes 1 to ${WITHIN_MS_MAX} ms, found ${withinMs}`);
  const isPlan = flags.has("plan");
  const fence = flags.has("reconfig") ? "reconfig" : "stop";
  const machine = new TakeOver({ fence, hasDisks: false, isConfirmed: flags.has("yes"), isPlan, withinMs });
  const verdict = await drive(machine.run(), new Edge(options), invocation);
  if (isPlan && (verdict.kind === "planned" || verdict.kind === "refused")) {
    output.lines(planLines({ addresses: options.addresses, commands: options.commands, fence }));
    output.line("nothing is changed: --plan");
  }
  output.lines(verdictLines(verdict));
  if (verdict.kind === "unknown") shell.endsWith(ExitStatus.CONNECTION);
  else if (verdict.kind === "refused" || verdict.kind === "aborted") shell.endsWith(ExitStatus.FAILED);
  return verdictJson(verdict);
}

/** `migrate abort`: what an interrupted take-over has done is undone. */
export async function runAbort(invocation: Invocation): Promise<JsonObject> {
  const { output, shell } = invocation;
  const edge = new Edge(edgeOptionsOf(invocation, ["release"]));
  edge.shield();
  const problems = await drive(abort(new Asking(), { mayBeOpen: true }), edge, invocation);
  for (const { text } of problems) output.note(text);
  if (problems.length === 0) output.line("Apache serves its clients again");
  else shell.endsWith(ExitStatus.FAILED);
  return { result: problems.length === 0 ? "aborted" : "not-aborted", problems: obstaclesJson(problems) };
}

async function drive<T>(
  steps: Generator<Yielded, T, Reply>,
  edge: Edge,
  { output }: Pick<Invocation, "output">,
): Promise<T> {
  let reply: Reply = { answer: { kind: "done", value: undefined }, nowMs: performance.now() };
  let blockedAtMs: number | undefined;
  for (;;) {
    const next = steps.next(reply);
    if (next.done === true) return next.value;
    if (shields(next.value)) edge.shield();
    if ("event" in next.value) {
      const { event } = next.value;
      if (event.kind === "step" && event.step === "block") blockedAtMs = performance.now();
      const sinceMs = blockedAtMs === undefined ? undefined : Math.round(performance.now() - blockedAtMs);
      output.lines(eventLines(event, sinceMs));
    } else {
      const answer = await edge.perform(next.value.action);
      reply = { answer, nowMs: performance.now() };
    }
  }
}

function edgeOptionsOf(invocation: Invocation, needed: readonly ("block" | "fence" | "release")[]): EdgeOptions {
  const { flags } = invocation;
  const apache = flags.value("apache");
  const missing = ["apache", "follower", "members", ...needed].filter((name) => flags.value(name) === undefined);
  if (apache === undefined || missing.length > 0)
    throw usageError(`${missing.map((name) => `--${name}`).join(", ")} ${missing.length === 1 ? "is" : "are"} missing`);
  const commands = Object.fromEntries(
    needed.map((name) => {
      const text = flags.value(name) ?? "";
      if (text.trim() === "") throw usageError(`--${name} takes a command of the shell, found an empty one`);
      return [name, text];
    }),
  );
  const auth = flags.value("admin-auth") ?? process.env["ZOOID_ADMIN_AUTH"];
  const [follower, ...more] = placesIn("--follower", flags.value("follower") ?? "", auth);
  if (follower === undefined || more.length > 0) throw usageError("--follower takes one admin port");
  return {
    addresses: serversIn("--apache", apache),
    adminPatterns: adminPatterns(invocation),
    credentials: credentialsOf(invocation),
    follower,
    members: placesIn("--members", flags.value("members") ?? "", auth),
    commands,
    invocation,
  };
}

function verdictLines(verdict: Verdict): readonly string[] {
  switch (verdict.kind) {
    case "planned":
      return ["the take-over could begin now"];
    case "taken-over":
      return [
        verdict.isRepeat ? "the clients were taken over before" : "the clients are taken over",
        "keep Apache stopped: its servers must not be started again, and their directories are a copy of the time before",
      ];
    case "refused":
      return ["not taken over, and nothing is changed:", ...textsOf(verdict.obstacles)];
    case "aborted":
      return verdict.problems.length === 0
        ? ["not taken over: Apache serves its clients again"]
        : [
            "not taken over, and the way back is not complete:",
            ...textsOf(verdict.problems),
            "zooid-cli migrate abort tries it again",
          ];
    case "unknown":
      return [
        "the members were asked to open their client ports, and have not said that they have:",
        ...textsOf(verdict.obstacles),
        "do not start Apache; run the same command again when they answer",
      ];
  }
}

function textsOf(obstacles: readonly Obstacle[]): readonly string[] {
  return obstacles.map(({ text }) => `  ${text}`);
}

function verdictJson(verdict: Verdict): JsonObject {
  switch (verdict.kind) {
    case "planned":
      return { result: "planned", situation: verdict.situation };
    case "taken-over":
      return { result: "taken-over", repeat: verdict.isRepeat };
    case "refused":
      return { result: "refused", step: verdict.step, obstacles: obstaclesJson(verdict.obstacles) };
    case "aborted":
      return {
        result: "aborted",
        step: verdict.step,
        obstacles: obstaclesJson(verdict.obstacles),
        problems: obstaclesJson(verdict.problems),
      };
    case "unknown":
      return { result: "unknown", obstacles: obstaclesJson(verdict.obstacles) };
  }
}

function obstaclesJson(obstacles: readonly Obstacle[]): readonly JsonObject[] {
  return obstacles.map(({ code, text }) => ({ code, text }));
}
