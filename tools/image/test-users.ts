import { chmodSync, chownSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { LIMITS, logsOf, podman } from "./podman.ts";

const UID = 1000;
/** As platforms choose it that give each project users of its own. */
const FOREIGN_UID = 123_456;
const DIRECTORIES = ["conf", "data", "datalog", "logs"] as const;

interface UserTrial {
  readonly name: string;
  readonly options: readonly string[];
  /** Owner and group of the volumes. */
  readonly owner: readonly [number, number];
  readonly mode: number;
  readonly runsAs: number;
  /** Whether `/conf` is mounted read-only. */
  readonly hasFixedConf?: true;
}

const TRIALS: readonly UserTrial[] = [
  { name: "root with root's volumes", options: ["--user", "0"], owner: [0, 0], mode: 0o755, runsAs: UID },
  {
    name: "another user of group 0",
    options: ["--user", `${FOREIGN_UID}:0`],
    owner: [0, 0],
    mode: 0o770,
    runsAs: FOREIGN_UID,
  },
  {
    name: "an empty /conf that is read-only",
    options: [],
    owner: [UID, UID],
    mode: 0o700,
    runsAs: UID,
    hasFixedConf: true,
  },
];

/**
 * One container for each user and owner of volumes, and a second one on its volumes with another
 * variable, which takes effect. Says what holds, one line each; throws at the first thing that does
 * not.
 */
export async function testUsers(tag: string, folder: string, nameOf: (suffix: string) => string): Promise<void> {
  for (const [i, trial] of TRIALS.entries()) {
    const volumes = join(folder, `user-${i}`);
    for (const directory of DIRECTORIES) {
      mkdirSync(join(volumes, directory), { recursive: true });
      chownSync(join(volumes, directory), ...trial.owner);
      chmodSync(join(volumes, directory), trial.mode);
    }
    const name = nameOf(`user-${i}`);
    for (const tickMs of [1000, 1500]) {
      try {
        await tryUser(tag, name, trial, volumes, tickMs);
      } catch (error) {
        console.error(await logsOf(name).catch(() => ""));
        throw error;
      } finally {
        await podman("rm", "--force", "--ignore", name);
      }
    }
    console.log(`${trial.name}: served by user ${trial.runsAs}, and a changed variable took effect`);
  }
}

async function tryUser(tag: string, name: string, trial: UserTrial, volumes: string, tickMs: number): Promise<void> {
  const [clientPort = 0, adminPort = 0, quorumPort = 0, electionPort = 0] = await freePorts(4);
  const environment = [
    `ZOO_TICK_TIME=${tickMs}`,
    `ZOO_SERVERS=server.1=localhost:${quorumPort}:${electionPort};${clientPort}`,
    `ZOO_CFG_EXTRA=admin.serverPort=${adminPort}`,
  ];
  await podman(
    "run",
    "--detach",
    "--name",
    name,
    ...LIMITS,
    "--network",
    "host",
    ...trial.options,
    ...environment.flatMap((one) => ["--env", one]),
    ...DIRECTORIES.flatMap((directory) => {
      const isFixed = directory === "conf" && trial.hasFixedConf === true;
      return ["--volume", `${join(volumes, directory)}:/${directory}${isFixed ? ":ro" : ""}`];
    }),
    tag,
  );
  await podman(
    "exec",
    name,
    "sh",
    "-c",
    "for i in $(seq 100); do zkServer.sh health && exit 0; sleep 0.2; done; exit 1",
  );
  const status = await podman("exec", name, "sh", "-c", "cat /proc/1/status");
  if (!new RegExp(`^Uid:\\s+${trial.runsAs}\\s`, "m").test(status))
    throw new Error(`${trial.name}: the server's user is ${trial.runsAs}, found ${status}`);
  const file = join(volumes, trial.hasFixedConf === true ? "data/conf/zoo.cfg" : "conf/zoo.cfg");
  if (!readFileSync(file, "utf8").includes(`tickTime=${tickMs}\n`))
    throw new Error(`${trial.name}: ${file} has tickTime=${tickMs}, found ${readFileSync(file, "utf8")}`);
}
