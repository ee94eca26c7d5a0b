import { type AdminView, isServing } from "./admin-view.ts";
import type { HttpAnswer } from "./http-port.ts";

/** One thing that must be so, and why it is not. */
export interface Check {
  readonly name: string;
  /** Undefined: it is so. */
  readonly fault: string | undefined;
}

/**
 * Whether a restart would help. It asks nothing of other servers, nor whether the disk is full: else a partition or a full disk
 * would restart a whole ensemble at once. That there is an answer at all shows that the loop turns.
 */
export function liveChecks({ driver }: AdminView): readonly Check[] {
  return [{ name: "running", fault: driver.isHalted ? "the server has failed and is ending" : undefined }];
}

/** Whether clients should be sent here. */
export function readyChecks(view: AdminView): readonly Check[] {
  return [
    ...liveChecks(view),
    { name: "serving", fault: whyNotServing(view) },
    { name: "storage", fault: view.isStorageFull() ? "the disk is full" : undefined },
  ];
}

/** All checks, a line each, as Kubernetes' own servers print them. */
export function healthAnswer(name: string, checks: readonly Check[]): HttpAnswer {
  const isWell = checks.every(({ fault }) => fault === undefined);
  const lines = checks.map((check) =>
    check.fault === undefined ? `[+]${check.name} ok` : `[-]${check.name} failed: ${check.fault}`,
  );
  const body = [...lines, `${name} check ${isWell ? "passed" : "failed"}`, ""].join("\n");
  return { status: isWell ? 200 : 503, type: "text/plain; charset=utf-8", body };
}

function whyNotServing(view: AdminView): string | undefined {
  if (isServing(view)) return undefined;
  const { driver, config } = view;
  if (!driver.isServing) return "the server is starting or stopping";
  const { state, phase } = driver.replica.zab;
  if (config.ensemble === undefined || state === "looking")
    return `no leader is known: ${view.reachability()?.summary ?? "an election is under way"}`;
  return `the server is ${state}, and not level yet (${phase})`;
}
