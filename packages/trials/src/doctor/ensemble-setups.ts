import type { FindingId } from "@zooid/doctor";
import { type Ensemble, type EnsembleServer, until } from "../faults/ensemble-servers.ts";
import { write } from "./machine-setups.ts";

/** A running ensemble of three with something wrong, for `zooid-cli doctor`. */
export interface EnsembleSetup {
  readonly name: string;
  /** All that has to be found, by id. */
  readonly ids: readonly FindingId[];
  spoil(ensemble: Ensemble, spare: EnsembleServer): Promise<void>;
  /** Does what the findings' remedies say, so that nothing is found. */
  remedy(ensemble: Ensemble, spare: EnsembleServer): Promise<void>;
  /** Whether doctor is also sent to the spare server, which belongs to no ensemble. */
  readonly asksSpare?: true;
}

const DEADLINE_MS = 60_000;

export const ENSEMBLE_SETUPS: readonly EnsembleSetup[] = [
  {
    name: "a member that was killed",
    ids: ["member-silent", "no-failure-left"],
    spoil: async ({ servers }) => await last(servers).kill(),
    remedy: async (ensemble) => await started(ensemble, [last(ensemble.servers)]),
  },
  {
    name: "a member that hangs",
    ids: ["member-silent", "no-failure-left"],
    spoil: async ({ servers }) => last(servers).signal("SIGSTOP"),
    async remedy(ensemble) {
      last(ensemble.servers).signal("SIGCONT");
      await ensemble.untilLevel(DEADLINE_MS);
    },
  },
  {
    name: "two members that were killed",
    ids: ["member-silent", "member-silent", "member-not-serving", "no-leader"],
    async spoil({ servers }) {
      const [left] = servers;
      for (const server of servers.slice(1)) await server.kill();
      while (left !== undefined && (await left.role()) !== "none");
    },
    remedy: async (ensemble) => await started(ensemble, ensemble.servers.slice(1)),
  },
  {
    name: "another tickTime in one file",
    ids: ["limits-differ"],
    spoil: async (ensemble) => await withFile(ensemble, "tickTime=1000", "tickTime=3000"),
    remedy: async (ensemble) => await withFile(ensemble, "tickTime=3000", "tickTime=1000"),
  },
  {
    name: "another server in one file",
    ids: ["lists-differ"],
    spoil: async (ensemble) => await withFile(ensemble, undefined, "server.9=127.0.0.1:2:3"),
    remedy: async (ensemble) => await withFile(ensemble, "server.9=127.0.0.1:2:3", undefined),
  },
  {
    name: "a disk with less room than its reserve",
    ids: ["disk-low"],
    async spoil(ensemble) {
      await withFile(ensemble, undefined, `zooid.disk.reserveBytes=${2 ** 50}`);
      // The room is looked at every few seconds.
      const isLow = async (): Promise<boolean> =>
        (await last(ensemble.servers).monitor()).get("zk_zooid_disk_low") === "1";
      await until("the disk to be low", DEADLINE_MS, isLow);
    },
    remedy: async (ensemble) => await withFile(ensemble, `zooid.disk.reserveBytes=${2 ** 50}`, undefined),
  },
  {
    name: "a server that stands alone in the connect string",
    ids: ["two-leaders"],
    spoil: async (_, spare) => await standsAlone(spare),
    remedy: async (_, spare) => await spare.kill(),
    asksSpare: true,
  },
];

function last(servers: readonly EnsembleServer[]): EnsembleServer {
  const server = servers.at(-1);
  if (server === undefined) throw new Error("the ensemble has servers");
  return server;
}

async function started(ensemble: Ensemble, servers: readonly EnsembleServer[]): Promise<void> {
  for (const server of servers) server.launch();
  await ensemble.untilLevel(DEADLINE_MS);
}

/** The last server's file gets another line, and the server is restarted. */
async function withFile(ensemble: Ensemble, before: string | undefined, after: string | undefined): Promise<void> {
  const server = last(ensemble.servers);
  write(`${server.folder}/zoo.cfg`, (lines) => [
    ...lines.filter((line) => line !== before),
    ...(after === undefined ? [] : [after]),
  ]);
  await server.restart();
  await ensemble.untilLevel(DEADLINE_MS);
}

async function standsAlone(spare: EnsembleServer): Promise<void> {
  write(`${spare.folder}/zoo.cfg`, (lines) => [
    ...lines.filter((line) => !line.startsWith("server.")),
    `clientPort=${spare.port}`,
    `clientPortAddress=${spare.host}`,
  ]);
  spare.launch();
  while (!/^Mode: standalone$/m.test(await spare.word("srvr")));
}
