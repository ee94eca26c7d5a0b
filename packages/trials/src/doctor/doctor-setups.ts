/**
 * Set-ups with one thing wrong each, which `zooid-server check` or `zooid-cli doctor` has to name;
 * then what the remedy says is done, and it has to be found no more. Nothing may be found in sound
 * ones. As root, on Linux: some set-ups mount file systems, in name spaces of their own.
 *
 *     npm run tool -- doctor-setups [--keep]
 */
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, ZOOID_SERVER } from "@zooid/conformance/internal/servers/endpoint";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import type { Finding, FindingId, ReportJson } from "@zooid/doctor";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { Ensemble, EnsembleServer } from "../faults/ensemble-servers.ts";
import { ENSEMBLE_SETUPS, type EnsembleSetup } from "./ensemble-setups.ts";
import { MACHINE_SETUPS, type MachineSetup, type SetupPlace, write } from "./machine-setups.ts";

const ZOOID_CLI = join(ROOT, "node_modules/.bin/zooid-cli");
const DEADLINE_MS = 60_000;
/** Findings that the machine of the trial may have of its own. */
const OF_THE_MACHINE: ReadonlySet<FindingId> = new Set<FindingId>([
  "sync-slow",
  "disk-nearly-full",
  "swap-used",
  "cpu-throttled",
  "descriptors-few",
  "clock-free",
  "data-on-overlay",
]);

const options = toolOptions({ keep: false });
const root = mkdtempSync(join(tmpdir(), "doctor-setups-"));
let count = 0;

async function reportOf(program: string, args: readonly string[]): Promise<ReportJson> {
  const output = await new Promise<string>((resolve, reject) => {
    execFile(program, args, { encoding: "utf8" }, (error, stdout, stderr) => {
      // Status 1 is that of findings.
      if (stdout === "") reject(error ?? new Error(stderr));
      else resolve(stdout);
    });
  });
  return JSON.parse(output) as ReportJson;
}

async function checked(
  place: SetupPlace,
  { shell, user, hasOwnNetwork }: Pick<MachineSetup, "shell" | "user" | "hasOwnNetwork">,
): Promise<readonly Finding[]> {
  const as = user === undefined ? "" : `setpriv --reuid ${user} --regid ${user} --clear-groups `;
  const command = `exec ${as}${ZOOID_SERVER} check ${place.zooCfg} --json`;
  const report =
    shell === undefined
      ? await reportOf("sh", ["-c", command])
      : await reportOf("unshare", [
          "--mount",
          ...(hasOwnNetwork === true ? ["--net"] : []),
          "sh",
          "-c",
          `${shell(place)} && ${command}`,
        ]);
  return report.findings;
}

function found(findings: readonly Finding[], id: FindingId): Finding | undefined {
  return findings.find((one) => one.id === id);
}

function describe(findings: readonly Finding[]): string {
  return findings.map(({ id, subject, found: text }) => `${id} (${subject}: ${text})`).join(", ") || "nothing";
}

async function tryMachine(setup: MachineSetup): Promise<void> {
  const folder = join(root, `machine-${++count}`);
  const dataDir = join(folder, "data");
  mkdirSync(dataDir, { recursive: true });
  // Some checks run as another user.
  chmodSync(root, 0o755);
  writeFileSync(join(dataDir, "myid"), "1\n");
  const zooCfg = join(folder, "zoo.cfg");
  const place: SetupPlace = { folder, dataDir, zooCfg, ports: await freePorts(3), servers: [], programs: [] };
  const sound = [`dataDir=${dataDir}`, `clientPort=${place.ports[0]}`, "initLimit=10", "syncLimit=5"];
  const extra = [...(setup.settings ?? []), ...((await setup.prepare?.(place)) ?? [])];
  const keys = new Set(extra.map((line) => line.split("=", 1).join()));
  const kept = sound.filter((line) => !keys.has(line.split("=", 1).join()));
  writeFileSync(zooCfg, `${[...kept, ...extra].join("\n")}\n`);
  try {
    const before = await checked(place, setup);
    const named = found(before, setup.id);
    if (named === undefined) throw new Error(`${setup.name}: expected ${setup.id}, found ${describe(before)}`);
    if (setup.remedy !== undefined) await setup.remedy(place, named.remedy);
    else writeFileSync(zooCfg, `${sound.join("\n")}\n`);
    const { user } = setup;
    const after = await checked(
      place,
      setup.remedy === undefined ? { ...(user === undefined ? {} : { user }) } : setup,
    );
    if (found(after, setup.id) !== undefined) throw new Error(`${setup.name}: still found: ${describe(after)}`);
    console.log(`${setup.name}: ${setup.id}, and not after its remedy`);
  } finally {
    for (const server of place.servers) server.close();
    for (const program of place.programs) program.end();
  }
}

