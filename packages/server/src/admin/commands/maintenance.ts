import type { SessionId } from "@zooid/model";
import { isLogLevel, LOG_LEVELS } from "../../operators/log-level.ts";
import type { AdminView } from "../admin-view.ts";
import { requesterIdentities } from "../authorise.ts";
import { JsonItems } from "../java-json.ts";
import { audited, type CommandRequest, Failure, type Fields, leaderText, type Outcome } from "./command.ts";

/** Over how long a drain closes connections. */
const DRAIN_MS = 10_000;

const DRAIN_MS_MAX = 3_600_000;

const WHOLE = /^\d{1,9}$/;

export function drain(view: AdminView, { query }: CommandRequest): Outcome {
  const text = query.get("durationMs") ?? `${DRAIN_MS}`;
  if (!WHOLE.test(text) || Number(text) > DRAIN_MS_MAX) {
    return new Failure(`durationMs is a number of milliseconds from 0 to ${DRAIN_MS_MAX}, not ${text}`, 400);
  }
  view.drain.begin(Number(text));
  return drainStatus(view);
}

export function undrain(view: AdminView): Fields {
  view.drain.end();
  return drainStatus(view);
}

export function drainStatus({ drain }: AdminView): Fields {
  const { isDraining, connections, isLeading } = drain.progress();
  return { is_draining: isDraining, num_alive_connections: connections, is_leader: isLeading };
}

const SESSION_ID = /^0x[0-9a-f]{1,16}$/i;

/**
 * Ends a session as its expiry would: its ephemeral nodes are deleted, and its client is
 * disconnected.
 */
export function endSession(view: AdminView, request: CommandRequest): Outcome {
  const text = request.query.get("id") ?? "";
  if (!SESSION_ID.test(text)) return new Failure(`id is a session as 0x1000abc, not ${JSON.stringify(text)}`, 400);
  const id = BigInt.asIntN(64, BigInt(text)) as SessionId;
  const identities = requesterIdentities(view, request);
  const ending = view.endSession(id, { identities, address: request.address });
  switch (ending) {
    case "ended":
    case "ending":
      return { session_id: text, is_ended: ending === "ended" };
    case "unknown":
      return new Failure(`there is no session ${text}`, 404);
    case "not-leading":
      return new Failure(
        `the leader ends sessions, and this server does not lead${leaderText(view.driver.replica.zab.leader)}`,
        409,
      );
  }
}

const NO_CONFIGURATION = new Failure("this server is part of another program, which has its configuration", 409);

const NO_LOG_LEVEL = new Failure("the log of this server has no level that can be changed here", 409);

export function logLevel(view: AdminView): Outcome {
  return { log_level: view.logLevel() ?? null };
}

export function setLogLevel(view: AdminView, request: CommandRequest): Outcome {
  const before = view.logLevel();
  if (before === undefined) return NO_LOG_LEVEL;
  const level = request.query.get("level") ?? "";
  if (!isLogLevel(level)) {
    return new Failure(`level is one of ${LOG_LEVELS.join(", ")}, not ${JSON.stringify(level)}`, 400);
  }
  view.setLogLevel(level, { identities: requesterIdentities(view, request), address: request.address });
  return { log_level: level, log_level_before: before };
}

/**
 * Reads the configuration again, as SIGHUP does. Where it has mistakes nothing changes, and the
 * answer names them.
 */
export function reload(view: AdminView, request: CommandRequest): Outcome {
  if (view.reload === undefined) return NO_CONFIGURATION;
  const text = request.query.get("dryRun") ?? "false";
  if (text !== "true" && text !== "false") {
    return new Failure(`dryRun is true or false, not ${JSON.stringify(text)}`, 400);
  }
  const isDryRun = text === "true";
  const { problems, changed, notApplied, warnings } = view.reload(isDryRun, request.address);
  const isRefused = problems.length > 0;
  if (!isDryRun) audited(view, request, "reload", isRefused ? undefined : changed);
  return {
    is_reloaded: !isDryRun && !isRefused,
    is_dry_run: isDryRun,
    problems: new JsonItems(problems),
    changed: new JsonItems(changed),
    not_applied: new JsonItems(notApplied),
    warnings: new JsonItems(warnings),
  };
}

const LONG = /^[+-]?\d{1,19}$/;

export function setTraceMask({ traceMask }: AdminView, { query }: CommandRequest): Fields | Failure {
  const text = query.get("traceMask");
  if (text === null) return new Failure("setTraceMask requires long traceMask argument");
  if (!LONG.test(text) || BigInt(text) !== BigInt.asIntN(64, BigInt(text))) {
    return new Failure(`setTraceMask requires long traceMask argument, got ${text}`);
  }
  traceMask.value = BigInt(text);
  return { tracemask: traceMask.value };
}
