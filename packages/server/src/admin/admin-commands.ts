import { setTimeout as delay } from "node:timers/promises";
import { type AdminView, isServing, NOT_SERVING, resetConnections, resetServer } from "./admin-view.ts";
import { denial } from "./authorise.ts";
import { auditTail, BadParameter, sessionClients } from "./client-reports.ts";
import { openClients } from "./commands/clients.ts";
import {
  type Command,
  type CommandAnswer,
  type CommandRequest,
  Failure,
  type Fields,
  notYet,
  type Outcome,
  Snapshot,
} from "./commands/command.ts";
import { leader, observers, transferLeadership, votingView, zabState } from "./commands/ensemble.ts";
import {
  ACTS_ON_OWN_DATA,
  FOLLOWS,
  followArchive,
  followFinish,
  followResume,
  followSessions,
  followStatus,
  followSync,
  followTouch,
} from "./commands/follow.ts";
import {
  drain,
  drainStatus,
  endSession,
  logLevel,
  reload,
  setLogLevel,
  setTraceMask,
  undrain,
} from "./commands/maintenance.ts";
import { purgeFields } from "./commands/purge-fields.ts";
import { restoreFields } from "./commands/restore-fields.ts";
import { closeClients, exportApache, returnStatus } from "./commands/return.ts";
import { backupNow, backupStatus, purgeHistory, restore, restoreState, snapshot } from "./commands/states.ts";
import {
  briefConnection,
  configuration,
  connections,
  directories,
  dump,
  fullConnection,
  hash,
  lastSnapshot,
  monitor,
  serverStats,
} from "./commands/statistics.ts";
import { dropStandby, standby, takeOver } from "./commands/take-over.ts";
import { finalizeUpgrade, upgradeStatus } from "./commands/upgrade.ts";
import { watches, watchesByPath, watchSummary } from "./commands/watches.ts";
import { environment, systemProperties } from "./environment.ts";
import { type Json, JsonFields, JsonItems, javaJsonPieces } from "./java-json.ts";
import { redacted } from "./redacted.ts";

const COMMANDS: readonly Command[] = [
  { names: ["audit_tail"], isOwn: true, needsAuth: true, run: (view, { query }) => checked(auditTail(view, query)) },
  { names: ["backup_now"], isOwn: true, method: "POST", needsAuth: true, run: backupNow },
  { names: ["backup_status"], isOwn: true, isAlways: true, needsAuth: true, run: backupStatus },
  { names: ["close_clients"], isOwn: true, method: "POST", needsAuth: true, run: closeClients },
  { names: ["configuration", "conf", "config"], run: configuration },
  { names: ["connection_stat_reset", "crst"], run: (view) => after(() => resetConnections(view)) },
  { names: ["connections", "cons"], run: (view) => connections(view, fullConnection) },
  { names: ["dirs"], run: directories },
  { names: ["drain"], isOwn: true, method: "POST", needsAuth: true, run: drain },
  { names: ["drain_status"], isOwn: true, isAlways: true, run: (view) => drainStatus(view) },
  { names: ["dump"], run: dump },
  { names: ["drop_standby"], isOwn: true, method: "POST", needsAuth: true, run: dropStandby },
  { names: ["end_session"], isOwn: true, method: "POST", needsAuth: true, run: endSession },
  { names: ["environment", "env", "envi"], isAlways: true, run: (view) => Object.fromEntries(environment(view)) },
  { names: ["export_apache"], isOwn: true, needsAuth: true, run: exportApache },
  { names: ["finalize_upgrade"], isOwn: true, method: "POST", needsAuth: true, run: finalizeUpgrade },
  { names: ["follow_archive"], isOwn: true, method: "POST", needsAuth: true, run: followArchive },
  { names: ["follow_finish"], isOwn: true, method: "POST", needsAuth: true, run: followFinish },
  { names: ["follow_resume"], isOwn: true, method: "POST", needsAuth: true, run: followResume },
  { names: ["follow_sessions"], isOwn: true, run: followSessions },
  { names: ["follow_status"], isOwn: true, isAlways: true, run: followStatus },
  { names: ["follow_sync"], isOwn: true, method: "POST", needsAuth: true, run: followSync },
  { names: ["follow_touch"], isOwn: true, method: "POST", needsAuth: true, run: followTouch },
  { names: ["get_trace_mask", "gtmk"], isAlways: true, run: ({ traceMask }) => ({ tracemask: traceMask.value }) },
  { names: ["hash"], run: hash },
  {
    names: ["initial_configuration", "icfg"],
    run: ({ initialConfiguration }) => ({ initial_configuration: redacted(initialConfiguration) }),
  },
  { names: ["is_read_only", "isro"], run: ({ driver }) => ({ read_only: driver.replica.isReadOnly }) },
  { names: ["last_snapshot", "lsnp"], run: lastSnapshot },
  { names: ["leader", "lead"], run: leader },
  { names: ["log_level"], isOwn: true, isAlways: true, run: logLevel },
  {
    names: ["log_tail"],
    isOwn: true,
    isAlways: true,
    needsAuth: true,
    run: (view) => ({ lines: new JsonItems(view.recentLines()) }),
  },
  { names: ["monitor", "mntr"], isAlways: true, run: monitor },
  { names: ["observer_connection_stat_reset", "orst"], run: () => ({}) },
  { names: ["observers", "obsr"], run: observers },
  { names: ["open_clients"], isOwn: true, method: "POST", needsAuth: true, run: openClients },
  { names: ["purge_history"], isOwn: true, method: "POST", needsAuth: true, run: purgeHistory },
  {
    names: ["purge_status"],
    isOwn: true,
    isAlways: true,
    needsAuth: true,
    run: ({ purges }) => purgeFields(purges.status),
  },
  { names: ["reload"], isOwn: true, method: "POST", needsAuth: true, isAlways: true, run: reload },
  { names: ["restore", "rest"], method: "POST", needsAuth: true, run: restore },
  { names: ["restore_state"], isOwn: true, method: "POST", needsAuth: true, run: restoreState },
  {
    names: ["restore_state_status"],
    isOwn: true,
    isAlways: true,
    needsAuth: true,
    run: ({ runningRestore }) => restoreFields(runningRestore.status),
  },
  { names: ["return_status"], isOwn: true, isAlways: true, run: returnStatus },
  { names: ["ruok"], run: () => ({}) },
  { names: ["server_stats", "srvr"], run: serverStats },
  { names: ["session_clients"], isOwn: true, needsAuth: true, run: sessionClients },
  { names: ["set_log_level"], isOwn: true, method: "POST", needsAuth: true, isAlways: true, run: setLogLevel },
  { names: ["set_trace_mask", "stmk"], isAlways: true, run: setTraceMask },
  { names: ["snapshot", "snap"], needsAuth: true, run: snapshot },
  { names: ["standby"], isOwn: true, isAlways: true, run: standby },
  { names: ["stat_reset", "srst"], run: (view) => after(() => resetServer(view)) },
  { names: ["stats", "stat"], run: (view) => ({ ...serverStats(view), ...connections(view, briefConnection) }) },
  { names: ["system_properties", "sysp"], isAlways: true, run: (view) => systemProperties(view) },
  { names: ["take_over"], isOwn: true, method: "POST", needsAuth: true, run: takeOver },
  { names: ["transfer_leadership"], isOwn: true, method: "POST", needsAuth: true, run: transferLeadership },
  { names: ["undrain"], isOwn: true, method: "POST", needsAuth: true, isAlways: true, run: undrain },
  { names: ["upgrade_status"], isOwn: true, run: upgradeStatus },
  { names: ["voting_view"], run: votingView },
  { names: ["watch_summary", "wchs"], run: watchSummary },
  { names: ["watches", "wchc"], run: watches },
  { names: ["watches_by_path", "wchp"], run: watchesByPath },
  { names: ["zabstate"], isAlways: true, run: zabState },
];

