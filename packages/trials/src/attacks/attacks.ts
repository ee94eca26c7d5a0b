/**
 * Carries out known attacks on a server's ports, and reports what another client of the same server
 * sees meanwhile.
 *
 *     npm run tool -- attacks [--attack NAME] [--list] [--keep]
 *
 * Each attack goes to a fresh server or ensemble. It is withstood when no process ends, the other
 * client's pings stay below 20 ms (p99) and 100 ms (maximum), none of its writes is refused, and
 * the server starts again on what the attack left. The outcome names what is beyond the bounds of
 * docs/hostile-input.md over the control, `none` or `none-ensemble`, which is carried out first: 5
 * ms for a ping, 60 ms for a set and a new session. Set ZOOID_SERVER to attack another build. The
 * figures count on a machine that is otherwise idle; those of an ensemble have three servers on its
 * cores.
 *
 * On a busy machine --cpu helps: it prints for each figure how long the server's main thread was at
 * work meanwhile, of the server that worked longest.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { getPriority, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { eachOf, toolOptions } from "@zooid/conformance/internal/tool-options";
import { type Attack, prepared } from "./attack.ts";
import { FLOOD_ATTACKS } from "./floods.ts";
import { HANDSHAKE_ATTACKS } from "./handshakes.ts";
import { IDENTITY_ATTACKS } from "./identities.ts";
import { KERBEROS_ATTACKS } from "./kerberos.ts";
import { NAME_ATTACKS } from "./names.ts";
import { OPERATOR_PORT_ATTACKS } from "./operator-ports.ts";
import { PARSER_ATTACKS } from "./parsers.ts";
import { QUOTA_ATTACKS } from "./quotas.ts";
import { READ_ATTACKS } from "./reads.ts";
import { SESSION_ATTACKS } from "./sessions.ts";
import { STRANGER_ATTACKS } from "./strangers.ts";
import { startTarget } from "./target.ts";
import { Victim, type VictimReport } from "./victim.ts";
import { WATCH_ATTACKS } from "./watches.ts";
import { WRITE_ATTACKS } from "./writes.ts";

const OWN_PRIORITY = getPriority();
const ATTACK_PRIORITY = 10;
const PING_MS_P99 = 20;
const PING_MS_MAX = 100;
/** The time that an attack may add to the control's p99. */
const PING_MS_OVER = 5;
const WRITE_MS_OVER = 60;
/** The time in which work that an attack leaves, such as the end of a session, is measured too. */
const AFTERWARDS_MS = 2000;

const ATTACKS: readonly Attack[] = [
  // What the machine itself adds to a ping.
  { name: "none", sends: "nothing for 3 s", prepare: async () => () => delay(3000, "") },
  {
    name: "none-ensemble",
    sends: "nothing for 3 s, to an ensemble",
    target: "ensemble",
    prepare: async () => () => delay(3000, ""),
  },
  ...NAME_ATTACKS,
  ...SESSION_ATTACKS,
  ...IDENTITY_ATTACKS,
  ...OPERATOR_PORT_ATTACKS,
  ...PARSER_ATTACKS,
  ...QUOTA_ATTACKS,
  ...READ_ATTACKS,
  ...WATCH_ATTACKS,
  ...WRITE_ATTACKS,
  ...STRANGER_ATTACKS,
  ...HANDSHAKE_ATTACKS,
  ...KERBEROS_ATTACKS,
  ...FLOOD_ATTACKS,
];

interface Figures {
  /** 99th percentile of pings; below, of writes and of new sessions. */
  readonly p99Ms: number;
  readonly writeP99Ms: number;
  readonly sessionP99Ms: number;
}

interface Outcome extends Figures {
  readonly maxMs: number;
  readonly pingCount: number;
  /** The server's work, with --cpu. */
  readonly cpuText: string;
  readonly peakMiB: number;
  readonly restartMs: number;
  readonly faults: readonly string[];
  /** The attack's own note. */
  readonly note: string;
}

const NAMES = ATTACKS.map(({ name }) => name);
const options = toolOptions({ attack: eachOf(NAMES), cpu: false, list: false, keep: false });
if (options.list) {
  for (const { name, sends } of ATTACKS) console.log(`${name}: ${sends}`);
  process.exit(0);
}

const chosen = ATTACKS.filter(({ name }) => options.attack.includes(name));
let faultCount = 0;
let beyondCount = 0;
/**
 * Figures without an attack, of one server and of an ensemble, where they are among the chosen
 * attacks.
 */
