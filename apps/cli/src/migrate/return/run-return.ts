import { resolve } from "node:path";
import { serverId } from "@zooid/model";
import { usageError } from "../../cli-error.ts";
import { type Invocation, wholeNumber } from "../../command.ts";
import { ExitStatus } from "../../exit-status.ts";
import type { JsonObject } from "../../output.ts";
import { placesIn } from "../admin-places.ts";
import { serversIn } from "../apache-clients.ts";
import { Asking, type Reply, type Yielded } from "./action.ts";
import { ApacheDirectory } from "./apache-directory.ts";
import { Edge, type EdgeOptions, shields } from "./edge.ts";
import { eventLines, nextLines, planLines } from "./event-text.ts";
import type { ExportRecord } from "./facts.ts";
import type { Obstacle } from "./obstacle.ts";
import { type ReopenVerdict, reopen } from "./reopen.ts";
import { Return, type Verdict } from "./return.ts";

const WITHIN_MS = 60_000;
const WITHIN_MS_MAX = 3_600_000;

/** `migrate return`: the clients of a Zooid ensemble go back to Apache ZooKeeper. */
export async function runReturn(invocation: Invocation): Promise<JsonObject> {
  const { flags, output, shell } = invocation;
  if (flags.has("abort")) return await runReopen(invocation);
  const out = flags.value("apache");
  if (out === undefined || out.trim() === "")
    throw usageError("--apache is missing: the directory that gets the export, an empty one or none");
  const withinMs = wholeNumber(flags, "within") ?? WITHIN_MS;
  if (withinMs < 1 || withinMs > WITHIN_MS_MAX)
    throw usageError(`--within takes 1 to ${WITHIN_MS_MAX} ms, found ${withinMs}`);
  const directory = resolve(out);
  const options = edgeOptionsOf(invocation, {
    directory: new ApacheDirectory(directory),
    question: "The ensemble is closed to its clients now: continue?",
  });
  const isPlan = flags.has("plan");
  const machine = new Return({ without: withoutOf(invocation), isConfirmed: flags.has("yes"), isPlan, withinMs });
  const verdict = await drive(machine.run(), new Edge(options), invocation);
  if (isPlan && (verdict.kind === "planned" || verdict.kind === "refused")) {
    const members = options.members.map(({ base }) => base.origin);
    output.lines(planLines({ directory, members, apache: options.apache }));
    output.line("nothing is changed: --plan");
  }
  output.lines(verdictLines(verdict, directory));
  if (verdict.kind === "refused" || verdict.kind === "undone") shell.endsWith(ExitStatus.FAILED);
  return verdictJson(verdict, directory);
}

/** `migrate return --abort`: the ensemble serves its clients again. */
async function runReopen(invocation: Invocation): Promise<JsonObject> {
  const { flags, output, shell } = invocation;
  for (const name of ["apache", "within", "plan", "without"])
    if (flags.has(name)) throw usageError(`--${name} does not go with --abort, which exports nothing`);
  const options = edgeOptionsOf(invocation, {
    directory: undefined,
    question: "No Apache server was started from an export, and the ensemble is opened to its clients: continue?",
  });
  const edge = new Edge(options);
  const verdict = await drive(reopen(new Asking(), { isConfirmed: flags.has("yes") }), edge, invocation);
  output.lines(reopenLines(verdict));
  if (verdict.kind === "not-reopened") shell.endsWith(ExitStatus.FAILED);
  return verdict.kind === "reopened"
    ? { result: "reopened", repeat: verdict.isRepeat }
    : { result: "not-reopened", obstacles: obstaclesJson(verdict.obstacles) };
}

async function drive<T>(
  steps: Generator<Yielded, T, Reply>,
  edge: Edge,
  { output }: Pick<Invocation, "output">,
): Promise<T> {
  let reply: Reply = { answer: { kind: "done", value: undefined }, nowMs: performance.now() };
  let closedAtMs: number | undefined;
  for (;;) {
    const next = steps.next(reply);
    if (next.done === true) return next.value;
    if (shields(next.value)) edge.shield();
    if ("event" in next.value) {
      const { event } = next.value;
      if (event.kind === "step" && event.step === "close") closedAtMs = performance.now();
      const sinceMs = closedAtMs === undefined ? undefined : Math.round(performance.now() - closedAtMs);
      output.lines(eventLines(event, sinceMs));
    } else {
      const answer = await edge.perform(next.value.action);
      reply = { answer, nowMs: performance.now() };
    }
  }
}