/** Each member has an admin port at its own address. */
function withAdminPorts(ensemble: Ensemble, port: number): void {
  for (const server of ensemble.servers) {
    write(join(server.folder, "zoo.cfg"), (lines) => [
      ...lines.filter((line) => !line.startsWith("admin.")),
      `admin.serverAddress=${server.host}`,
      `admin.serverPort=${port}`,
    ]);
  }
}

async function tryEnsembles(setups: readonly EnsembleSetup[]): Promise<void> {
  const [adminPort = 0] = await freePorts(1);
  const settings = ["zooid.allowUnauthenticatedPeers=true"];
  await using ensemble = await Ensemble.create({
    folder: root,
    serverCount: 4,
    tickMs: 1000,
    syncLimit: 5,
    settings,
    isListed: (sid) => sid < 4,
  });
  withAdminPorts(ensemble, adminPort);
  const members = ensemble.servers.slice(0, 3);
  const [spare] = ensemble.servers.slice(3);
  if (!(spare instanceof EnsembleServer)) throw new Error("the fourth server is the spare one");
  // What the set-ups do, they do to the three.
  const three = Object.assign(Object.create(ensemble) as Ensemble, {
    servers: members,
    untilLevel: (deadlineMs: number) => ensemble.untilLevel(deadlineMs, members),
  });
  for (const server of members) server.launch();
  await ensemble.untilLevel(DEADLINE_MS, members);
  const doctor = async (asksSpare: boolean): Promise<readonly Finding[]> => {
    const hosts = (asksSpare ? ensemble.servers : members).map(({ address }) => address).join(",");
    const args = ["--json", "-server", hosts, "doctor", "--admin", `http://*:${adminPort}`];
    const { findings } = await reportOf(ZOOID_CLI, args);
    return findings.filter(({ id }) => !OF_THE_MACHINE.has(id));
  };
  const beginning = await doctor(false);
  if (beginning.length > 0) throw new Error(`a sound ensemble: expected nothing, found ${describe(beginning)}`);
  console.log("a sound ensemble: nothing is found");
  for (const setup of setups) {
    await setup.spoil(three, spare);
    const before = await doctor(setup.asksSpare === true);
    const ids = before.map(({ id }) => id).toSorted();
    if (ids.join() !== setup.ids.toSorted().join())
      throw new Error(`${setup.name}: expected ${setup.ids.join(", ")}, found ${describe(before)}`);
    await setup.remedy(three, spare);
    const after = await doctor(false);
    if (after.length > 0) throw new Error(`${setup.name}: still found: ${describe(after)}`);
    console.log(`${setup.name}: ${setup.ids.join(", ")}, and nothing after the remedy`);
  }
}

try {
  for (const setup of MACHINE_SETUPS) await tryMachine(setup);
  await tryEnsembles(ENSEMBLE_SETUPS);
  console.log(`${MACHINE_SETUPS.length + ENSEMBLE_SETUPS.length} set-ups`);
} finally {
  if (options.keep) console.log(`kept: ${root}`);
  else rmSync(root, { recursive: true, force: true });
}
