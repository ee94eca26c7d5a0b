import { type AdminView, isServing } from "./admin-view.ts";
import type { HttpAnswer } from "./http-port.ts";

/** One check, and the reason why it fails. */
export interface Check {
  readonly name: string;
  /** Undefined: the check passes. */
  readonly fault: string | undefined;
}

/**
 * Liveness: whether a restart would help. It depends neither on other servers nor on a full disk:
 * otherwise a partition or a full disk would restart a whole ensemble at once. An answer at all
 * shows that the event loop runs.
 */
export function liveChecks({ driver }: AdminView): readonly Check[] {
  return [{ name: "running", fault: driver.isHalted ? "the server has failed and is ending" : undefined }];
}

/** Readiness: whether clients should connect here. */
export function readyChecks(view: AdminView): readonly Check[] {
  return [
    ...liveChecks(view),
    { name: "serving", fault: whyNotServing(view) },
    { name: "storage", fault: view.isStorageFull() ? "the disk is full" : undefined },
  ];
}

/** All checks, one line each, in the format of Kubernetes' own servers. */
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
  return `the server is ${state}, and not synchronized yet (${phase})`;
}