function edgeOptionsOf(
  invocation: Invocation,
  { directory, question }: Pick<EdgeOptions, "directory" | "question">,
): EdgeOptions {
  const { flags } = invocation;
  const [members, apache] = [flags.value("members"), flags.value("apache-servers")];
  const missing = [members === undefined ? "--members" : "", apache === undefined ? "--apache-servers" : ""];
  if (members === undefined || apache === undefined)
    throw usageError(
      `${missing.filter((name) => name !== "").join(" and ")} missing: admin ports of the ensemble's servers, and Apache's servers`,
    );
  const auth = flags.value("admin-auth") ?? process.env["ZOOID_ADMIN_AUTH"];
  return {
    members: placesIn("--members", members, auth),
    apache: serversIn("--apache-servers", apache),
    directory,
    question,
    invocation,
  };
}

function withoutOf({ flags }: Pick<Invocation, "flags">): ReadonlySet<number> {
  const text = flags.value("without");
  if (text === undefined) return new Set();
  return new Set(
    text.split(",").map((part) => {
      try {
        return serverId(Number(part.trim() === "" ? Number.NaN : part));
      } catch {
        throw usageError(`--without takes numbers of servers, like 4,5, found ${JSON.stringify(text)}`);
      }
    }),
  );
}

function verdictLines(verdict: Verdict, directory: string): readonly string[] {
  switch (verdict.kind) {
    case "planned":
      return ["the return could begin now"];
    case "exported": {
      const { record, closedForMs, isRepeat } = verdict;
      const first = isRepeat ? "was exported before" : "is exported";
      return [
        `the state ${first} to ${directory}, and the ensemble serves no clients`,
        ...nextLines(directory, record, closedForMs),
      ];
    }
    case "refused":
      return ["not returned, and nothing is changed:", ...textsOf(verdict.obstacles)];
    case "undone":
      return verdict.problems.length === 0
        ? ["not returned: the ensemble serves its clients again"]
        : [
            "not returned, and the way back is not complete:",
            ...textsOf(verdict.problems),
            "zooid-cli migrate return --abort tries it again; the same command continues the return",
          ];
  }
}

function reopenLines(verdict: ReopenVerdict): readonly string[] {
  if (verdict.kind === "not-reopened") return ["not opened:", ...textsOf(verdict.obstacles)];
  return verdict.isRepeat
    ? ["the ensemble serves its clients: nothing is left to do"]
    : [
        "the ensemble serves its clients again; start no Apache server from an export of before, which lacks their writes",
      ];
}

function textsOf(obstacles: readonly Obstacle[]): readonly string[] {
  return obstacles.map(({ text }) => `  ${text}`);
}

function verdictJson(verdict: Verdict, directory: string): JsonObject {
  switch (verdict.kind) {
    case "planned":
      return { result: "planned" };
    case "exported":
      return { result: "exported", repeat: verdict.isRepeat, directory, ...countsJson(verdict.record) };
    case "refused":
      return { result: "refused", obstacles: obstaclesJson(verdict.obstacles) };
    case "undone":
      return {
        result: "undone",
        step: verdict.step,
        obstacles: obstaclesJson(verdict.obstacles),
        problems: obstaclesJson(verdict.problems),
      };
  }
}

function countsJson({ zxid, closedAt, ...counts }: ExportRecord): JsonObject {
  return { zxid: `0x${zxid.toString(16)}`, closedAt: `0x${closedAt.toString(16)}`, ...counts };
}

function obstaclesJson(obstacles: readonly Obstacle[]): readonly JsonObject[] {
  return obstacles.map(({ code, text }) => ({ code, text }));
}