const BY_NAME: ReadonlyMap<string, Command> = new Map(
  COMMANDS.flatMap((command) => command.names.map((name) => [name, command] as const)),
);

/** Apache's commands by their primary name, in its order. */
export const COMMAND_NAMES: readonly string[] = COMMANDS.filter(({ isOwn }) => isOwn !== true).map(
  ({ names }) => names[0] ?? "",
);

/** Every name that a request may have, aliases too. */
export const ALL_COMMAND_NAMES: readonly string[] = [...BY_NAME.keys()];

/** Runs a command. Errors are answers too, mostly with status 200: scripts read their text. */
export async function runCommand(view: AdminView, request: CommandRequest): Promise<CommandAnswer> {
  const { name } = request;
  const command = BY_NAME.get(name);
  const asked = { view, address: request.address };
  if (command === undefined) return answer(name, new Failure(`Unknown command: ${name}`), asked);
  const primary = command.names[0] ?? name;
  const method = command.method ?? "GET";
  if (view.following() !== undefined && ACTS_ON_OWN_DATA.has(primary))
    return answer(primary, new Failure(FOLLOWS, 409), asked);
  if (command.isAlways !== true && !isServing(view)) {
    return answer(name, command.isOwn === true ? notYet(NOT_SERVING) : new Failure(NOT_SERVING), asked);
  }
  if (method !== request.method) {
    return { ...answer(primary, new Failure(`${primary} requires ${method}`, 405), asked), allow: method };
  }
  const denied = command.needsAuth === true ? denial(view, request) : undefined;
  if (denied !== undefined) {
    // Passwords could be guessed here as well as at the client port.
    const delayMs = request.authorization === undefined ? 0 : view.driver.failureDelayMs(request.address);
    if (delayMs > 0) await delay(delayMs, undefined, { ref: false });
    return answer(name, new Failure(denied.error, denied.status), asked);
  }
  return answer(primary, await command.run(view, request), asked);
}

/** Commands whose answers grow with the state: they are made in slices. */
const GROWING: ReadonlySet<string> = new Set([
  "audit_tail",
  "connections",
  "dump",
  "session_clients",
  "stats",
  "watches",
  "watches_by_path",
]);

function answer(
  command: string,
  found: Outcome,
  { view, address }: { readonly view: AdminView; readonly address: string },
): CommandAnswer {
  if (found instanceof Snapshot) {
    const { headers, stream } = found;
    return { status: 200, headers, body: stream ?? { command, error: null } };
  }
  if (found instanceof Failure) {
    const { status, error, headers } = found;
    return { status, headers, body: { command, error } };
  }
  const body = new JsonFields(fieldsOf(found, command));
  return { status: 200, body: GROWING.has(command) ? view.slices.answer(address, javaJsonPieces(body)) : body };
}

function* fieldsOf(
  found: Fields | JsonFields,
  command: string,
): Generator<readonly [string, Json] | undefined, void, undefined> {
  yield* found instanceof JsonFields ? found.fields : Object.entries(found);
  yield ["command", command];
  yield ["error", null];
}

function checked(found: JsonFields | BadParameter): JsonFields | Failure {
  return found instanceof BadParameter ? new Failure(found.error, 400) : found;
}

/** The answer of a command that only acts: it has no fields. */
function after(act: () => void): Fields {
  act();
  return {};
}
