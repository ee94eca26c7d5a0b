import { writeFileSync } from "node:fs";
import type { MachineNames, Machines } from "./machines.ts";

/** The events before a procedure is needed, and the state that must follow it. */
export interface Situation {
  /** All that the procedure names. */
  readonly machines: MachineNames;
  /** Those whose servers run at first, and have the node `/kept`. */
  readonly first: MachineNames;
  /** The zoo.cfg of a machine at first, if it is not that of docs/disaster.md. */
  settings?(page: string, machine: string): string;
  /** Brings the situation about. */
  arrange?(machines: Machines, page: string): Promise<void>;
  /** Those whose servers vote and serve afterwards. */
  readonly members: MachineNames;
  /** Nodes with their data that each of these must have. */
  readonly kept: Readonly<Record<string, string>>;
}

const THREE: MachineNames = ["zk-1", "zk-2", "zk-3"];
const OF_THREE = { machines: THREE, first: THREE, members: THREE, kept: { "/kept": "data" } };
/** The fourth machine has the settings of the others, and no list of servers. */
const BESIDE_FOUR = {
  machines: [...THREE, "zk-4"] satisfies MachineNames,
  first: THREE,
  settings: (page: string, machine: string) => (machine === "zk-4" ? without(page, "server.") : page),
  kept: { "/kept": "data" },
};

/** The commands that break a machine: its disk is empty, and its server does not run. */
const LOSE = "systemctl kill; rm -rf /var/lib/zookeeper/*";

/** By the heading of each procedure, in the order of the pages. */
export const SITUATIONS: Readonly<Record<string, Situation>> = {
  "One member is lost": {
    ...OF_THREE,
    arrange: async (machines) => {
      await must(machines, "zk-3", LOSE);
      await must(machines, "zk-1", "zooid-cli -waitforconnection -server zk-1:2181,zk-2:2181 create /last 3");
    },
    kept: { "/kept": "data", "/last": "3" },
  },
  "A majority is lost": { ...OF_THREE, arrange: loseMajority },
  "A majority is lost, and files list the members": {
    ...OF_THREE,
    settings: (page) => without(page, "reconfigEnabled"),
    arrange: loseMajority,
  },
  "All is lost but a snapshot": {
    ...OF_THREE,
    arrange: async (machines) => {
      for (const machine of ["zk-2", "zk-3"]) await must(machines, machine, LOSE);
    },
  },
  "A wrong founding": {
    ...OF_THREE,
    arrange: async (machines, page) => {
      for (const machine of machines.names) await must(machines, machine, "systemctl kill");
      for (const machine of ["zk-1", "zk-2"]) {
        await must(machines, machine, `${LOSE}; rm -f /etc/zookeeper/zoo.cfg*`);
        // As at the very first start: a zoo.cfg that names a later configuration keeps its server
        // from founding.
        writeFileSync(machines.file(machine, "etc", "zoo.cfg"), page);
        await must(machines, machine, `${writeNumber(machine)}; systemctl start zookeeper`);
      }
      await must(machines, "zk-1", "zooid-cli -waitforconnection -server zk-1:2181,zk-2:2181 create /wrong 1");
      await must(machines, "zk-3", "systemctl start zookeeper");
    },
  },
  "Nodes were deleted": {
    ...OF_THREE,
    settings: (page) => `${page}zooid.history.retainMs=604800000\n`,
    arrange: (machines) => must(machines, "zk-1", "zooid-cli -server zk-1:2181 delete /kept"),
  },
  "From one server to an ensemble": {
    ...OF_THREE,
    first: ["zk-1"],
    settings: (page, machine) =>
      machine === "zk-1" ? `${without(page, "server.", "standaloneEnabled")}clientPort=2181\n` : page,
  },
  "Add or remove a member": { ...BESIDE_FOUR, members: ["zk-1", "zk-3", "zk-4"] },
  "Replace a member": {
    ...BESIDE_FOUR,
    arrange: (machines) => must(machines, "zk-3", LOSE),
    members: ["zk-1", "zk-2", "zk-4"],
  },
};

/** As operators do it, since `zk-3` has server 3. */
export function writeNumber(machine: string): string {
  return `echo ${machine.slice("zk-".length)} > /var/lib/zookeeper/myid`;
}

/** A zoo.cfg without its lines that begin so. */
function without(settings: string, ...keys: readonly string[]): string {
  const lines = settings.split("\n");
  return lines.filter((line) => !keys.some((key) => line.startsWith(key))).join("\n");
}

async function loseMajority(machines: Machines): Promise<void> {
  for (const machine of ["zk-2", "zk-1", "zk-3"]) await must(machines, machine, "systemctl kill");
  for (const machine of ["zk-1", "zk-3"]) await must(machines, machine, LOSE);
  // The machine is started again, and waits for a quorum.
  await must(machines, "zk-2", "systemctl start zookeeper");
}

/** Runs what has to succeed. */
export async function must(machines: Machines, machine: string, commands: string): Promise<void> {
  const { status, output } = await machines.run(machine, commands);
  if (status === 0) return;
  const outcome = status === null ? "took too long" : `status ${status}`;
  throw new Error(`on ${machine}, ${outcome}: ${commands}\n${output}`);
}
