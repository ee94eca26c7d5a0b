import { counted, isSameVotes } from "@zooid/model";
import type { FollowStatus } from "../following/follow-status.ts";
import { listText } from "../operators/operator-sentences.ts";
import { type AdminView, isServing } from "./admin-view.ts";
import type { HttpAnswer } from "./http-port.ts";

/** One check, and the reason why it fails. */
export interface Check {
  readonly name: string;
  /** Undefined: the check passes. */
  readonly fault: string | undefined;
  /** A remark on a check that passes. */
  readonly note?: string | undefined;
}

/**
 * Liveness: whether a restart would help. It depends neither on other servers nor on a full disk:
 * otherwise a partition or a full disk would restart a whole ensemble at once. Any answer
 * shows that the event loop runs.
 */
export function liveChecks({ driver }: AdminView): readonly Check[] {
  return [{ name: "running", fault: driver.isHalted ? "the server has failed and is ending" : undefined }];
}

const DRAINED = "the server is drained: clients connect to other servers";

/** Readiness: whether clients should connect here. */
export function readyChecks(view: AdminView): readonly Check[] {
  const followed = view.following();
  return [
    ...liveChecks(view),
    followed === undefined
      ? { name: "serving", fault: view.drain.isOn ? DRAINED : whyNotServing(view), note: closedNote(view) }
      : followCheck(followed),
    {
      name: "storage",
      fault: view.room() === "full" ? "the disk is full, and the log waits for room" : undefined,
      note: view.room() === "low" ? "the disk has little room, and writes that add data may be refused" : undefined,
    },
    ...peerLinks(view),
    ...membership(view),
  ];
}

/**
 * A member that stands by is ready: a load balancer that adds only ready servers would find none
 * for some seconds after the clients are admitted.
 */
function closedNote({ driver }: AdminView): string | undefined {
  if (!driver.replica.zab.members.areClientsClosed) return undefined;
  return "the ports for clients are closed until an operator opens the ensemble to clients";
}

/** Fails while the ensemble is not followed: then the tree here stands still. */
function followCheck({ state, server, lastError, lagTransactions, digest }: FollowStatus): Check {
  const reason = lastError === undefined ? "" : `: ${lastError}`;
  const fault = state === "following" ? undefined : `the Apache ensemble is not followed now (${state})${reason}`;
  const note = `${server ?? "no server"} is followed, ${lagTransactions} transactions behind; digests: ${digest}`;
  return { name: "following", fault, note };
}

/**
 * Startup: whether the data was recovered. It depends on no other server: a member that waits for a
 * quorum has started, and a restart would not help it.
 */
export function startChecks(view: AdminView): readonly Check[] {
  const { driver } = view;
  const loaded = `the data is being recovered: ${counted(driver.replica.tree.nodeCount, "znode")} so far`;
  return [...liveChecks(view), { name: "recovered", fault: view.hasServed() || driver.isServing ? undefined : loaded }];
}

/**
 * Every check for people: those of the probes, damaged files, a backup that is too old, ports that
 * could not move, and certificates that end soon. `exclude` leaves checks out by name.
 */
export function allChecks(view: AdminView, query: URLSearchParams, nowSeconds: number): readonly Check[] {
  const excluded = new Set(query.getAll("exclude"));
  const certificates = view.certificates().map(({ shownTo, notAfter }) => ({
    name: `certificate-for-${shownTo}`,
    fault: expiryFault(notAfter, nowSeconds),
  }));
  const ports = { name: "ports", fault: portFault(view.portProblems()) };
  const backup = view.backup === undefined ? [] : [{ name: "backup", fault: view.backup.fault() }];
  return [...readyChecks(view), { name: "data", fault: view.damage() }, ...backup, ports, ...certificates].filter(
    ({ name }) => !excluded.has(name),
  );
}

/** A certificate that ends sooner is reported. */
const CERTIFICATE_DAYS = 14;
const DAY_SECONDS = 86_400;

