import { copyFileSync } from "node:fs";
import type { Machines } from "./machines.ts";

/** What has happened before a procedure is needed, and what must be there after it. */
export interface Situation {
  /** Brings it about on three machines that serve, and have the node `/kept`. */
  arrange(machines: Machines): Promise<void>;
  /** The settings of its members, if not those of the page. */
  settings?(page: string): string;
  /** Nodes with their data that the procedure must keep. */
  readonly kept: Readonly<Record<string, string>>;
}

/** What a machine that broke is: its disk is empty, and its server does not run. */
const LOSE = "systemctl kill; rm -rf /var/lib/zookeeper/*";

/** By the heading of each procedure of docs/disaster.md. */
export const SITUATIONS: Readonly<Record<string, Situation>> = {
  "One member is lost": {
    arrange: async (machines) => {
      await must(machines, "zk-3", LOSE);
      await must(machines, "zk-1", "zooid-cli -waitforconnection -server zk-1:2181,zk-2:2181 create /last 3");
    },
    kept: { "/kept": "data", "/last": "3" },
  },
  "A majority is lost": { arrange: loseMajority, kept: { "/kept": "data" } },
  "A majority is lost, and files list the members": {
    settings: (page) => page.replace("reconfigEnabled=true\n", ""),
    arrange: loseMajority,
    kept: { "/kept": "data" },
  },
  "All is lost but a snapshot": {
    arrange: async (machines) => {
      for (const machine of ["zk-2", "zk-3"]) await must(machines, machine, LOSE);
    },
    kept: { "/kept": "data" },
  },
  "A wrong founding": {
    arrange: async (machines) => {
      for (const machine of machines.names) await must(machines, machine, "systemctl kill");
      for (const machine of ["zk-1", "zk-2"]) {
        const id = machine.slice("zk-".length);
        await must(machines, machine, `${LOSE}; echo ${id} > /var/lib/zookeeper/myid; systemctl start zookeeper`);
      }
      await must(machines, "zk-1", "zooid-cli -waitforconnection -server zk-1:2181,zk-2:2181 create /wrong 1");
      await must(machines, "zk-3", "systemctl start zookeeper");
    },
    kept: { "/kept": "data" },
  },
};

async function loseMajority(machines: Machines): Promise<void> {
  for (const machine of ["zk-2", "zk-1", "zk-3"]) await must(machines, machine, "systemctl kill");
  for (const machine of ["zk-1", "zk-3"]) await must(machines, machine, LOSE);
  // The machine is started again, and waits for a quorum.
  await must(machines, "zk-2", "systemctl start zookeeper");
}

/** Runs what has to succeed. */
export async function must(machines: Machines, machine: string, commands: string): Promise<string> {
  const { status, output } = await machines.run(machine, commands);
  if (status !== 0) throw new Error(`on ${machine}, status ${status}: ${commands}\n${output}`);
  return output;
}

/** Gives all machines the same settings. */
export function configure(machines: Machines, settings: string, secret: string): void {
  for (const machine of machines.names) copyFileSync(settings, machines.file(machine, "etc", "zoo.cfg"));
  for (const machine of machines.names) copyFileSync(secret, machines.file(machine, "etc", "peer-secret"));
}