const controls = new Map<string, Figures>();
console.log("| attack | p99 ms | max ms | pings | set p99 ms | new session p99 ms | peak MiB | restart ms | outcome |");
console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
for (const attack of chosen) {
  const outcome = await carryOut(attack);
  const { p99Ms, maxMs, pingCount, writeP99Ms, sessionP99Ms, peakMiB, restartMs, faults, note } = outcome;
  faultCount += faults.length;
  const kind = attack.target ?? "standalone";
  if (attack.name.startsWith("none")) controls.set(kind, outcome);
  const beyond = beyondBounds(attack, outcome, controls.get(kind));
  beyondCount += beyond.length;
  const times = [writeP99Ms.toFixed(1), sessionP99Ms.toFixed(1)];
  const figures = [p99Ms.toFixed(1), maxMs.toFixed(1), pingCount, ...times, peakMiB, Math.round(restartMs)];
  const outcomes = [note, ...beyond, ...faults.map((fault) => `FAULT: ${fault}`)].filter((text) => text !== "");
  console.log(`| ${attack.name} | ${figures.join(" | ")} | ${outcomes.join("; ")} |`);
  if (options.cpu) console.log(outcome.cpuText);
}
console.log(
  `${chosen.length} attacks, ${faultCount} faults, ${beyondCount} figures beyond the bounds over the control`,
);
process.exit(faultCount > 0 ? 1 : 0);

/**
 * An attack that leaves no quorum is not judged by writes, nor by new sessions, which are writes.
 */
function beyondBounds(attack: Attack, outcome: Figures, control: Figures | undefined): readonly string[] {
  if (control === undefined || control === outcome) return [];
  const bounds = [
    ["a ping", outcome.p99Ms - control.p99Ms, PING_MS_OVER],
    ...((attack.allowsWrites ?? true)
      ? ([
          ["a set", outcome.writeP99Ms - control.writeP99Ms, WRITE_MS_OVER],
          ["a new session", outcome.sessionP99Ms - control.sessionP99Ms, WRITE_MS_OVER],
        ] as const)
      : []),
  ] as const;
  return bounds
    .filter(([, overMs, boundMs]) => overMs > boundMs)
    .map(
      ([what, overMs, boundMs]) =>
        `${what} takes ${overMs.toFixed(1)} ms more than without the attack, ${boundMs} may be`,
    );
}

async function carryOut(attack: Attack): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), `attack-${attack.name}-`));
  const faults: string[] = [];
  try {
    const settings = attack.settings?.(folder) ?? [];
    await using target = await startTarget(attack.target ?? "standalone", folder, {
      settings,
      ...(attack.at === undefined ? {} : { at: attack.at }),
    });
    const run = await prepared(attack, target);
    const victim = await Victim.start({ port: target.port, pids: target.pids });
    setAttacking(true);
    const note = await run().catch((error: unknown) => {
      faults.push(`the attack stopped: ${error instanceof Error ? error.message : error}`);
      return "";
    });
    setAttacking(false);
    await delay(AFTERWARDS_MS);
    const report = await victim.end();
    const { p99Ms, maxMs } = pingTimes(report);
    const peakMiB = target.peakMiB();
    faults.push(...target.ended().map((log) => `a process ended:\n${log}`));
    if (p99Ms > PING_MS_P99) faults.push(`p99 above ${PING_MS_P99} ms`);
    if (maxMs > PING_MS_MAX) faults.push(`maximum above ${PING_MS_MAX} ms`);
    if (attack.allowsWrites ?? true) faults.push(...report.refusals.slice(0, 3));
    const restartMs = await target.restart().catch((error: unknown) => {
      faults.push(`no start on what was left: ${error instanceof Error ? error.message : error}`);
      return Number.NaN;
    });
    const [writeP99Ms, sessionP99Ms] = [report.writeMs, report.sessionMs].map(p99Of);
    return {
      p99Ms,
      maxMs,
      pingCount: report.pingMs.length,
      writeP99Ms: writeP99Ms ?? Number.NaN,
      sessionP99Ms: sessionP99Ms ?? Number.NaN,
      peakMiB,
      restartMs,
      faults,
      note,
      cpuText: cpuTextOf(report),
    };
  } finally {
    if (options.keep) console.log(`${attack.name}: data and logs are kept in ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Attackers are other machines: here their thread leaves the cores to the server and to the other
 * client, which would wait for them too.
 */
function setAttacking(isAttacking: boolean): void {
  try {
    setPriority(isAttacking ? ATTACK_PRIORITY : OWN_PRIORITY);
  } catch {
    // Without the right to become urgent again it stays as it is.
  }
}

function pingTimes({ pingMs }: VictimReport): { readonly p99Ms: number; readonly maxMs: number } {
  return { p99Ms: p99Of(pingMs), maxMs: Math.max(...pingMs) };
}

/** The main thread's time on a core, beside the figures. */
function cpuTextOf({ cpuMs }: VictimReport): string {
  const text = (ms: readonly number[]): string => `${p99Of(ms).toFixed(1)} ms (at most ${Math.max(...ms).toFixed(1)})`;
  return `the server worked meanwhile: ping ${text(cpuMs.ping)}, set ${text(cpuMs.set)}, new session ${text(cpuMs.session)}`;
}

function p99Of(ms: readonly number[]): number {
  return ms.toSorted((a, b) => a - b)[Math.floor(ms.length * 0.99)] ?? Number.NaN;
}