/** Why a certificate needs attention; undefined if its end is far or not known. */
export function expiryFault(notAfter: number | undefined, nowSeconds: number): string | undefined {
  if (notAfter === undefined) return undefined;
  const days = Math.floor((notAfter - nowSeconds) / DAY_SECONDS);
  if (days >= CERTIFICATE_DAYS) return undefined;
  const date = new Date(notAfter * 1000).toISOString().slice(0, 10);
  return days < 0 ? `it ended on ${date}` : `it ends on ${date}, in ${counted(days, "day")}`;
}

/** @param problems of ports that could not move; undefined where there are none */
export function portFault(problems: readonly string[]): string | undefined {
  return problems.length === 0 ? undefined : problems.join("; ");
}

/** `ok`, or which checks fail; with `verbose`, all of them. */
export function shortAnswer(name: string, checks: readonly Check[], isVerbose: boolean): HttpAnswer {
  const isWell = checks.every(({ fault }) => fault === undefined);
  if (!isWell || isVerbose) return healthAnswer(name, checks);
  return { status: 200, type: "text/plain; charset=utf-8", body: "ok\n" };
}

/** All checks, one line each, in the format of Kubernetes' own servers. */
export function healthAnswer(name: string, checks: readonly Check[]): HttpAnswer {
  const isWell = checks.every(({ fault }) => fault === undefined);
  const lines = checks.map((check) =>
    check.fault === undefined
      ? `[+]${check.name} ok${check.note === undefined ? "" : `: ${check.note}`}`
      : `[-]${check.name} failed: ${check.fault}`,
  );
  const body = [...lines, `${name} check ${isWell ? "passed" : "failed"}`, ""].join("\n");
  return { status: isWell ? 200 : 503, type: "text/plain; charset=utf-8", body };
}

/** Never fails: whether links have to be protected is an operator's decision. */
function peerLinks(view: AdminView): readonly Check[] {
  const counts = view.linkCounts();
  if (counts === undefined) return [];
  const { all, tls, proof } = counts;
  return [{ name: "peer-links", fault: undefined, note: `${all}, ${tls} with TLS, ${proof} with proof of a secret` }];
}

/**
 * Never fails: a server that no list has, or that has another one in its file, serves clients as
 * well.
 */
function membership({ config, driver }: AdminView): readonly Check[] {
  const { ensemble } = config;
  const { members } = driver.replica.zab;
  const { committed } = members;
  if (ensemble === undefined || committed === undefined || !members.isAgreed) return [];
  const isListed = committed.servers.some(({ sid }) => sid === ensemble.sid);
  const { files, isChangeable } = ensemble.directory;
  const notes = [
    ...(isListed ? [] : ["this server is unlisted, and follows without a vote"]),
    ...(isChangeable || isSameVotes(committed, { servers: files })
      ? []
      : [`the file of this server lists ${listText({ servers: files })}, which is not in force`]),
  ];
  const inForce = `the list in force is ${listText(committed)}`;
  return [{ name: "members", fault: undefined, note: [inForce, ...notes].join("; ") }];
}

function whyNotServing(view: AdminView): string | undefined {
  if (isServing(view)) return undefined;
  const { driver, config } = view;
  if (!driver.isServing) {
    const wait = view.startWaitsFor();
    return `the server is starting or stopping${wait === undefined ? "" : `: ${wait}`}`;
  }
  const { state, phase } = driver.replica.zab;
  if (config.ensemble === undefined || state === "looking")
    return `no leader is known: ${view.reachability()?.summary ?? "an election is under way"}${view.quorumNote()}`;
  const reached = state === "leading" ? `: ${view.reachability()?.summary ?? "no other server is known"}` : "";
  const fault = view.dialFault();
  const why = fault === undefined ? phase : `${phase}; ${fault}`;
  return `the server is ${state}, and not synchronized yet (${why})${reached}${view.quorumNote()}`;
}
